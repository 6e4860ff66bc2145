"""`spark.read.format("gluepot")`, registered by the GlueContext."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

import gluepot.table
from tests.unit.tables.tables import Writer


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "table")


@pytest.fixture
def spark(glue_context):
    return glue_context.spark_session


def rows(frame: DataFrame) -> list[dict[str, Any]]:
    return sorted((row.asDict(recursive=True) for row in frame.collect()), key=repr)


def test_the_rows_are_those_of_the_manifests(spark, folder):
    writer = Writer(folder, partition_keys=["k"])
    writer.publish(0, [{"a": 1, "k": "007"}, {"a": 2, "k": None}])
    writer.publish(1, [{"b": "x", "k": "007"}])
    (Path(folder) / "k=007" / "stray.parquet").write_bytes(b"")
    frame = spark.read.format("gluepot").load(folder)
    assert frame.schema.simpleString() == "struct<a:bigint,b:string,k:string>"
    assert rows(frame) == [
        {"a": 1, "b": None, "k": "007"},
        {"a": 2, "b": None, "k": None},
        {"a": None, "b": "x", "k": "007"},
    ]


def test_every_type_arrives(spark, folder):
    at = datetime(2026, 1, 5, 12, 0, 0, 120_000)
    row = {
        "bool": True,
        "bytes": b"\xff",
        "clock": at,
        "date": date(2026, 1, 5),
        "decimal": Decimal("1.50"),
        "double": 0.5,
        "list": [{"a": 1}, None],
        "long": 2**40,
        "map": {"k": 1},
        "struct": {"a": {"b": "x"}},
        "text": "é",
    }
    types = {
        "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        "small": pa.array([7], pa.int8()),
        "single": pa.array([0.5], pa.float32()),
        "instant": pa.array([at.replace(tzinfo=UTC)], pa.timestamp("us", "UTC")),
    }
    batch = pa.record_batch({name: pa.array([value]) for name, value in row.items() if name != "map"} | types)
    Writer(folder).publish(0, batch)
    frame = spark.read.format("gluepot").load(folder)
    (found,) = rows(frame.drop("instant"))
    assert found == row | {"small": 7, "single": 0.5}
    assert frame.selectExpr("CAST(instant AS STRING)").collect()[0][0] == "2026-01-05 12:00:00.12"


@pytest.mark.parametrize(
    "condition",
    [
        "k = 'b'",
        "k > 'a' AND n <= 3",
        "k IS NULL",
        "k IS NOT NULL AND n IN (1, 5)",
        "k NOT IN ('a')",
        "NOT k = 'a'",
        "k LIKE 'b%'",
        "NOT k LIKE 'b%'",
        "ok",
        "NOT ok",
        "d > 1.0",
        "n = 2 OR k = 'a'",
        "n <=> NULL",
        "n IS NULL AND k IN ('a', 'b')",
    ],
)
def test_a_filter_keeps_the_rows_that_spark_would_keep(spark, folder, condition):
    made = [
        {"n": None if n == 4 else n, "k": [None, "a", "b", "bb"][n % 4], "ok": [True, False, None][n % 3], "d": d}
        for n, d in enumerate([0.5, float("nan"), None, 2.0, 1.0, float("inf"), -1.0])
    ]
    Writer(folder, partition_keys=["k"]).publish(0, made)
    frame = spark.read.format("gluepot").load(folder)
    plain = spark.createDataFrame(made, "n BIGINT, k STRING, ok BOOLEAN, d DOUBLE")
    expected = rows(plain.where(condition).select(*frame.columns))
    assert repr(rows(frame.where(condition))) == repr(expected)


def test_folders_that_cannot_match_are_not_read(spark, folder):
    Writer(folder, partition_keys=["day"]).publish(0, [{"a": 1, "day": "x"}, {"a": 2, "day": "y"}])
    (unwanted,) = Path(folder, "day=x").iterdir()
    unwanted.write_bytes(b"damaged")
    assert rows(spark.read.format("gluepot").load(folder).where("day = 'y'")) == [{"a": 2, "day": "y"}]


def test_a_schema_names_the_columns_to_read(spark, folder):
    Writer(folder, partition_keys=["k"]).publish(0, [{"a": 1, "b": "x", "k": "y"}])
    reader = spark.read.format("gluepot")
    assert rows(reader.schema("k STRING, a BIGINT").load(folder)) == [{"k": "y", "a": 1}]
    with pytest.raises(Exception, match=r"column 'a' of .* is bigint, not string"):
        reader.schema("a STRING").load(folder).collect()
    with pytest.raises(Exception, match=r"has no column 'c'; use some of a, b, k"):
        reader.schema("c STRING").load(folder).collect()


def test_a_frame_is_the_table_as_it_was_at_load(spark, folder):
    writer = Writer(folder)
    writer.publish(0, [{"a": 1}])
    frame = spark.read.format("gluepot").load(folder)
    writer.publish(1, [{"a": 2}])
    assert rows(frame) == [{"a": 1}]
    writer.publish(0, [{"a": 1}, {"a": 3}], start=0)
    with pytest.raises(Exception, match="open it again"):
        rows(frame)
    assert [row["a"] for row in rows(spark.read.format("gluepot").load(folder))] == [1, 2, 3]


def test_a_folder_that_is_no_table_is_said_at_load(spark, tmp_path):
    with pytest.raises(AnalysisException, match="is not a table: no batch was published there"):
        spark.read.format("gluepot").load(str(tmp_path))


def test_a_table_without_rows_has_none(spark, folder):
    Writer(folder).publish(0)
    assert spark.read.format("gluepot").load(folder).count() == 0


def test_any_session_can_have_it(spark, folder):
    other = spark.newSession()
    gluepot.table.register(other)
    gluepot.table.register(other)
    Writer(folder, "json").publish(0, [{"a": 1}], [{"a": "x"}])
    assert rows(other.read.format("gluepot").load(folder)) == [{"a": "1"}, {"a": "x"}]
    other.sql(f"CREATE TEMPORARY VIEW t USING gluepot OPTIONS (path '{folder}')")
    assert other.sql("SELECT count(*) FROM t WHERE a = 'x'").collect()[0][0] == 1
