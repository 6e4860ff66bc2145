"""Has Spark compute the rows of a MERGE's source, and brings them here as Arrow columns."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from gluepot.connectors.lake.merging.expressions import OnlySpark
from gluepot.connectors.lake.merging.partitions import origins
from gluepot.connectors.lake.merging.rows import Source, fitted, used
from gluepot.connectors.lake.merging.statement import Resolved
from gluepot.connectors.lake.merging.target import MergeTarget
from gluepot.core.clock import SystemClock
from gluepot.core.owned_folders import new_owned_folder

# A source that reads more than this, or makes more of it, is joined by Spark.
_MOST_BYTES = 256_000_000
# Spark gives sizes beyond this to relations of which it does not know the size.
_UNKNOWN_BYTES = 2**60
_PREFIX = "gluepot-merge-"


def read_source(spark: SparkSession, found: Resolved, target: MergeTarget) -> tuple[Source, Sequence[pa.Array]]:
    """Have Spark compute the source; return its columns, and the parts of the partition in which each row belongs.

    Raises:
        OnlySpark: it is too large.
    """
    merge = found.merge
    jvm: Any = spark._jvm  # noqa: SLF001  here and below: Python has no other way to a plan
    made = jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, found.source)  # noqa: SLF001
    leaves = made.queryExecution().optimizedPlan().collectLeaves()
    size = sum(int(str(leaves.apply(at).stats().sizeInBytes())) for at in range(leaves.size()))
    if _MOST_BYTES < size < _UNKNOWN_BYTES:
        raise OnlySpark("a large source")
    frame: DataFrame = ClassicDataFrame(made, spark).toDF(*(f"c{one.number}" for one in merge.source))
    wanted = [f"c{one.number}" for one in merge.source if one.number in used(merge)]
    numbers = origins(merge, target.layout.partition)
    parts = [one.sql.format(f"c{number}") for one, number in zip(target.layout.partition, numbers, strict=True)]
    rows = frame.selectExpr(*wanted, *(f"{sql} AS p{at}" for at, sql in enumerate(parts)))
    table = rows.toArrow() if size <= _MOST_BYTES else _through_files(rows)
    schema = to_arrow_schema(rows.schema, timestamp_utc=True)
    arrays = {field.name: _column(table[field.name], _plain(field.type)) for field in schema}
    columns = {int(name[1:]): arrays[name] for name in wanted}
    return Source(columns, table.num_rows), [arrays[f"p{at}"] for at in range(len(parts))]


def _through_files(rows: DataFrame) -> pa.Table:
    """Return rows of which nobody knows how many there are.

    Raises:
        OnlySpark: there are too many.
    """
    folder = _root() / uuid4().hex
    try:
        rows.write.parquet(folder.as_uri())
        files = sorted(folder.glob("*.parquet"))
        if sum(one.stat().st_size for one in files) > _MOST_BYTES:
            raise OnlySpark("a large source")
        if not files:
            raise OnlySpark("a source without files")
        return pa.concat_tables([_read(one) for one in files])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(file: Path) -> pa.Table:
    with pq.ParquetFile(file, coerce_int96_timestamp_unit="us") as opened:
        return opened.read()


@cache
def _root() -> Path:
    return new_owned_folder(_PREFIX, SystemClock())


def _column(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.Array:
    """Return a column in one piece."""
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)
    return fitted(array, wanted)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return a type without what it says about nulls, and with the names that Parquet has for parts."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(one.name, _plain(one.type)) for one in kind])
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", _plain(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(_plain(kind.key_type), _plain(kind.item_type))
    return kind
