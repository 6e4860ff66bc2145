"""Columns of tables that are merged into, and what the log of Delta tells of their files."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gluepot.connectors.lake.merging.arrow_schema import FIELD_ID, arrow_schema, column_names
from gluepot.connectors.lake.merging.delta_stats import stats
from gluepot.connectors.lake.merging.delta_target import stores_dates_otherwise
from gluepot.connectors.lake.merging.expressions import OnlySpark
from gluepot.connectors.lake.merging.iceberg_target import is_beyond_truncation
from gluepot.connectors.lake.merging.install import is_merge
from gluepot.connectors.lake.merging.target import local_path


def field(name: str, kind: object, number: int, required: bool = False) -> dict[str, object]:
    return {"name": name, "type": kind, "id": number, "required": required}


LIST = {"type": "list", "element-id": 4, "element": "timestamptz", "element-required": False}
SCHEMA = arrow_schema(
    {"fields": [field("id", "long", 1, True), field("cost", "decimal(9, 2)", 2), field("at", LIST, 3)]}
)


def numbered(name: str, kind: pa.DataType, number: int) -> pa.Field:
    return pa.field(name, kind, metadata={FIELD_ID: str(number).encode()})


ELEMENTS = pa.list_(numbered("element", pa.timestamp("us", "UTC"), 4))


def test_columns_have_the_types_and_numbers_of_iceberg():
    wanted = [numbered("id", pa.int64(), 1).with_nullable(False), numbered("cost", pa.decimal128(9, 2), 2)]

    assert SCHEMA.equals(pa.schema([*wanted, numbered("at", ELEMENTS, 3)]), check_metadata=True)


@pytest.mark.parametrize("kind", ["uuid", "time", "fixed[3]", "timestamp_ns", {**LIST, "element-required": True}])
def test_types_that_are_not_written_here_are_left_to_spark(kind):
    with pytest.raises(OnlySpark):
        arrow_schema({"fields": [field("x", kind, 1)]})


def test_columns_of_a_file_are_found_by_their_numbers():
    file = pa.schema([numbered("moments", ELEMENTS, 3), numbered("old", pa.int32(), 1)])

    assert column_names(SCHEMA, file) == ["old", None, "moments"]


@pytest.mark.parametrize(
    "file",
    [
        pa.schema([pa.field("id", pa.int64())]),
        pa.schema([numbered("id", pa.string(), 1)]),
        pa.schema([numbered("at", pa.list_(numbered("element", pa.timestamp("us", "UTC"), 5)), 3)]),
    ],
)
def test_files_with_other_columns_are_left_to_spark(file):
    with pytest.raises(OnlySpark):
        column_names(SCHEMA, file)


def test_deltas_log_tells_ends_only_where_they_are_sure(tmp_path):
    rows = {
        "n": [3, None, -2],
        "text": ["b", "ü" * 40, None],
        "day": [date(2026, 1, 2), date(2025, 1, 1), None],
        "price": [1.5, float("nan"), None],
        "none": pa.nulls(3, pa.int64()),
    }
    pq.write_table(pa.table(rows), tmp_path / "file", row_group_size=2)

    assert stats(str(tmp_path / "file")) == {
        "numRecords": 3,
        "minValues": {"n": -2, "text": "b", "day": "2025-01-01"},
        "maxValues": {"n": 3, "day": "2026-01-02"},
        "nullCount": {"n": 1, "text": 1, "day": 1, "price": 1, "none": 3},
    }


@pytest.mark.parametrize("statement", ["MERGE INTO t", "\n-- c\n /* d\n */ merge\n into x", "  Merge  Into a.b"])
def test_a_merge_is_recognised(statement):
    assert is_merge(statement)


@pytest.mark.parametrize("statement", ["SELECT 'MERGE INTO t'", "EXPLAIN MERGE INTO t", "MERGED INTO", ""])
def test_other_statements_are_none(statement):
    assert not is_merge(statement)


def test_paths_on_this_machine_are_told_apart():
    assert [local_path(one) for one in ("/a b", "file:/a%20b", "file:///a")] == ["/a b", "/a%20b", "/a"]
    with pytest.raises(OnlySpark):
        local_path("s3://bucket/a")


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("spark.sql.parquet.datetimeRebaseModeInRead", "LEGACY", True),
        ("spark.sql.legacy.parquet.datetimeRebaseModeInWrite", "exception", True),
        ("spark.sql.parquet.int96RebaseModeInWrite", "corrected", False),
        ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS", True),
        ("spark.sql.parquet.outputTimestampType", "INT96", False),
    ],
)
def test_settings_that_store_dates_otherwise_are_known(name, value, wanted):
    assert stores_dates_otherwise({name: value}) is wanted


@pytest.mark.parametrize(
    ("kind", "least", "transform", "wanted"),
    [
        ("int", -(2**31) + 4, "truncate(5, {})", True),
        ("int", -(2**31) + 5, "truncate(5, {})", False),
        ("long", -(2**63), "truncate(5, {})", True),
        ("long", -(2**31), "truncate(5, {})", False),
        ("int", -(2**31), "bucket(5, {})", False),
        ("string", "", "truncate(5, {})", False),
    ],
)
def test_numbers_whose_truncation_overflows_are_known(kind, least, transform, wanted):
    assert is_beyond_truncation(kind, least, [f"CAST(`lake`.system.{transform} AS STRING)"]) is wanted
