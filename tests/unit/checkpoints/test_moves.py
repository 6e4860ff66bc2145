"""Where a query starts after a rewind, told before it is done."""

import json

import pytest

from gluepot.commit.record import CommitRecord
from gluepot.connectors.kafka.positions import Positions, Span
from gluepot.connectors.kinesis.positions import Positions as KinesisPositions
from gluepot.connectors.streams.start import START_FILE
from gluepot.connectors.values import CommitKey, SourceRange
from gluepot.core.checkpoint import BACKUP
from gluepot.core.clock import FakeClock
from gluepot.core.errors import CheckpointError, ConfigError
from gluepot.streaming.checkpoints import moves, transfer
from gluepot.streaming.checkpoints.diagnosis import diagnose
from gluepot.streaming.checkpoints.names import METADATA
from gluepot.streaming.checkpoints.rewind import end_of, go_back, start_over
from gluepot.streaming.checkpoints.snapshot import read
from tests.unit.checkpoints.made import (
    COMMIT,
    QUERY,
    Fresh,
    GoesOn,
    checkpoint,
    offset_file,
    positions,
    spark_start,
)
from tests.unit.commit.worlds import MemoryStorage


def record(batch, *ranges, query="q", ctx="sink", topic_id="id-1"):
    held = [SourceRange("kafka", "t", topic_id, str(p), a, b) for p, a, b in ranges]
    return CommitRecord(CommitKey(query, batch, ctx), 1, ranges=held)


def at(**ends):
    return Positions.at({"t": "id-1"}, {("t", int(name[1:])): end for name, end in ends.items()})


def test_a_checkpoint_stands_behind_its_newest_batch_that_is_done():
    assert moves.standing(read(MemoryStorage(checkpoint(10)))) == at(p0=30, p1=20)
    assert moves.standing(read(MemoryStorage(checkpoint(10, done=9)))) == at(p0=27, p1=18)
    assert moves.standing(read(MemoryStorage({}))) == Positions()


def standing_after(*streams):
    files = {METADATA: checkpoint(1)[METADATA], "offsets/0": offset_file(*streams), "commits/0": COMMIT}
    return moves.standing(read(MemoryStorage(files)))


def test_a_query_over_several_sources_stands_where_those_of_the_first_kind_do():
    shards = KinesisPositions({"s": "7"}, {("s", "a"): Span(1, 5)})
    other = Positions({"u": "id-2"}, {("u", 0): Span(0, 4)})
    standing = standing_after(positions(1)[0], json.dumps(shards.to_json()), "7", other)
    assert standing == Positions.at({"t": "id-1", "u": "id-2"}, {("t", 0): 3, ("t", 1): 2, ("u", 0): 4})


def test_where_a_source_stands_that_is_not_ours_is_not_known():
    assert standing_after("7") == Positions()


def test_each_partition_says_what_is_read_again_and_what_is_skipped():
    told = moves.moves(at(p0=30, p1=20), at(p0=12, p1=25, p2=4))
    assert [(one.reread, one.skipped) for one in told] == [(18, 0), (0, 5), (0, 0)]
    assert [str(one) for one in told] == [
        "t partition 0 goes from 30 to 12: 18 read again",
        "t partition 1 goes from 20 to 25: 5 skipped",
        "t partition 2 starts at 4",
    ]


def test_offsets_of_a_topic_that_was_created_again_are_not_compared():
    (told,) = moves.moves(at(p0=30), Positions.at({"t": "id-2"}, {("t", 0): 3}))
    assert (told.before, told.after) == (None, 3)


def test_offsets_are_read_with_the_ids_the_checkpoint_knows():
    assert moves.to_offsets('{"t":{"0":0},"u":{"1":5}}', {"t": "id-1", "x": "id-9"}) == Positions(
        {"t": "id-1"}, {("t", 0): Span(0, 0), ("u", 1): Span(5, 5)}
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "earliest", "[1]", "{}", '{"t":{"0":-2}}', '{"t":{"0":"4"}}', '{"t":{"0":true}}', '{"t":{"x":4}}'),
        *('{"t":3}', '{"t":{"-1":4}}'),
    ],
)
def test_offsets_that_say_nothing_clear_are_refused(text):
    with pytest.raises(ConfigError, match=r"--to-offsets is .*use"):
        moves.to_offsets(text, {})


