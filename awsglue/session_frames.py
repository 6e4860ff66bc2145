"""Moves DataFrames to the session that scripts use."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame


def in_session(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """Return the same rows as a DataFrame of this session.

    The rows of a micro-batch belong to a clone of the session. A view of them would be in the clone, where the script's
    `spark.sql` does not find it. In Glue, `toDF` returns frames of the context's session.
    """
    session = spark._jsparkSession  # noqa: SLF001  here and below: Python has no other way to a frame's session
    if frame.sparkSession._jsparkSession.equals(session):  # noqa: SLF001
        return frame
    jvm = spark.sparkContext._jvm  # noqa: SLF001
    assert jvm is not None
    rows = jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, frame._jdf.logicalPlan())  # noqa: SLF001
    return ClassicDataFrame(rows, spark)
