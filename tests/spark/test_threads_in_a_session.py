"""What threads of a script share in one Spark session: views, settings, and the rows of a batch."""

from __future__ import annotations

from pyspark import StorageLevel
from pyspark.sql import functions as sql

from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.source import KafkaSource
from gluepot.connectors.streams import python_sources
from gluepot.engine.pipeline import RangeInput
from gluepot.engine.rejects import Rejects
from gluepot.evaluation.other_data import PRIMARY, _views
from gluepot.streaming.micro_batch.frames import BatchFrame
from gluepot.tables import spark as tables
from tests.meeting import Meeting, at_once

SETTINGS = KafkaReadSettings.from_options({"bootstrap.servers": "127.0.0.1:9", "topicName": "clicks"})


def test_rules_that_threads_check_at_once_see_their_own_rows(glue_context):
    spark, meet = glue_context.spark_session, Meeting()

    def rows_of(number):
        with _views(spark, {PRIMARY: spark.range(number)}):
            meet()
            return spark.table(PRIMARY).count()

    assert at_once(lambda: rows_of(1), lambda: rows_of(2)) == [1, 2]


def test_a_batch_that_threads_use_at_once_is_made_and_cached_once(glue_context):
    made, meet = [], Meeting()

    def rows():
        meet()
        made.append(glue_context.spark_session.range(3).withColumn("n", sql.lit(len(made))))
        return made[-1]

    reading = KafkaSource(SETTINGS).reading()
    level = StorageLevel.MEMORY_AND_DISK
    batch = BatchFrame(made_of(glue_context), RangeInput(reading, ()), None, level, Rejects(None, "q", 0), rows)

    assert at_once(*[lambda: batch.filter("n = 0").count()] * 2) == [3, 3]
    assert len(made) == 1
    batch.release()
    assert not made[0].is_cached


def made_of(glue_context):
    return glue_context.spark_session.range(0)


def test_tables_can_be_read_as_soon_as_their_source_is_there(glue_context, monkeypatch):
    spark, seen = glue_context.spark_session.newSession(), []

    def register(session, source):
        seen.append(session.conf.get("spark.sql.python.filterPushdown.enabled"))
        return python_sources.register(session, source)

    monkeypatch.setattr(tables, "register_source", register)
    tables.register(spark)

    assert seen == ["true"]
