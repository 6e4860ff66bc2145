"""Lets `df.write` write what DuckDB has answered, where it answers a query as Spark would.

Spark writes the files as ever; it only reads the rows from the file of the answer instead of computing them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame, DataFrameWriter, SparkSession
from pyspark.sql.classic.column import Column as ClassicColumn
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.types import StructField, StructType

from gluepot.engine.native.run import Answer, answered

_SET_UP = ("mode", "format", "option", "options", "partitionBy", "bucketBy", "sortBy", "clusterBy")
_TO_FILES = ("parquet", "json", "csv", "orc")

Call: TypeAlias = tuple[str, tuple[Any, ...], dict[str, Any]]


@cache
def write_answers() -> None:
    """Make the writers of all DataFrames ask DuckDB first."""
    ClassicDataFrame.write = property(_Writer)  # type: ignore[method-assign,assignment]


class _Writer(DataFrameWriter):
    """Notes how it is set up, so that another writer can be set up alike."""

    def __init__(self, frame: DataFrame) -> None:
        super().__init__(frame)
        self._noted: list[Call] = []

    def _write(self, name: str, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        spark: SparkSession = self._df.sparkSession
        with answered(spark, self._df) as answer:
            writer: DataFrameWriter = self
            if answer is not None:
                writer = DataFrameWriter(_frame(spark, self._df, answer))
                for noted, given, named in self._noted:
                    getattr(writer, noted)(*given, **named)
            getattr(DataFrameWriter, name)(writer, path, *args, **kwargs)


def _noting(name: str) -> Callable[..., DataFrameWriter]:
    original = getattr(DataFrameWriter, name)

    @wraps(original)
    def set_up(self: _Writer, *args: Any, **kwargs: Any) -> DataFrameWriter:
        self._noted.append((name, args, kwargs))
        original(self, *args, **kwargs)
        return self

    return set_up


def _writing(name: str) -> Callable[..., None]:
    @wraps(getattr(DataFrameWriter, name))
    def write(self: _Writer, path: str, *args: Any, **kwargs: Any) -> None:
        self._write(name, path, args, kwargs)

    return write


def _save(self: _Writer, path: str | None = None, *args: Any, **kwargs: Any) -> None:
    said = next((given[0] for name, given, _ in reversed(self._noted) if name == "format"), "parquet")
    wanted = (args[0] if args else kwargs.get("format")) or said
    if path is None or wanted not in _TO_FILES:
        DataFrameWriter.save(self, path, *args, **kwargs)
    else:
        self._write("save", path, args, kwargs)


_Writer.save = _save  # type: ignore[method-assign,assignment]
for _name in _SET_UP:
    setattr(_Writer, _name, _noting(_name))
for _name in _TO_FILES:
    setattr(_Writer, _name, _writing(_name))


def _frame(spark: SparkSession, asked: DataFrame, answer: Answer) -> DataFrame:
    """Return the rows of an answer, with the schema and the partitions of the DataFrame that it answers."""
    schema = StructType([StructField(f"c{number}", one.dataType) for number, one in enumerate(asked.schema)])
    read = spark.read.schema(schema).parquet(f"file://{answer.path}")
    rows = read.select(
        *[_like(spark, read[name], field) for name, field in zip(read.columns, asked.schema, strict=True)]
    )
    if answer.partitions is not None:
        rows = rows.coalesce(1) if answer.partitions == 1 else rows.repartition(answer.partitions)
    if rows.schema == asked.schema:
        return rows
    # Elements or fields that are never null.
    internal = rows._jdf.queryExecution().toRdd()  # noqa: SLF001  Python has no other way to a schema of one's own
    session = spark._jsparkSession  # noqa: SLF001  as above
    return ClassicDataFrame(session.internalCreateDataFrame(internal, asked._jdf.schema(), False), spark)  # noqa: SLF001


def _like(spark: SparkSession, column: Column, field: StructField) -> Column:
    """Return a column with the name, the metadata and the nullability of a field.

    Spark's reader says of every column that it may be null. Files of Parquet say so, too, unless the writer is told
    that a column such as `count(*)` never is.
    """
    jvm = spark.sparkContext._jvm  # noqa: SLF001  Python has no function for this
    assert jvm is not None
    if not field.nullable:
        sql = jvm.org.apache.spark.sql
        expression = sql.classic.ExpressionUtils.expression(column._jc)  # noqa: SLF001
        never_null = sql.catalyst.expressions.KnownNotNull(expression)
        column = ClassicColumn(sql.classic.ExpressionUtils.column(never_null))
    return column.alias(field.name, metadata=field.metadata) if field.metadata else column.alias(field.name)
