"""Files with the rows of relations that are not ours, such as a cached DataFrame, so that DuckDB can read them."""

from __future__ import annotations

from threading import Lock
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from gluepot.connectors.files.formats.parquet.statistics import statistics_without_floats
from gluepot.engine import row_folders
from gluepot.engine.native.sources import class_of
from gluepot.engine.native.types import translated_kind

# A weak reference of the JVM to what a cached DataFrame's rows come from, and the file with them, by its hash code.
_of_cached: dict[int, tuple[Any, str]] = {}
_turn = Lock()


def copied(spark: SparkSession, leaf: Any, folder: str) -> str:
    """Return the path of a file with the rows of a leaf of an optimised plan.

    Its columns are `c0`, `c1`, ...; those of a type that is not translated are left out. The rows of a cached DataFrame
    are written once, and the file goes when Spark has forgotten the DataFrame.

    Args:
        spark: the session.
        leaf: of the JVM.
        folder: where to write what is not kept.

    Raises:
        NoRoom: neither memory nor the disk has room for a file that is kept.
        Exception: a job of Spark failed.
    """
    if class_of(leaf) != "InMemoryRelation":
        return _written(spark, leaf, folder)
    jvm = spark.sparkContext._jvm  # noqa: SLF001  Python has no other way to it
    assert jvm is not None
    builder = leaf.cacheBuilder()
    code = jvm.java.lang.System.identityHashCode(builder)
    with _turn:
        for one in [one for one, (reference, _) in _of_cached.items() if reference.get() is None]:
            del _of_cached[one]
        if code in _of_cached and _of_cached[code][0].get().equals(builder):  # codes may be alike
            return _of_cached[code][1]
        folders = row_folders.new_folders()
        try:
            path = _written(spark, leaf, folders.next()[0])
        except BaseException:
            row_folders.remove(folders)
            raise
        reference = jvm.java.lang.ref.WeakReference(builder)
        row_folders.release(folders, [reference], jvm.System.gc)
        _of_cached[code] = (reference, path)
        return path


def _written(spark: SparkSession, leaf: Any, folder: str) -> str:
    jvm = spark.sparkContext._jvm  # noqa: SLF001  as above
    assert jvm is not None
    path = f"{folder}/{uuid4().hex}.parquet"
    rows = DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, leaf), spark)  # noqa: SLF001
    numbered = rows.toDF(*(f"c{at}" for at in range(len(rows.columns))))
    kept = [one.name for one in numbered.schema if translated_kind(one.dataType.jsonValue())]
    table = numbered.select(kept).toArrow()
    pq.write_table(table, path, compression="none", write_statistics=statistics_without_floats(table.schema))
    return path
