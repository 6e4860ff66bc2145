"""Tables whose manifests are partly in rollups are the same tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, reduce

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.commit.history import Published, every, live
from gluepot.commit.older_layout import move_manifests
from gluepot.commit.overlap import History, judge
from gluepot.commit.record import CommitRecord, FileEntry
from gluepot.commit.rolling import create_again, index_of, indexes, roll_up, rolled_records, unroll
from gluepot.commit.rollup import Index, Summary
from gluepot.commit.tally import Tally
from gluepot.connectors.files.sink.layout import COMMITS, ROLLUPS, commit_key, rollup_index_key, rollups_of_query
from gluepot.connectors.values import CommitKey, Manifest, SourceRange
from gluepot.core.errors import CheckpointError, TransientError
from gluepot.tables.columns import table_columns
from tests.unit.commit.worlds import Crash, CrashingStorage, MemoryStorage

Q = "query-1"


def record(batch_id: int, *, ctx: str = "sink", query_id: str = Q, generation: int = 1, **fields) -> CommitRecord:
    ranges = [SourceRange("kafka", "t", "id", shard, batch_id * 10, batch_id * 10 + 10) for shard in "01"]
    plain = {"ranges": ranges, "rows_out": 20, "previous": batch_id - 1, **fields}
    made = CommitRecord(CommitKey(query_id, batch_id, ctx), generation, **plain)
    return CommitRecord.from_bytes(made.to_bytes())  # with lists where those that are read have lists


def table(*records: CommitRecord) -> MemoryStorage:
    return MemoryStorage({commit_key(one.key, one.generation): one.to_bytes() for one in records})


def rolled(storage: MemoryStorage, batch_id: int, token: int = 1) -> MemoryStorage:
    roll_up(storage, Q, token, batch_id)
    return storage


@cache
def files_of_long_table(rolled_up_to: int) -> Mapping[str, bytes]:
    """The files are bytes and made once; each test gets a storage of its own that holds them."""
    storage = table(*map(record, range(2500)), record(3, query_id="another", previous=None))
    return rolled(storage, rolled_up_to).files


def long_table() -> MemoryStorage:
    return MemoryStorage(dict(files_of_long_table(0)))


def rolled_table() -> MemoryStorage:
    """The long table whose two whole folders are rolled up."""
    return MemoryStorage(dict(files_of_long_table(2500)))


def test_what_is_live_does_not_change_when_manifests_are_rolled_up():
    storage = long_table()
    before = live(storage)
    rolled(storage, 2500)  # and not `rolled_table()`: here it is done to the table that was read
    after = live(storage)
    assert len(before.tail) == len(before) == len(after) == 2501
    assert [one.key.batch_id for one in after.tail] == [3, *range(2000, 2500)]
    assert list(after) == list(before)
    assert every(storage) == list(before)


def test_only_whole_folders_of_earlier_batches_are_rolled_up():
    storage = table(*map(record, range(1000)))
    assert roll_up(storage, Q, 1, 999) == 0
    assert roll_up(storage, Q, 1, 1000) == 1
    assert roll_up(storage, Q, 1, 1000) == 0
    assert index_of(storage, Q).stretches() == [(f"{COMMITS}/{rollups_of_query(Q)[17:]}/000000000000",) * 2]


def test_folders_side_by_side_are_skipped_as_one():
    storage = rolled(table(*(record(one, previous=None) for one in (5, 1005, 2005, 4005, 5005))), 9000)
    firsts = [(begin[-12:], end[-12:]) for begin, end in index_of(storage, Q).stretches()]
    assert firsts == [("000000000000", "000000002000"), ("000000004000", "000000005000")]


def test_a_listing_leaves_out_what_is_rolled_up():
    class Counting(MemoryStorage):
        listed = 0

        def list(self, folder, skip=()):
            found = super().list(folder, skip)
            self.listed += len(found)
            return found

    storage = Counting(rolled_table().files)
    live(storage)
    assert storage.listed == 2 * 501 + len(storage.list(ROLLUPS))


def test_a_history_is_the_same_but_for_the_batches_that_border_on_each_other():
    storage = long_table()
    whole = History.of(live(storage).tail, Q)
    published = live(rolled(storage, 2500))
    short = History.of(published.tail, Q, published.summaries)
    assert (short.newest, short.begun, short.others) == (whole.newest, whole.begun, whole.others)
    assert len(short.own["sink"].pieces["kafka", "id", "0"]) == 501
    for batch_id, start in ((2499, 24990), (2500, 25000), (2500, 24999), (2500, 7), (2500, 25010), (2499, 24985)):
        planned = Manifest(
            CommitKey(Q, batch_id, "sink"), ranges=[SourceRange("kafka", "t", "id", "0", start, 25020)], token=1
        )
        assert type(judge(planned, short, start_was_chosen=False)) is type(
            judge(planned, whole, start_was_chosen=False)
        )


def test_rows_are_counted_with_those_that_are_rolled_up():
    published = live(rolled_table())
    planned = CommitKey(Q, 2500, "sink")
    assert Tally.of(published.tail, planned, published.summaries[Q].rows_out).total == 2500 * 20


TYPES = [
    pa.int64(),
    pa.string(),
    pa.float64(),
    pa.null(),
    pa.struct([("x", pa.int64())]),
    pa.struct([("y", pa.bool_())]),
]
SCHEMAS = st.lists(st.tuples(st.sampled_from("abcA"), st.sampled_from(TYPES)), max_size=3, unique_by=lambda one: one[0])


def with_columns(batch_id: int, columns: list, *, text: bool, key: str) -> CommitRecord:
    schema = bytes(pa.schema(columns).serialize())
    name = f"{key}=1/{batch_id}" if key else str(batch_id)
    file = FileEntry(name, 1, 1, 0, rejects=False, encoding={"format": "json" if text else "parquet"})
    account = None if batch_id % 3 else [bytes([len(columns)])]
    return record(batch_id * 400, schema=schema, files=[file], columns=account, previous=None)


@given(st.lists(st.tuples(SCHEMAS, st.booleans(), st.sampled_from(["", "k", "a"])), min_size=1, max_size=12))
def test_columns_are_the_same(made):
    records = [with_columns(at, columns, text=text, key=key) for at, (columns, text, key) in enumerate(made)]
    storage = table(*records)
    before, planned = live(storage), CommitKey(Q, 9000, "sink")
    after = live(rolled(storage, 9000))
    assert not after.tail
    assert table_columns(after) == table_columns(before)
    assert after.recorded_columns(planned) == before.recorded_columns(planned)
    emptied = frozenset(path for one in records for path in one.data_paths)
    assert after.recorded_columns(planned, emptied) == before.recorded_columns(planned, emptied) == []


def test_a_summary_and_an_index_come_back_as_they_were_written():
    storage = rolled_table()
    (key,) = [one for one in storage.files if one.endswith("/2.json")]
    index = index_of(storage, Q)
    assert Index.from_bytes(2, storage.files[key]) == index
    parts = [
        Summary.of([one for one in rolled_records(storage, index) if one.key.batch_id // 1000 == n]) for n in (0, 1)
    ]
    assert reduce(Summary.and_then, parts) == index.summary


def test_the_index_is_as_large_for_many_batches_as_for_few():
    storage = rolled_table()
    assert len(storage.get(rollup_index_key(Q, 2))) < 1500


# --- published again


def test_a_batch_that_is_published_again_is_read_anew():
    storage = rolled_table()
    again = record(1500, generation=2, rows_out=7)
    assert create_again(storage, again)
    assert sorted(index_of(storage, Q).files) == [0]
    assert index_of(storage, Q).summary.writes == 1000
    assert [one for one in live(storage) if one.key.batch_id == 1500] == [again]
    rolled(storage, 2500)
    assert sorted(index_of(storage, Q).files) == [0, 1000]
    assert sum(one.rows_out for one in live(storage) if one.key.query_id == Q) == 2499 * 20 + 7
    assert not create_again(storage, again)


def test_a_batch_that_is_published_again_while_its_folder_is_rolled_up_is_seen():
    """Whoever publishes found the folder not rolled up yet, and died before looking again."""
    again = record(500, generation=2, rows_out=7)

    class Meanwhile(MemoryStorage):
        def create(self, key, data):
            if key.startswith(ROLLUPS):
                self.files[commit_key(again.key, 2)] = again.to_bytes()
            return super().create(key, data)

    storage = Meanwhile(table(*map(record, range(1000))).files)
    with pytest.raises(TransientError, match="published again"):
        rolled(storage, 1000)
    assert [one.rows_out for one in live(storage) if one.key.batch_id == 500] == [7]


def test_a_batch_that_is_published_again_is_seen_when_the_folder_was_rolled_up_in_between():
    again = record(500, generation=2, rows_out=7)

    class Meanwhile(MemoryStorage):
        def create(self, key, data):
            if key == commit_key(again.key, 2):
                rolled(self, 1000)
            return super().create(key, data)

    storage = Meanwhile(table(*map(record, range(1000))).files)
    assert create_again(storage, again)
    assert [one.rows_out for one in live(storage) if one.key.batch_id == 500] == [7]


def test_a_crash_while_a_batch_is_published_again_leaves_no_manifest_that_is_not_read():
    records, again = [record(one, previous=None) for one in (0, 999, 1000)], record(999, generation=2, rows_out=7)
    for changes in range(10):
        inner = rolled(table(*records), 1000)
        try:
            create_again(CrashingStorage(inner, changes), again)
        except Crash:
            is_there = commit_key(again.key, 2) in inner.files
            assert (again in live(inner)) is is_there
            continue
        break
    assert changes > 1


def test_a_driver_that_was_taken_over_rolls_nothing_up():
    storage = rolled(table(*map(record, range(2100))), 1000, token=2)
    assert roll_up(storage, Q, 1, 2000) == 0
    assert roll_up(storage, Q, 2, 2000) == 1


@pytest.mark.parametrize("action", ["roll_up", "unroll"])
def test_a_crash_at_any_moment_leaves_the_same_table(action):
    records = [record(one, previous=None) for one in (0, 700, 1000, 1999, 2000)]
    for changes in range(100):
        inner = table(*records)
        if action == "unroll":
            rolled(inner, 2000)
        try:
            storage = CrashingStorage(inner, changes)
            roll_up(storage, Q, 1, 2000) if action == "roll_up" else unroll(storage, Q, 1000)
        except Crash:
            assert list(live(inner)) == records
            continue
        finally:
            roll_up(inner, Q, 2, 2000)
            assert list(live(inner)) == records
            assert [one.key.batch_id for one in live(inner).tail] == [2000]
        break
    assert changes > 0


def test_files_that_no_index_names_are_removed_after_a_while():
    storage = rolled(table(*(record(one, previous=None) for one in range(0, 9000, 500))), 2000)
    unroll(storage, Q, 1000)
    rolled(storage, 8000)
    names = [one.rsplit("/", 1)[1] for one in storage.list(ROLLUPS)]
    assert [one for one in names if one.startswith("000000001000.")] == ["000000001000.4.parquet"]
    assert sorted(one for one in names if one.endswith(".json")) == ["10.json", "9.json"]


def test_files_of_other_names_stay_among_the_rollups():
    notes = [f"{rollups_of_query(Q)}/notes.{ending}" for ending in ("txt", "parquet")]
    storage = rolled(table(*(record(one, previous=None) for one in range(0, 5000, 500))), 2000)
    for key in notes:
        storage.put(key, b"do not touch")
    rolled(storage, 4500)
    assert set(notes) <= set(storage.list(ROLLUPS))
    assert len(live(storage)) == 10


# --- damage


def test_a_reader_whose_rollup_was_replaced_is_told_to_open_the_table_again():
    storage = rolled_table()
    opened = live(storage)
    unroll(storage, Q, 1000)
    storage.delete([opened.rolled_up[Q].files[1000]])
    with pytest.raises(TransientError, match="open the table again"):
        list(opened)


@pytest.mark.parametrize(("damage", "what"), [(None, "is gone"), (b"PAR1", "cannot be read")])
def test_a_rollup_that_is_damaged_says_that_it_is_only_a_copy(damage, what):
    storage = rolled_table()
    key = index_of(storage, Q).files[0]
    storage.delete([key])
    if damage:
        storage.put(key, damage)
    with pytest.raises(CheckpointError, match=f"{what}.*remove the folder memory:/_gluepot/rollups/"):
        list(live(storage))
    storage.delete_folder(rollups_of_query(Q))
    assert len(list(live(storage))) == 2501


@pytest.mark.parametrize("text", [b"", b"[]", b'{"version": 2}', b'{"version": 1}'])
def test_an_index_that_is_damaged_is_named(text):
    storage = rolled_table()
    key = rollup_index_key(Q, 2)
    storage.put(key, text)
    with pytest.raises(CheckpointError, match=key):
        live(storage)


# --- manifests that are gone


@pytest.mark.parametrize("gone", [5, 1500, 2400])
def test_a_manifest_that_was_deleted_by_hand_is_missed(gone):
    storage = long_table()
    storage.delete([commit_key(CommitKey(Q, gone, "sink"), 1)])
    assert live(storage).missing() == [(CommitKey(Q, gone, "sink"), CommitKey(Q, gone + 1, "sink"))]


def test_a_folder_that_lacks_a_manifest_is_not_rolled_up_unless_that_is_accepted():
    storage = long_table()
    storage.delete([commit_key(CommitKey(Q, 1500, "sink"), 1)])
    with pytest.raises(CheckpointError, match="lacks the manifest of batch 1500"):
        rolled(storage, 2500)
    assert sorted(index_of(storage, Q).files) == [0]
    assert roll_up(storage, Q, 1, 2500, with_gaps=True) == 1
    assert live(storage).missing() == []


def test_what_is_rolled_up_is_not_missed_when_its_manifests_go():
    storage = rolled_table()
    storage.delete(key for key in storage.list(COMMITS) if "/000000001000/" in key)
    assert live(storage).missing() == []
    assert len(list(live(storage))) == 2501


def test_manifests_of_older_versions_name_none_before_them():
    storage = table(*(record(one, previous=None) for one in (1, 5)))
    assert live(storage).missing() == []


# --- the older layout


def older(storage: MemoryStorage) -> MemoryStorage:
    return MemoryStorage({f"{COMMITS}/{key.rsplit('/', 1)[1]}": text for key, text in storage.files.items()})


def test_manifests_of_the_older_layout_are_read_where_they_are():
    assert list(live(older(long_table()))) == list(live(long_table()))
    assert every(older(long_table())) == every(long_table())


def test_a_query_moves_its_own_manifests_of_the_older_layout():
    storage = older(long_table())
    move_manifests(storage, [Q])
    assert [key for key in storage.files if key.count("/") == 2] == [
        f"{COMMITS}/{commit_key(CommitKey('another', 3, 'sink'), 1).rsplit('/', 1)[1]}"
    ]
    assert list(live(storage)) == list(live(long_table()))


def test_a_crash_while_manifests_are_moved_loses_none():
    records = [record(one, previous=None) for one in range(4)]
    records.append(replace(records[-1], generation=2))
    for changes in range(20):
        storage = older(table(*records))
        try:
            move_manifests(CrashingStorage(storage, changes), [Q])
        except Crash:
            assert list(live(storage)) == [*records[:3], records[4]]
            assert every(storage) == records
            continue
        break
    assert changes == 10


def test_no_query_is_confused_with_another():
    storage = rolled_table()
    assert list(indexes(storage)) == [Q]
    assert index_of(storage, "another") == Index("another")
    assert isinstance(live(storage), Published)


def test_an_index_whose_creation_was_carried_out_unheard_is_ours():
    class LostReply(MemoryStorage):
        def create(self, key, data):
            return super().create(key, data) and super().create(key, data)

    assert roll_up(LostReply(table(*map(record, range(1000))).files), Q, 1, 1000) == 1


def test_an_index_of_another_process_is_not_taken_for_ours():
    class Overtaken(MemoryStorage):
        def create(self, key, data):
            return super().create(key, data + b" ") and super().create(key, data)

    with pytest.raises(TransientError, match="somebody else changed the index"):
        roll_up(Overtaken(table(*map(record, range(1000))).files), Q, 1, 1000)


def test_an_index_that_others_change_all_the_time_is_tried_again_later():
    class Overtaken(MemoryStorage):
        def create(self, key, data):
            number = int(key.rsplit("/", 1)[1].removesuffix(".json"))
            other = replace(index_of(self, Q), number=number, token=number)
            return not super().create(key, other.to_bytes())

    storage = Overtaken(rolled(table(*map(record, range(1000))), 1000).files)
    with pytest.raises(TransientError, match="changed 10 times; try again"):
        unroll(storage, Q, 0)
    assert len(live(storage)) == 1000


def test_an_index_that_is_listed_and_always_gone_is_tried_again_later():
    class Stale(MemoryStorage):
        def get(self, key):
            if key.startswith(ROLLUPS):
                raise FileNotFoundError(key)
            return super().get(key)

    with pytest.raises(TransientError, match="changed 10 times; try again"):
        live(Stale(rolled(table(*map(record, range(1000))), 1000).files))


def test_the_newest_batches_are_known_of_queries_that_are_rolled_up_and_of_others():
    records = (record(7, query_id="another"), *(record(one, previous=None) for one in (999, 5, 1000)))
    storage = rolled(table(*records), 1000)
    assert live(storage).newest_batches() == {Q: 1000, "another": 7}
    storage.delete([commit_key(records[-1].key, 1)])
    assert live(storage).newest_batches() == {Q: 999, "another": 7}


def test_the_partition_keys_of_what_is_rolled_up_are_known():
    records = [with_columns(at, [("v", pa.int64())], text=False, key=key) for at, key in enumerate(("k", "", "a"))]
    storage = table(*records)
    assert list(live(storage).columns()[1]) == ["k", "a"]
    assert list(live(rolled(storage, 9000)).columns()[1]) == ["k", "a"]