def test_a_table_ends_behind_the_last_record_of_each_partition():
    records = [record(0, (0, 0, 5), (1, 0, 9)), record(1, (0, 5, 8)), record(0, (0, 8, 9), query="later")]
    assert moves.from_records(records, "/t", None) == at(p0=9, p1=9)


def test_writes_that_end_at_different_places_are_chosen_from():
    records = [record(0, (0, 0, 5)), record(0, (0, 0, 3), ctx="other")]
    with pytest.raises(ConfigError, match=r"'other' at .*3.*'sink' at .*5.*--ctx"):
        moves.from_records(records, "/t", None)
    assert moves.from_records(records, "/t", "other") == at(p0=3)
    with pytest.raises(ConfigError, match="no manifest of 'none' with offsets"):
        moves.from_records(records, "/t", "none")


def test_of_a_topic_created_again_the_newest_one_counts_if_one_query_knows_both():
    one_query = [record(0, (0, 0, 50), topic_id="id-0"), record(1, (0, 0, 5))]
    assert moves.from_records(one_query, "/t", None) == at(p0=5)
    with pytest.raises(ConfigError, match="created again"):
        moves.from_records([*one_query, record(0, (0, 5, 7), query="later")], "/t", None)


def test_each_topic_keeps_its_own_id():
    other = SourceRange("kafka", "u", "id-9", "0", 0, 4)
    both = CommitRecord(CommitKey("q", 0, "sink"), 1, ranges=[*record(0, (0, 0, 5)).ranges, other])
    ends = Positions.at({"t": "id-1", "u": "id-9"}, {("t", 0): 5, ("u", 0): 4})
    assert moves.from_records([both], "/t", None) == ends


def test_a_table_of_another_kind_of_source_has_no_offsets():
    held = [SourceRange("kinesis", "s", "7", "shardId-0", 1, 5)]
    with pytest.raises(ConfigError, match="works on offsets, and /t was written from kinesis; go back with --to-batch"):
        moves.from_records([CommitRecord(CommitKey("q", 0, "sink"), 1, ranges=held)], "/t", None)


def test_tables_that_end_at_different_places_have_no_common_start():
    three, four = [record(0, (0, 0, 3))], [record(0, (0, 0, 4))]
    assert moves.common_end({"/a": three, "/b": three}, None) == at(p0=3)
    with pytest.raises(moves.DifferentEnds, match=r"/a at .*3.*/b at .*4"):
        moves.common_end({"/a": three, "/b": four}, None)


@pytest.mark.parametrize("crashed_after", range(0, 45, 4))
def test_a_rewind_that_crashes_is_refused_at_the_next_start_or_has_not_begun(crashed_after):
    class Crash(Exception):
        pass

    class Crashing(MemoryStorage):
        moved = 0

        def move(self, pairs):
            if self.moved >= crashed_after:
                raise Crash
            type(self).moved += 1
            super().move(pairs)

    storage = Crashing(checkpoint(10))
    try:
        start_over(storage, read(storage), at(p0=12), FakeClock(1.8e9))
    except Crash:
        left = [key for key in storage.files if key.startswith(("offsets/", "commits/", "metadata"))]
        assert crashed_after == 0 or not left or any(one.blocks for one in diagnose(read(storage)))


def test_starting_over_leaves_a_start_file_the_leases_and_the_old_state_in_the_backup():
    storage = MemoryStorage(checkpoint(10) | {"gluepot/lease/1.json": b"{}", "gluepot/dead_letters/x.rejects": b""})
    before = dict(storage.files)

    backup = start_over(storage, read(storage), at(p0=12, p1=7), FakeClock(1.8e9))

    left = {key for key in storage.files if not key.startswith(BACKUP)}
    assert left == {"gluepot/start.json", "gluepot/lease/1.json", "gluepot/dead_letters/x.rejects"}
    kept = {key.removeprefix(f"{backup}/") for key in storage.files if key.startswith(BACKUP)}
    assert kept == before.keys() - left
    assert spark_start(storage.files) == Fresh()


