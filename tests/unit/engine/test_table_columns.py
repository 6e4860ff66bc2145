import pyarrow as pa
import pytest

from gluepot.commit import Published, Target, live, publish
from gluepot.commit.compaction import Compaction, note_emptied, purged_files
from gluepot.commit.own_purges import PurgeCounts
from gluepot.commit.record import CommitRecord, FileEntry
from gluepot.commit.recorded_columns import TableColumns
from gluepot.commit.rollup import columns_since
from gluepot.connectors.files.sink.layout import compaction_key
from gluepot.connectors.values import CommitKey, Manifest, ManifestPart, SourceRange
from gluepot.core.storage import open_storage
from tests.unit.commit.worlds import MemoryStorage


def key(batch_id, query_id="query-1", ctx="sink"):
    return CommitKey(query_id, batch_id, ctx)


def recorded(records, before):
    return published(*records).recorded_columns(before)


def published(*records):
    return Published(MemoryStorage(), {}, records)


def record(at, *columns, schema=None):
    return CommitRecord(at, 1, columns=columns if schema is None else None, schema=schema)


def test_a_write_knows_what_earlier_batches_recorded_and_not_what_its_own_and_later_ones_did():
    records = [record(key(0), b"a"), record(key(1), b"b"), record(key(2), b"c"), record(key(3), b"d")]
    assert list(recorded(records, key(2))) == [b"a", b"b"]


def test_other_queries_count_whatever_their_batches_are_called():
    records = [record(key(9, "query-0"), b"a"), record(key(0), b"b")]
    assert list(recorded(records, key(1))) == [b"a", b"b"]


def test_what_was_recorded_twice_is_told_once():
    assert list(recorded([record(key(0), b"a"), record(key(1), b"a", b"b")], key(2))) == [b"a", b"b"]


def test_a_manifest_without_account_of_its_columns_tells_them_by_its_schema():
    schema = bytes(pa.schema([("v", pa.int64())]).serialize())
    assert list(recorded([record(key(0), schema=schema)], key(1))) == [schema]


@pytest.fixture
def target(tmp_path):
    storage = open_storage(str(tmp_path))
    return Target(storage, storage)


def part(batch_id, *columns):
    return ManifestPart(ranges=[SourceRange("kafka", "t", "i", "0", batch_id, batch_id + 1)], columns=columns)


def test_what_a_write_records_is_known_to_the_next_one(target):
    columns = TableColumns()
    columns.begin(target, key(1), published(record(key(0), b"a")))
    columns.learn(target, key(1), [part(1, b"b"), part(1, b"b"), ManifestPart(), part(1, b"a")])
    assert columns.before(target, key(2)) == (b"a", b"b")


def test_the_manifests_keep_it_byte_by_byte(target):
    for batch_id, data in enumerate([b"\x01", b"\x02\xff"]):
        publish(target, Manifest(key(batch_id), [part(batch_id, data)]))
    columns = TableColumns()
    columns.begin(target, key(2), live(target.table))
    assert columns.before(target, key(2)) == (b"\x01", b"\x02\xff")


def test_a_table_that_was_not_written_to_for_long_is_forgotten(tmp_path):
    columns = TableColumns()
    places = [open_storage(str(tmp_path / str(hour))) for hour in range(5)]
    targets = [Target(one, one) for one in places]
    for hour, target in enumerate(targets):
        columns.begin(target, key(hour * 100), published())
        columns.learn(target, key(hour * 100), [part(0, b"a")])
    assert len(columns) == 3
    assert columns.before(targets[2], key(401)) == (b"a",)


def file(path):
    return FileEntry(path, 1, 1, 0, rejects=False, encoding={"format": "parquet"})


def schema_of(**types):
    return bytes(pa.schema(list(types.items())).serialize())


def wrote(batch_id, path, *columns, schema=None, query_id="query-1"):
    return CommitRecord(key(batch_id, query_id), 1, files=[file(path)], columns=columns, schema=schema)


@pytest.mark.parametrize(
    ("compacted", "gone"),
    [
        ([], set()),
        ([Compaction(1, "a", ["x", "y"])], {"x", "y"}),
        ([Compaction(1, "a", ["x"], [file("xy")])], set()),
        ([Compaction(1, "a", ["x", "y"], [file("xy")]), Compaction(2, "b", ["xy"])], {"x", "y", "xy"}),
        ([Compaction(1, "a", ["x"], [file("p"), file("q")]), Compaction(2, "b", ["p"])], {"p"}),
        ([Compaction(1, "a", ["x"]), Compaction(2, "a"), Compaction(3, "a", ["y"], [file("z")])], {"x"}),
    ],
)
def test_rows_are_gone_with_the_last_file_that_holds_them(compacted, gone):
    assert purged_files(compacted) == gone


def test_a_table_that_was_emptied_has_the_columns_of_later_writes_only():
    was, now = schema_of(v=pa.int64()), schema_of(v=pa.bool_())
    records = [wrote(0, "x", was), CommitRecord(key(1), 1, columns=[was]), wrote(2, "y", now, schema=now)]

    assert columns_since(records, frozenset("x")) == [now]


def test_a_writer_that_did_not_notice_tells_its_columns_by_the_schema_of_its_files():
    was, now = schema_of(v=pa.int64(), w=pa.int64()), schema_of(u=pa.bool_())
    records = [wrote(0, "x", was), wrote(1, "y", now, schema=schema_of(v=pa.int64(), u=pa.bool_()))]

    assert columns_since(records, frozenset("x")) == [now, schema_of(v=pa.int64())]


def purge_of(storage, number, *paths):
    storage.create(compaction_key(number), Compaction(number, "a", paths).to_bytes())


def test_a_purge_that_leaves_files_changes_no_columns(target):
    purge_of(target.table, 1, "x")
    columns = TableColumns()
    columns.begin(target, key(2), published(wrote(0, "x", b"a"), wrote(1, "y", b"b")))

    assert columns.before(target, key(2)) == (b"a", b"b")


def test_columns_of_a_table_that_this_process_empties_are_read_again_once(target):
    was, now = schema_of(v=pa.int64()), schema_of(v=pa.bool_())
    emptied = PurgeCounts()
    columns = TableColumns(emptied)
    publish(target, Manifest(key(0), [part(0, was)]))
    columns.begin(target, key(0), live(target.table))
    columns.learn(target, key(0), [part(0, was)])
    columns.refresh(target, key(0))
    assert columns.before(target, key(0)) == (was,)

    purge_of(target.table, 1, "x")
    note_emptied(target.table, 1)
    emptied.note(target.table.url)
    columns.refresh(target, key(0))
    assert columns.before(target, key(0)) == ()

    columns.learn(target, key(0), [part(0, now)])
    columns.refresh(target, key(0))
    assert columns.before(target, key(0)) == (now,)
