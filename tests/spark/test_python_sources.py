"""Frames of Python sources that the driver makes itself are those that Spark would make."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from py4j.protocol import Py4JError
from pyspark import cloudpickle
from pyspark.errors import AnalysisException
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from gluepot.connectors.streams.python_sources import register, rows_of, stream_of

DRIVER_PID = os.getpid()
OPTIONS = {"rows": "5", "Word": "été"}


class Piece(InputPartition):
    def __init__(self, number: int) -> None:
        self.number = number


class Rows(DataSourceReader):
    def __init__(self, options) -> None:
        self._options = options

    def partitions(self):
        return [Piece(number) for number in range(int(self._options["rows"]))]

    def read(self, partition):
        yield (partition.number, self._options["word"])


class Stream(Rows, DataSourceStreamReader):
    def initialOffset(self):  # noqa: N802
        return {"at": 0}

    def latestOffset(self):  # noqa: N802
        return {"at": int(self._options["rows"])}

    def partitions(self, start, end):  # type: ignore[override]
        return [Piece(number) for number in range(start["at"], end["at"])]


class Numbers(DataSource):
    @classmethod
    def name(cls):
        return "numbers_made_here"

    def schema(self):
        return StructType([StructField("number", IntegerType()), StructField("word", StringType(), nullable=False)])

    def reader(self, schema):
        return Rows(self.options)

    def streamReader(self, schema):  # noqa: N802
        return Stream(self.options)


class OnlyInDriver(Numbers):
    @classmethod
    def name(cls):
        return "only_in_driver"

    def schema(self):
        return self._here(super().schema())

    def reader(self, schema):
        return self._here(super().reader(schema))

    def streamReader(self, schema):  # noqa: N802
        return self._here(super().streamReader(schema))

    def _here(self, made):
        if os.getpid() != DRIVER_PID:
            raise RuntimeError("this is not the driver")
        return made


@pytest.fixture(scope="module")
def spark(glue_context):
    here = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(here)  # workers do not find this module
    register(glue_context.spark_session, Numbers)
    yield glue_context.spark_session
    cloudpickle.unregister_pickle_by_value(here)


def test_rows_are_those_of_a_source_that_spark_makes(spark):
    made = rows_of(spark, Numbers, OPTIONS)
    of_spark = spark.read.format("numbers_made_here").options(**OPTIONS).load()
    assert made.schema == of_spark.schema
    assert made.rdd.getNumPartitions() == of_spark.rdd.getNumPartitions() == 5
    assert sorted(made.filter("number > 1").collect()) == sorted(of_spark.filter("number > 1").collect())
    assert sorted(made.union(of_spark).groupBy("word").count().collect()) == [("été", 10)]


def test_a_stream_is_that_of_a_source_that_spark_makes(spark, tmp_path):
    made = stream_of(spark, Numbers, OPTIONS)
    of_spark = spark.readStream.format("numbers_made_here").options(**OPTIONS).load()
    assert made.isStreaming
    assert made.schema == of_spark.schema
    for name, frame in (("made", made), ("spark", of_spark)):
        seen = []
        writer = frame.filter("number > 1").writeStream.foreachBatch(
            lambda batch, _, seen=seen: seen.extend(batch.collect())
        )
        query = writer.option("checkpointLocation", str(tmp_path / name)).start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        assert sorted(seen) == [(2, "été"), (3, "été"), (4, "été")]


def test_the_driver_and_no_other_process_makes_and_plans_a_source(spark):
    register(spark, OnlyInDriver)
    assert rows_of(spark, OnlyInDriver, OPTIONS).count() == 5
    assert stream_of(spark, OnlyInDriver, OPTIONS).isStreaming
    with pytest.raises(AnalysisException, match="not the driver"):
        spark.read.format("only_in_driver").options(**OPTIONS).load()


def test_a_spark_that_is_made_otherwise_makes_its_frames_itself(spark, monkeypatch):
    def refuse(*_):
        raise Py4JError("no such class")

    monkeypatch.setattr("gluepot.connectors.streams.python_sources._frame", refuse)
    assert rows_of(spark, Numbers, OPTIONS).count() == 5
    assert stream_of(spark, Numbers, OPTIONS).isStreaming


def test_a_source_is_registered_once_in_each_session(spark, capfd):
    register(spark, Numbers)
    another = spark.newSession()
    register(another, Numbers)
    assert another.read.format("numbers_made_here").options(**OPTIONS).load().count() == 5
    assert "replaced" not in capfd.readouterr().err


def test_threads_that_need_a_source_at_the_same_time_all_get_it(spark):
    for _ in range(5):
        another, together = spark.newSession(), Barrier(4)

        def need(session=another, together=together):
            together.wait()
            return register(session, Numbers), rows_of(session, Numbers, OPTIONS).count()

        with ThreadPoolExecutor(4) as pool:
            got = [one.result() for one in [pool.submit(need) for _ in range(4)]]
        assert sorted(got) == [(False, 5)] * 3 + [(True, 5)]
