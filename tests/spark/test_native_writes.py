"""`df.write` of a query that DuckDB answers writes what it writes when Spark computes the query."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException

from gluepot.engine.native import run
from tests.native_tables import SALES, SHOPS, plain, read_tables

BY_SHOP = "SELECT shop, paid, sum(price) AS total, max(name) AS name FROM sales GROUP BY shop, paid"
WRITES = {
    "parquet": lambda writer, path: writer.parquet(path),
    "partitions": lambda writer, path: writer.mode("append").partitionBy("paid").parquet(path),
    "csv": lambda writer, path: writer.option("header", True).options(sep=";", nullValue="-").csv(path),
    "json": lambda writer, path: writer.json(path, mode="overwrite", compression="gzip"),
    "save": lambda writer, path: writer.format("orc").save(path),
    "save of a format": lambda writer, path: writer.save(path, "json", "overwrite", "shop"),
}
READS = {"csv": "csv", "json": "json", "save": "orc", "save of a format": "json"}


@pytest.fixture
def spark(glue_context, tmp_path):
    read_tables(glue_context, tmp_path, {"sales": SALES, "shops": SHOPS})
    return glue_context.spark_session


@pytest.fixture
def runs(monkeypatch):
    """What DuckDB was asked."""
    asked, original = [], run._run

    def noted(duckdb, sql, *rest):
        asked.append(sql)
        return original(duckdb, sql, *rest)

    monkeypatch.setattr(run, "_run", noted)
    return asked


def by_spark(spark, write):
    spark.conf.set(run.SETTING, "false")
    try:
        write()
    finally:
        spark.conf.unset(run.SETTING)


def files(path):
    return sorted(one.parent.relative_to(path).as_posix() for one in path.rglob("part-*"))


@pytest.mark.parametrize("name", WRITES)
def test_the_files_hold_what_spark_writes(spark, runs, tmp_path, name):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    WRITES[name](spark.sql(BY_SHOP).write, str(ours))
    assert len(runs) == 1
    by_spark(spark, lambda: WRITES[name](spark.sql(BY_SHOP).write, str(theirs)))
    assert len(runs) == 1

    found, wanted = (spark.read.format(READS.get(name, "parquet")).load(str(path)) for path in (ours, theirs))
    assert found.schema == wanted.schema
    assert sorted(plain(row) for row in found.collect()) == sorted(plain(row) for row in wanted.collect())
    assert set(files(ours)) == set(files(theirs))


def test_an_append_adds_to_what_is_there(spark, runs, tmp_path):
    for _ in range(2):
        spark.sql(BY_SHOP).write.mode("append").parquet(str(tmp_path / "out"))

    assert spark.read.parquet(str(tmp_path / "out")).count() == 2 * spark.sql(BY_SHOP).count()
    assert len(runs) == 2


def test_one_file_is_one_file(spark, runs, tmp_path):
    frame = spark.sql(f"{BY_SHOP} ORDER BY shop DESC, paid").coalesce(1)
    frame.write.csv(str(tmp_path / "out"))

    assert len(runs) == 1
    (written,) = (tmp_path / "out").glob("part-*")
    assert len(written.read_text().splitlines()) == frame.count()
    assert [line.partition(",")[0] for line in written.read_text().splitlines()][:2] == ["9", "4"]


def test_what_is_there_stays_and_is_an_error_as_ever(spark, tmp_path):
    spark.sql(BY_SHOP).write.parquet(str(tmp_path / "out"))

    with pytest.raises(AnalysisException, match="PATH_ALREADY_EXISTS"):
        spark.sql(BY_SHOP).write.parquet(str(tmp_path / "out"))


@pytest.mark.parametrize("statement", [BY_SHOP, "SELECT id, shop FROM sales WHERE id > 3"])
def test_what_is_read_may_be_overwritten(spark, tmp_path, statement):
    frame = spark.sql(statement)
    wanted = sorted(plain(row) for row in frame.collect())
    frame.write.mode("overwrite").parquet(str(tmp_path / "sales"))

    assert sorted(plain(row) for row in spark.read.parquet(str(tmp_path / "sales")).collect()) == wanted


def test_other_queries_and_targets_are_sparks(spark, runs, tmp_path):
    spark.sql("SELECT * FROM sales").write.parquet(str(tmp_path / "rows"))
    spark.sql(BY_SHOP).write.format("noop").mode("overwrite").save()

    assert not runs


def test_nothing_is_left_of_an_answer(spark, tmp_path, monkeypatch):
    folders, original = [], run.row_folders.new_folder
    monkeypatch.setattr(run.row_folders, "new_folder", lambda: folders.append(original()) or folders[-1])
    spark.sql(BY_SHOP).write.parquet(str(tmp_path / "out"))

    assert len(folders) == 1
    assert not any(Path(one).exists() for one in folders)


def test_columns_that_are_never_null_stay_so_in_the_files(spark, runs, tmp_path):
    counts = "SELECT shop, count(*) AS sales, coalesce(max(name), '') AS name FROM sales GROUP BY shop"
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    frame = spark.sql(counts).withMetadata("sales", {"comment": "rows"}).coalesce(1)
    frame.write.parquet(str(ours))
    assert len(runs) == 1
    by_spark(spark, lambda: frame.write.parquet(str(theirs)))

    found, wanted = (pq.read_schema(next(path.glob("*.parquet"))) for path in (ours, theirs))
    assert [field.nullable for field in wanted] == [True, False, False]
    assert found.equals(wanted, check_metadata=True)
