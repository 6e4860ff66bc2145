from __future__ import annotations

from dataclasses import replace

import pytest

from gluepot.commit import Target, abort, adopted, publish, recover
from gluepot.commit.publish import published
from gluepot.commit.record import CommitRecord
from gluepot.connectors.files.sink.layout import COMMITS, commit_key
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest, ManifestPart
from gluepot.core.clock import FakeClock
from gluepot.core.errors import CheckpointError, LeaseHeld, PermanentError, TransientError
from tests.unit.commit.messages import Network, RemoteStorage
from tests.unit.commit.worlds import KEY, MemoryStorage, leftovers, offsets, records, staged, visible

FIRST, SECOND = offsets(0, 3, "0"), offsets(0, 2, "1")


@pytest.fixture
def target() -> Target:
    storage = MemoryStorage()
    return Target(storage, storage)


def test_publishing_makes_every_record_visible_and_leaves_only_the_manifest(target):
    outcome = publish(target, staged(target, [FIRST, SECOND], attempt="a", rejected={"malformed_json": 1}))
    rejects = ("_rejects/run-7-0-d1.rejects", "_rejects/run-7-1-d1.rejects")
    assert outcome == Committed(["day=1/run-7-0-d1.parquet", "day=1/run-7-1-d1.parquet"], 5, rejects)
    assert visible(target.table) == records(FIRST, SECOND)
    assert leftovers(target.table) == []
    assert "_rejects/run-7-0-d1.rejects" in target.table.list("")


def test_the_manifest_says_what_was_published(target):
    publish(target, staged(target, [SECOND, FIRST], attempt="a", rejected={"malformed_json": 1}))
    record = published(target, KEY)
    assert record is not None
    assert (record.rows_in, record.rows_out, record.rejected) == (7, 5, {"malformed_json": 2})
    assert record.ranges == [FIRST, SECOND]
    assert {(file.path, file.size_bytes) for file in record.files} == {
        (key, len(target.table.get(key))) for key in target.table.list("") if not key.startswith("_gluepot")
    }


def test_the_same_ranges_again_change_nothing(target):
    publish(target, staged(target, [FIRST, SECOND], attempt="a"))
    before = dict(target.table.files)
    outcome = publish(target, staged(target, [SECOND, FIRST], attempt="b"))
    assert outcome == AlreadyCommitted(["day=1/run-7-0-d1.parquet", "day=1/run-7-1-d1.parquet"], 5)
    assert target.table.files == before


@pytest.mark.parametrize(
    "wanted", [offsets(0, 2), offsets(0, 5), offsets(1, 3), replace(offsets(0, 3), stream_id="id-2")]
)
def test_other_ranges_under_the_same_key_replace_what_was_there(target, wanted):
    publish(target, staged(target, [FIRST, SECOND], attempt="a"))
    outcome = publish(target, staged(target, [wanted], attempt="b"))
    assert outcome == Committed(["day=1/run-7-0-g2-d1.parquet"], wanted.end - wanted.start)
    assert visible(target.table) == records(wanted)
    assert leftovers(target.table) == []
    assert publish(target, staged(target, [wanted], attempt="c")) == AlreadyCommitted(outcome.files, outcome.rows)


def test_a_batch_without_rows_is_published_as_a_manifest_without_files(target):
    empty = Manifest(KEY, [ManifestPart(ranges=[FIRST], rows_in=3, rows_dropped=3)], token=1)
    assert publish(target, empty) == Committed([], 0)
    assert publish(target, empty) == AlreadyCommitted([], 0)


def test_batches_and_writes_do_not_touch_each_other(target):
    others = [
        replace(KEY, batch_id=8),
        replace(KEY, ctx="sink1", batch_id=9),
        replace(KEY, query_id="query-2", batch_id=10),
    ]
    for number, key in enumerate([KEY, *others]):
        publish(target, staged(target, [offsets(number, number + 1)], attempt="a", key=key))
    assert visible(target.table) == records(offsets(0, 4))


def test_rejects_may_live_in_a_storage_of_their_own():
    target = Target(MemoryStorage(), MemoryStorage())
    publish(target, staged(target, [FIRST], attempt="a", rejected={"malformed_json": 2}))
    assert target.rejects.list("") == ["_rejects/run-7-0-d1.rejects"]
    assert visible(target.table) == records(FIRST)
    assert leftovers(target.table) == []


