"""DataFrames of the session that scripts know."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame


def in_session(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """Return the same rows as a DataFrame of this session.

    Spark gives a micro-batch a clone of the session: a view that is made of its rows is in the clone, where the
    `spark.sql` of a script does not find it. Glue's toDF gives frames of the session of the context.
    """
    session = spark._jsparkSession  # noqa: SLF001  here and below: Python has no other way to a frame's session
    if frame.sparkSession._jsparkSession.equals(session):  # noqa: SLF001
        return frame
    jvm = spark.sparkContext._jvm  # noqa: SLF001
    assert jvm is not None
    rows = jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, frame._jdf.logicalPlan())  # noqa: SLF001
    return ClassicDataFrame(rows, spark)
