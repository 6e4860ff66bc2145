"""What a script sees of the Glue version it was written for."""

from __future__ import annotations

import pytest
from pyspark.errors import ArithmeticException, NumberFormatException

from gluepot.core.glue_version import PROFILES


@pytest.fixture
def session(glue_context):
    """A function from a version to a session with its settings, and no others."""

    def of(version):
        new = glue_context.spark_session.newSession()
        for key, value in PROFILES[version].spark_conf.items():
            assert new.conf.isModifiable(key), key
            new.conf.set(key, value)
        return new

    return of


@pytest.mark.parametrize("version", ["3.0", "4.0", "5.0", "5.1"])
def test_what_cannot_be_cast_or_divided_is_null_before_glue_6(session, version):
    assert session(version).sql("SELECT CAST('x' AS INT) AS a, 1 / 0 AS b").collect() == [(None, None)]


def test_what_cannot_be_cast_or_divided_is_an_error_in_glue_6(session):
    spark = session("6.0")

    with pytest.raises(NumberFormatException):
        spark.sql("SELECT CAST('x' AS INT)").collect()
    with pytest.raises(ArithmeticException):
        spark.sql("SELECT 1 / 0").collect()


@pytest.mark.parametrize("version", ["5.0", "6.0"])
def test_casts_of_dynamic_frames_give_null_in_every_version(session, version):
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame

    context = GlueContext(session(version))
    frame = DynamicFrame.fromDF(context.spark_session.createDataFrame([("x",)], "a string"), context)

    assert frame.apply_mapping([("a", "string", "a", "int")]).toDF().collect() == [(None,)]
    assert frame.gs_to_timestamp("a", "autodetect").toDF().collect() == [(None,)]
