"""A script that sets `spark.sql.session.timeZone` gets the same instants, texts and days from Glue's API as from Spark."""

from __future__ import annotations

import datetime as dt

import pytest

import gluepot.table
from gluepot.engine.session_zone import SETTING, session_zone
from gluepot.frames.time_zone import UTC
from tests.differential.kinds.zones import in_zone

ZONE = "America/New_York"
TEXT, DAY = "2024-07-01 23:30:00", dt.date(2024, 7, 1)
MICROS = 1_719_891_000_000_000


@pytest.fixture
def spark(glue_context):
    """A session whose zone ends with the test."""
    with in_zone(glue_context.spark_session, "UTC", "conf"):
        yield glue_context.spark_session


@pytest.fixture
def frame(spark, glue_context):
    from awsglue.dynamicframe import DynamicFrame

    def make():
        return DynamicFrame.fromDF(spark.sql(f"SELECT '{TEXT}' s, timestamp_micros({MICROS}) t"), glue_context, "x")

    return make


def first(frame, expression):
    return frame.toDF().selectExpr(expression).first()[0]


def test_casts_are_those_of_spark_in_the_zone(spark, frame):
    spark.conf.set(SETTING, ZONE)

    mapped = frame().apply_mapping(
        [("s", "string", "at", "timestamp"), ("t", "timestamp", "x", "string"), ("t", "timestamp", "day", "date")]
    )

    assert first(mapped, "unix_micros(at)") == MICROS
    assert (first(mapped, "x"), first(mapped, "day")) == (TEXT, DAY)


def test_a_function_gets_and_returns_times_of_the_zone(spark, frame):
    spark.sql(f"SET TIME ZONE '{ZONE}'")

    mapped = frame().map(lambda one: {"t": one["t"].replace(tzinfo=None), "hour": one["t"].hour})

    assert (first(mapped, "unix_micros(t)"), first(mapped, "hour")) == (MICROS, 23)


def test_a_partition_is_read_back_by_spark_and_by_the_manifest(spark, frame, tmp_path):
    spark.conf.set(SETTING, ZONE)

    frame().write("s3", {"path": str(tmp_path), "partitionKeys": ["t"]}, "glueparquet")

    assert spark.read.parquet(str(tmp_path)).selectExpr("unix_micros(t)").first()[0] == MICROS
    assert gluepot.table.open(str(tmp_path)).to_arrow()["t"].cast("int64").to_pylist() == [MICROS]


def test_each_step_has_the_zone_of_the_moment_when_it_was_called(spark, frame):
    spark.conf.set(SETTING, ZONE)
    in_new_york = frame().apply_mapping([("s", "string", "a", "timestamp"), ("s", "string", "s", "string")])
    spark.conf.set(SETTING, "UTC")
    both = in_new_york.apply_mapping([("a", "timestamp", "a", "timestamp"), ("s", "string", "b", "timestamp")])
    spark.conf.set(SETTING, "Asia/Tokyo")

    assert first(both, "unix_micros(a) - unix_micros(b)") == 4 * 3600 * 10**6


def test_the_zone_is_javas_and_utc_is_none(spark):
    assert session_zone(spark) is UTC
    for name in ("Etc/UTC", "GMT", "+00:00", "Etc/GMT"):
        spark.conf.set(SETTING, name)
        assert session_zone(spark).is_utc
    spark.conf.set(SETTING, "Africa/Monrovia")
    assert session_zone(spark).offset_at(-(10**9)) == -2670


def test_rows_of_a_micro_batch_are_in_the_zone(spark, numbers):
    spark.conf.set(SETTING, ZONE)
    found = []

    def write(batch, _):
        from awsglue.dynamicframe import DynamicFrame

        frame = DynamicFrame.fromDF(batch, numbers.glue_context, "x").apply_mapping([("s", "string", "t", "timestamp")])
        found.append(first(frame, "unix_micros(t)"))

    numbers.run(write, frame=numbers.frame().selectExpr(f"'{TEXT}' s"))

    assert found == [MICROS]