def test_a_reply_that_got_lost_is_recognised_by_the_manifest_itself(target):
    class LosesReplies(MemoryStorage):
        def create(self, key: str, data: bytes) -> bool:
            return super().create(key, data) and super().create(key, data)  # as a client does that sends it twice

    lossy = LosesReplies(target.table.files)
    outcome = publish(Target(lossy, lossy), staged(target, [FIRST], attempt="a"))
    assert isinstance(outcome, Committed)
    assert visible(target.table) == records(FIRST)


@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        (2, LeaseHeld, "batch 7 of query query-1 was published by a later driver"),
        (0, TransientError, "batch 7 was published by an earlier driver at the same moment"),
    ],
)
def test_a_driver_that_is_overtaken_between_looking_and_creating_is_told(target, other, error, message):
    class Overtaken(MemoryStorage):
        def create(self, key: str, data: bytes) -> bool:
            if not key.startswith(f"{COMMITS}/"):
                return super().create(key, data)
            record = CommitRecord.of(Manifest(KEY, [ManifestPart(ranges=[SECOND])], token=other), 1)
            return super().create(key, record.to_bytes()) and super().create(key, data)

    staged(target, [FIRST], attempt="b")  # of a task that was tried twice
    late = Overtaken(target.table.files)
    with pytest.raises(error, match=message):
        publish(Target(late, late), staged(target, [FIRST], attempt="a"))
    assert visible(target.table) == []
    assert leftovers(target.table) == []


def test_a_later_driver_takes_over_what_an_earlier_one_published_and_fences_it_off(target):
    first = publish(target, staged(target, [FIRST], attempt="a"))
    plan = Manifest(KEY, ranges=[FIRST], token=2)
    record = adopted(target, plan)
    assert record is not None
    assert (record.generation, record.token, record.data_paths) == (2, 2, first.files)
    assert adopted(target, plan) == record
    with pytest.raises(LeaseHeld, match="this driver publishes no more"):
        publish(target, staged(target, [SECOND], attempt="b"))
    with pytest.raises(LeaseHeld):
        adopted(target, replace(plan, token=1))
    assert visible(target.table) == records(FIRST)
    assert leftovers(target.table) == []


def test_a_batch_without_ranges_is_told_from_others_by_its_offsets(target):
    plain = replace(staged(target, [FIRST], attempt="a"), offsets_digest="x")
    part = replace(plain.parts[0], ranges=[])
    assert isinstance(publish(target, replace(plain, parts=[part])), Committed)
    assert adopted(target, Manifest(KEY, offsets_digest="x", token=1)) is not None
    assert adopted(target, Manifest(KEY, offsets_digest="y", token=1)) is None


def test_how_a_batch_is_cut_into_tasks_makes_no_other_input(target):
    publish(target, staged(target, [offsets(0, 6)], attempt="a"))
    assert (
        adopted(target, Manifest(KEY, ranges=[offsets(3, 6), offsets(0, 3), offsets(9, 9, "1")], token=1)) is not None
    )


def test_a_staged_file_that_is_gone_is_worth_another_try(target):
    manifest = staged(target, [FIRST], attempt="a")
    recover(target, KEY.query_id, 1)
    with pytest.raises(TransientError, match=r"batch 7 .* is gone"):
        publish(target, manifest)


def test_a_manifest_that_cannot_be_read_stops_the_query(target):
    target.table.put(commit_key(KEY, 1), b'{"version":')
    with pytest.raises(CheckpointError, match="cannot be read"):
        publish(target, staged(target, [FIRST], attempt="a"))


def test_a_manifest_of_a_newer_version_stops_the_query(target):
    target.table.put(commit_key(KEY, 1), b'{"version": 99}')
    with pytest.raises(CheckpointError, match="version 99"):
        publish(target, staged(target, [FIRST], attempt="a"))


def test_abort_removes_what_one_attempt_staged_and_nothing_else(target):
    staged(target, [FIRST], attempt="a/1")
    kept = staged(target, [FIRST], attempt="b/1")
    abort(target, KEY, "1/a")
    abort(target, KEY, "1/a")
    assert leftovers(target.table) == [kept.parts[0].files[0].staged]


def test_recover_removes_what_the_driver_itself_has_staged_and_leaves_what_a_later_one_stages(target):
    for token in (1, 2):
        staged(target, [FIRST], attempt="a", token=token)
    later = staged(target, [FIRST], attempt="a", token=3)
    recover(target, KEY.query_id, 2)
    assert leftovers(target.table) == [later.parts[0].files[0].staged]


