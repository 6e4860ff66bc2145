"""Tables whose columns change their types, read by Spark's mergeSchema and by DuckDB's union_by_name."""

from __future__ import annotations

import shutil

import duckdb
import pytest

from awsglue import DynamicFrame, writing
from gluepot.bookmarks.run_writer import RunWriters
from gluepot.connectors.files.sink.drift import Drift
from gluepot.core.clock import FakeClock

BATCHES = [
    ["id long, v long, s struct<a: long>", [(0, 1, (1,)), (1, None, None)]],
    ["id long, v double, s struct<a: long, b: string>", [(2, 0.5, (2, "x"))]],
    ["id long, v string, s struct<a: string>", [(3, "many", ("y",))]],
    ["id long, v int, s array<long>", [(4, 4, [1, 2])]],
    ["id long, v timestamp, s string", [(5, None, "plain")]],
    ["id long, v boolean, s map<string, long>", [(6, True, {"k": 1})]],
    ["id long, V long, s struct<b: string>", [(7, 7, ("z",))]],
]


@pytest.fixture
def new_run(monkeypatch):
    """Let what follows be another run of the job, which knows of the table what its manifests say."""

    def start():
        monkeypatch.setattr(writing, "WRITERS", RunWriters())

    start()
    return start


@pytest.mark.parametrize(("policy", "restarted"), [*((one.value, True) for one in Drift), ("widen", False)])
def test_both_readers_read_the_table_after_every_change(glue_context, tmp_path, new_run, policy, restarted):
    spark, table = glue_context.spark_session, tmp_path / "table"
    ids = []
    for schema, rows in BATCHES:
        if restarted:
            new_run()
        frame = DynamicFrame.fromDF(spark.createDataFrame(rows, schema), glue_context, "frame")
        glue_context.write_dynamic_frame.from_options(
            frame, "s3", {"path": str(table)}, "glueparquet", {"typeDrift": policy}, "sink"
        )
        ids += [row[0] for row in rows]

        merged = spark.read.option("mergeSchema", "true").parquet(str(table))
        by_spark = sorted(row.id for row in merged.collect())
        pattern = f"{table}/*.parquet"
        by_duckdb = duckdb.sql(f"SELECT id FROM read_parquet('{pattern}', union_by_name=true) ORDER BY 1").fetchall()
        aside = duckdb.sql(f"SELECT raw FROM read_parquet({rejects(table)!r})").fetchall() if rejects(table) else []

        assert by_spark == [row[0] for row in by_duckdb]
        assert len(by_spark) + len(aside) == len(ids)
        assert policy == "reject" or by_spark == ids


def rejects(table):
    return [str(path) for path in table.rglob("*.rejects")]


def test_tasks_of_one_write_that_disagree_give_files_that_readers_merge(glue_context, tmp_path, new_run):
    """A field that is a number in one task and text in the other, both decoded from JSON."""
    spark, table = glue_context.spark_session, tmp_path / "table"
    documents = [f'{{"id": {n}, "v": {n if n < 50 else chr(34) + "x" + chr(34)}}}' for n in range(100)]
    column = "$json$data_infer_schema$_temporary$"
    frame = spark.createDataFrame([(one,) for one in documents], f"`{column}` string").coalesce(2)
    glue_context.write_dynamic_frame.from_options(
        DynamicFrame.fromDF(frame, glue_context, "frame"), "s3", {"path": str(table)}, "glueparquet"
    )

    merged = spark.read.option("mergeSchema", "true").parquet(str(table))
    assert sorted(row.v for row in merged.collect()) == sorted([*map(str, range(50)), *["x"] * 50])
    assert len(list(table.glob("*.parquet"))) == 2


def by_hand(glue_context, table):
    shutil.rmtree(table)


def by_a_purge(glue_context, table):
    glue_context.purge_s3_path(str(table), {"retentionPeriod": 0})


def write(glue_context, table, type_name, ctx="sink"):
    rows = glue_context.spark_session.createDataFrame([(1,)], "v int").selectExpr(f"CAST(v AS {type_name}) AS v")
    frame = DynamicFrame.fromDF(rows, glue_context, "frame")
    glue_context.write_dynamic_frame.from_options(frame, "s3", {"path": str(table)}, "glueparquet", {}, ctx)


def columns(table):
    return duckdb.sql(f"SELECT * FROM read_parquet('{table}/*.parquet', union_by_name=true)").columns


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("empty", [by_hand, by_a_purge])
def test_an_emptied_table_has_no_columns_to_keep_to(glue_context, tmp_path, new_run, empty, restarted):
    table = tmp_path / "table"
    write(glue_context, table, "int")
    write(glue_context, table, "boolean")
    assert columns(table) != ["v"]

    empty(glue_context, table)
    if restarted:
        new_run()
    write(glue_context, table, "boolean")
    assert columns(table) == ["v"]
    write(glue_context, table, "boolean")
    new_run()
    write(glue_context, table, "boolean")
    assert columns(table) == ["v"]


def test_a_batch_function_that_empties_a_table_between_two_writes_begins_it_anew(numbers, tmp_path):
    table, seen = tmp_path / "table", []

    def function(frame, batch_id):
        write(numbers.glue_context, table, "int", "first")
        by_a_purge(numbers.glue_context, table)
        write(numbers.glue_context, table, "boolean", "second")
        seen.append(columns(table))

    numbers.run(function, max_batches=1)
    numbers.run(lambda *_: write(numbers.glue_context, table, "boolean"), max_batches=1)

    assert seen == [["v"]]
    assert columns(table) == ["v"]


def test_a_retry_that_empties_its_table_again_writes_it_again(numbers, tmp_path):
    table, attempts = tmp_path / "table", []
    (tmp_path / "shops.json").write_text('{"v": 1}')

    def function(frame, batch_id):
        attempts.append(batch_id)
        by_a_purge(numbers.glue_context, table)
        shops = numbers.glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [str(tmp_path / "shops.json")]}, "json"
        )
        target = {"path": str(table)}
        numbers.glue_context.write_dynamic_frame.from_options(shops, "s3", target, "glueparquet", {}, "shops")
        if len(attempts) == 1:
            raise ConnectionError

    numbers.run(function, max_batches=1, clock=FakeClock(2_000_000_000.0))

    assert attempts == [0, 0]
    assert duckdb.sql(f"SELECT v FROM read_parquet('{table}/*.parquet')").fetchall() == [(1,)]
