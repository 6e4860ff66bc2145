"""Fits DataFrames to what Glue's frames are: of the session that scripts use, with each name once."""

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


def with_each_name_once(frame: DataFrame) -> DataFrame:
    """Return a frame without columns whose name a later column has; that one is where the first was.

    Glue's records are maps of names, filled column by column.
    """
    names = frame.columns
    last = {name: at for at, name in enumerate(names)}
    if len(last) == len(names):
        return frame
    numbered = frame.toDF(*map(str, range(len(names))))  # only by its place can Spark tell one from the other
    return numbered.select(*(numbered[str(at)].alias(name) for name, at in last.items()))