@pytest.mark.parametrize("crc", [True, False], ids=["local disk", "object store"])
def test_going_back_forgets_later_batches_and_only_to_where_it_can(crc):
    storage = MemoryStorage(checkpoint(10, crc=crc))
    snapshot = read(storage)
    assert end_of(snapshot, 6) == at(p0=21, p1=14)

    go_back(storage, snapshot, 6, FakeClock(1.8e9))

    assert spark_start({key: data for key, data in storage.files.items() if not key.startswith(BACKUP)}) == GoesOn(
        6, QUERY
    )
    assert diagnose(read(storage)) == []
    with pytest.raises(ConfigError, match="--to-batch is 8; memory: can go back to batches 0 to 6"):
        end_of(read(storage), 8)


def test_a_batch_without_the_entry_before_it_is_no_place_to_go_back_to():
    files = checkpoint(10)
    del files["offsets/5"]
    snapshot = read(MemoryStorage(files))
    assert end_of(snapshot, 7) == at(p0=24, p1=16)
    with pytest.raises(ConfigError, match="--to-batch is 6; memory: can go back to batches 0 to 9"):
        end_of(snapshot, 6)


def test_an_export_brought_back_goes_on_where_the_checkpoint_stood():
    for done in (10, 9):
        source = MemoryStorage(checkpoint(10, done=done))
        text = json.dumps(transfer.exported(read(source))).encode()
        target = MemoryStorage({})
        transfer.write_into(target, transfer.files_of(text, "file"))
        assert spark_start(target.files) == spark_start(source.files)
        assert diagnose(read(target)) == []
        assert len(target.files) == 4


def test_an_export_that_was_changed_or_would_overwrite_is_refused():
    text = json.dumps(transfer.exported(read(MemoryStorage(checkpoint(3))))).encode()
    with pytest.raises(CheckpointError, match="was changed since it was exported"):
        transfer.files_of(text.replace(b"id-1", b"id-2"), "file")
    with pytest.raises(CheckpointError, match="is not an export"):
        transfer.files_of(b"{}", "file")
    with pytest.raises(ConfigError, match="is not empty, it holds offsets/7"):
        transfer.write_into(MemoryStorage({"offsets/7": b""}), transfer.files_of(text, "file"))


@pytest.mark.parametrize("extra", ["state/0/0/1.delta", "sources/0/0"])
def test_a_query_with_state_is_not_exported(extra):
    with pytest.raises(ConfigError, match=f"{extra} is not part of an export"):
        transfer.exported(read(MemoryStorage(checkpoint(3) | {extra: b"v1"})))


def test_a_damaged_checkpoint_is_not_exported():
    with pytest.raises(CheckpointError, match="offsets/2 is empty"):
        transfer.exported(read(MemoryStorage(checkpoint(3) | {"offsets/2": b""})))


def test_positions_of_made_checkpoints_are_what_these_tests_count_on():
    assert positions(10)[9].ends() == {("t", 0): 30, ("t", 1): 20}


def test_a_start_that_was_chosen_before_is_in_the_backup_of_the_next_one():
    storage = MemoryStorage(checkpoint(3))
    start_over(storage, read(storage), at(p0=12), FakeClock(1.8e9))
    first = storage.get(START_FILE)
    backup = start_over(storage, read(storage), at(p0=13), FakeClock(1.9e9))
    assert storage.get(f"{backup}/{START_FILE}") == first != storage.get(START_FILE)


def test_a_start_that_was_chosen_before_is_overwritten_and_never_removed():
    class Watched(MemoryStorage):
        def delete(self, keys):
            going = list(keys)
            assert START_FILE not in going
            super().delete(going)

        def move(self, moves):
            assert START_FILE not in [source for source, _ in moves]
            super().move(moves)

    storage = Watched(checkpoint(3))
    for start in (12, 13):
        start_over(storage, read(storage), at(p0=start), FakeClock(1.8e9 + start))
    assert b"13" in storage.get(START_FILE)
