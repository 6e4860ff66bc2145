import pyarrow as pa
import pytest

from gluepot.commit import Published, Target, live, publish
from gluepot.commit.record import CommitRecord
from gluepot.commit.recorded_columns import TableColumns
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
