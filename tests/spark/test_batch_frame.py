"""The frame a batch function is given is a DataFrame like any other, and keeps rows only once they are rows."""

from __future__ import annotations

import pytest
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.source import KafkaSource
from gluepot.engine.pipeline import RangeInput
from gluepot.engine.rejects import Rejects
from gluepot.streaming.micro_batch.frames import BatchFrame

SETTINGS = KafkaReadSettings.from_options({"bootstrap.servers": "127.0.0.1:9", "topicName": "clicks"})
NEVER_READ = KafkaSource(SETTINGS).reading()
REJECTS = Rejects(None, "query", 0)


@pytest.fixture
def batch(glue_context):
    rows = glue_context.spark_session.createDataFrame([(1, "a"), (2, "b"), (2, "b")], "n int, s string")
    frame = BatchFrame(rows, RangeInput(NEVER_READ, ()), None, StorageLevel.MEMORY_AND_DISK, REJECTS)
    yield frame
    frame.release()


def test_it_is_a_dataframe(batch):
    assert isinstance(batch, DataFrame)


@pytest.mark.parametrize(
    ("use", "outcome"),
    [
        (lambda f: f.columns, ["n", "s"]),
        (lambda f: f.filter("n > 1").count(), 2),
        (lambda f: f.filter(f.n == 1).first().s, "a"),
        (lambda f: f.where(f["n"] == 1).head().s, "a"),
        (lambda f: f.withColumn("m", f.n + 1).agg({"m": "sum"}).first()[0], 8),
        (lambda f: f.groupBy("s").count().sort("s").collect()[1]["count"], 2),
        (lambda f: f.distinct().count(), 2),
        (lambda f: f.dropDuplicates(["n"]).count(), 2),
        (lambda f: f.select("s").union(f.select("s")).count(), 6),
        (lambda f: f.limit(2).join(f, "n").count() > 0, True),
        (lambda f: f.unionByName(f).count(), 6),
        (lambda f: f.rdd.map(lambda row: row.n).sum(), 5),
        (lambda f: f.rdd.isEmpty(), False),
        (lambda f: len(f.take(2)), 2),
        (lambda f: len(f.collect()), 3),
        (lambda f: sorted(row.n for row in f.toLocalIterator()), [1, 2, 2]),
        (lambda f: f.na.drop().count(), 3),
        (lambda f: f.isStreaming, False),
        (lambda f: f.dtypes, [("n", "int"), ("s", "string")]),
        (lambda f: f.schema["n"].dataType.simpleString(), "int"),
        (lambda f: f.selectExpr("n * 2 AS d").first().d, 2),
        (lambda f: f.cache().is_cached, True),
        (lambda f: f.transform(lambda g: g.limit(1)).count(), 1),
        (lambda f: f.toDF("a", "b").columns, ["a", "b"]),
        (lambda f: f.repartition(1).rdd.getNumPartitions(), 1),
        (lambda f: f.alias("x").select("x.n").count(), 3),
        (repr, "DataFrame[n: int, s: string]"),
    ],
)
def test_a_dataframe_operation_gives_what_it_gives_on_any_frame(batch, use, outcome):
    assert use(batch) == outcome


@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")  # PySpark 4.1 with pandas 3
def test_it_can_be_made_a_pandas_frame(batch):
    assert batch.toPandas().n.tolist() == [1, 2, 2]


def test_it_can_be_queried_with_sql(batch, glue_context):
    batch.createOrReplaceTempView("batch")

    assert glue_context.spark_session.sql("SELECT sum(n) FROM batch").first()[0] == 5


def test_it_can_be_written_by_spark(batch, tmp_path):
    batch.write.parquet(str(tmp_path / "out"))

    assert list((tmp_path / "out").glob("*.parquet")) != []


def test_nothing_is_kept_before_rows_are_asked_for(batch, persisted_rdds):
    before = persisted_rdds()

    assert batch.schema.names == ["n", "s"]
    assert persisted_rdds() == before


def test_the_rows_are_kept_from_the_first_use_until_the_release(batch, persisted_rdds):
    before = persisted_rdds()

    batch.collect()
    kept = persisted_rdds()
    batch.release()

    assert (kept, persisted_rdds()) == (before + 1, before)


def test_without_a_storage_level_no_rows_are_kept(glue_context, persisted_rdds):
    rows = glue_context.spark_session.range(3)
    before = persisted_rdds()

    assert BatchFrame(rows, RangeInput(NEVER_READ, ()), None, None, REJECTS).filter("id > 0").count() == 2
    assert persisted_rdds() == before


def test_a_guard_is_answered_without_reading_what_holds_a_record(glue_context):
    rows = glue_context.spark_session.range(3)
    whole = BatchFrame(rows, RangeInput(NEVER_READ, ()), None, None, REJECTS, answers_emptiness_checks=True)
    part = BatchFrame(
        rows, RangeInput(NEVER_READ, ()), None, None, REJECTS, lambda: rows, answers_emptiness_checks=True
    )
    unguarded = BatchFrame(rows, RangeInput(NEVER_READ, ()), None, None, REJECTS)

    # No assertion around it: pytest compiles those its own way.
    whole_has_rows, part_has_rows, unguarded_has_rows = whole.count() > 0, part.count() > 0, unguarded.count() > 0

    assert whole_has_rows
    # Of no ranges: these were counted.
    assert not part_has_rows
    assert not unguarded_has_rows
    assert not whole.isEmpty()
    assert part.isEmpty()