def test_recover_touches_no_other_query(target):
    other = replace(KEY, query_id="query-2")
    manifest = staged(target, [FIRST], attempt="a", key=other)
    recover(target, KEY.query_id, 1)
    assert isinstance(publish(target, manifest), Committed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows_out": 2}, "says it wrote 2 records and its files hold 3"),
        ({"rejected": {"x": 1}}, "says it rejected 1 records and its files hold 0"),
        ({"rows_in": 2}, "read 2 records, wrote 3, rejected 0 and left out 0"),
    ],
)
def test_numbers_that_contradict_each_other_are_not_published(target, change, message):
    manifest = staged(target, [FIRST], attempt="a")
    wrong = replace(manifest, parts=[replace(manifest.parts[0], **change)])
    with pytest.raises(PermanentError, match=message):
        publish(target, wrong)
    assert visible(target.table) == []


def test_rows_that_a_filter_dropped_are_not_missed(target):
    manifest = staged(target, [FIRST], attempt="a")
    filtered = replace(manifest, parts=[replace(manifest.parts[0], rows_in=100, rows_dropped=97)])
    assert publish(target, filtered).rows == 3


def test_a_record_read_by_two_tasks_is_not_published(target):
    with pytest.raises(PermanentError, match="two tasks read clicks 0 from 2 to 3"):
        publish(target, staged(target, [FIRST, offsets(2, 6)], attempt="a"))


def test_two_files_of_one_name_are_not_published(target):
    parts = staged(target, [FIRST, SECOND], attempt="a").parts
    same = [replace(part, files=[replace(part.files[0], final="x.parquet")]) for part in parts]
    with pytest.raises(PermanentError, match=r"2 staged files would become x\.parquet"):
        publish(target, Manifest(KEY, same))


def test_a_record_comes_back_from_its_text(target):
    manifest = staged(target, [FIRST, SECOND], attempt="a", rejected={"malformed_json": 1})
    record = CommitRecord.of(manifest, 2)
    assert CommitRecord.from_bytes(record.to_bytes()) == record


def test_names_of_users_become_no_part_of_our_own_paths():
    assert commit_key(CommitKey("../..", 1, "/etc"), 1).count("/") == 4


def test_the_manifest_says_when_it_was_made(target):
    publish(target, staged(target, [FIRST], attempt="a"), FakeClock(1_700_000_000.5))
    record = published(target, KEY)
    assert record is not None
    assert record.committed_at_epoch_ms == 1_700_000_000_500


def test_what_an_earlier_try_of_the_same_driver_has_moved_is_removed(target):
    class AnswersLost(MemoryStorage):
        lost = True

        def move(self, moves) -> None:
            super().move(moves)
            if self.lost:
                self.lost = False
                raise TransientError("no answer")

    lossy = AnswersLost(target.table.files)
    with pytest.raises(TransientError, match="no answer"):
        publish(Target(lossy, lossy), staged(target, [FIRST], attempt="a"))
    assert isinstance(publish(Target(lossy, lossy), staged(target, [FIRST], attempt="b")), Committed)
    assert visible(target.table) == records(FIRST)
    assert leftovers(target.table) == []


def test_what_a_publication_superseded_is_removed_later_if_it_could_not_be_at_once(target):
    class Refusing(MemoryStorage):
        refuses = False

        def delete(self, keys) -> None:
            if self.refuses:
                raise TransientError("no answer")
            super().delete(keys)

    storage = Refusing()
    target = Target(storage, storage)
    publish(target, staged(target, [FIRST], attempt="a"))
    storage.refuses = True
    with pytest.raises(TransientError, match="no answer"):
        publish(target, staged(target, [SECOND], attempt="b"))
    storage.refuses = False
    assert isinstance(publish(target, staged(target, [SECOND], attempt="c")), AlreadyCommitted)
    assert visible(storage) == records(SECOND)
    assert leftovers(storage) == []


def test_files_that_are_replaced_are_removed_from_their_own_folder_only():
    other = {"day=1/run-7-0-d1.parquet": b"of another table"}
    target = Target(MemoryStorage(), MemoryStorage(dict(other)))
    for wanted in (FIRST, SECOND):
        publish(target, staged(target, [wanted], attempt="a"))
    assert visible(target.table) == records(SECOND)
    assert target.rejects.files == other


@pytest.mark.parametrize("delay", range(12))
def test_a_copy_that_is_carried_out_late_finds_nothing_although_its_try_was_not_cleaned_up(delay):
    table = RemoteStorage(network=Network(at=1, fault="late", delay=delay))  # the copy that follows the intent
    target = Target(table, table)
    with pytest.raises(TransientError):
        publish(target, staged(target, [FIRST], attempt="try-0"))
    publish(target, staged(target, [FIRST], attempt="try-1"))
    table.network.rest()
    recover(target, KEY.query_id, 2)
    assert visible(table) == records(FIRST)
    assert leftovers(table) == []
