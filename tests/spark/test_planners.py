"""Processes that Spark plans Python sources in, given back and started anew."""

from __future__ import annotations

from unittest.mock import Mock

import psutil
from py4j.protocol import Py4JError
from pyspark.sql.datasource import DataSource, DataSourceReader

from streaming.planners import release_planners
from tests.e2e.jobs import wait_until


def _one_row():
    # Made here, not in the module, so that Spark's processes get them by value.
    class Reader(DataSourceReader):
        def read(self, partition):
            yield (1,)

    class OneRow(DataSource):
        @classmethod
        def name(cls):
            return "one_row"

        def schema(self):
            return "a int"

        def reader(self, schema):
            return Reader()

    return OneRow


def _planners() -> int:
    commands = []
    for process in psutil.Process().children(recursive=True):
        try:
            commands.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return sum("pyspark.sql.worker." in command for command in commands)


def test_idle_planners_are_stopped_and_come_back_when_they_are_needed(glue_context):
    spark = glue_context.spark_session
    spark.dataSource.register(_one_row())
    read = spark.read.format("one_row")
    assert [row.a for row in read.load().collect()] == [1]
    assert _planners() >= 4
    assert release_planners(spark) >= 2

    def only_daemons_are_left() -> bool:  # A worker may have been given back only after the call before.
        release_planners(spark)
        return _planners() <= 3  # That of looking for sources is one of them.

    wait_until(only_daemons_are_left, "only daemons are left")
    assert [row.a for row in read.load().collect()] == [1]


def test_a_spark_that_is_made_otherwise_keeps_them():
    spark = Mock()
    spark._jvm.org.apache.spark.SparkEnv.get.side_effect = Py4JError("no such thing")
    assert release_planners(spark) == 0
