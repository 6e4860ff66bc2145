"""Transforms that join records of several tasks, or move them between tasks (docs/glue 6.2, 6.6, 6.7).

If a transform compares no values, chunks travel packed (`gluepot/frames/packing.py`): no schema has to be found first,
and neither choices nor errors are lost. A join needs Spark rows, so it does not carry over the errors of its inputs,
as no DataFrame does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812

from gluepot.connectors.streams.rejects import NOWHERE, RejectsOfFrame
from gluepot.core.errors import ConfigError
from gluepot.engine.execute import storable, task_loads, through_spark, to_frame
from gluepot.engine.pipeline import FrameInput, PackedInput, Pipeline, names_of
from gluepot.frames.chunk import Chunk
from gluepot.frames.packing import pack, pieces
from gluepot.frames.schema.relabel import Relabel
from gluepot.frames.transforms.join_keys import incomparable, key_field
from gluepot.frames.transforms.paths import parse_path
from gluepot.frames.transforms.relationalize import TaskIds, relational_tables

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_CHUNKS = "chunk binary"
_TABLES = "table string, chunk binary"


@dataclass(frozen=True, slots=True)
class Side:
    """One input of a join.

    Args:
        pipeline: gives the records.
        schema: the schema of all records.
        keys: paths of the key fields, see `parse_path`.
        rejects: where error records are kept, which cannot be joined.
    """

    pipeline: Pipeline
    schema: pa.Schema
    keys: Sequence[str]
    rejects: RejectsOfFrame = NOWHERE


def packed(spark: SparkSession, pipeline: Pipeline, change: Callable[[Iterator[Chunk]], Iterable[Chunk]]) -> DataFrame:
    """Apply `change` to the chunks of each task and return the result, packed, as a DataFrame for `PackedInput`."""

    def rows(chunks: Iterator[Chunk]) -> Iterator[pa.RecordBatch]:
        for chunk in change(chunks):
            yield pa.RecordBatch.from_pydict({"chunk": pa.array([pack(chunk)], pa.binary())})

    return through_spark(spark, pipeline, rows, _CHUNKS)


def union(spark: SparkSession, first: Pipeline, second: Pipeline) -> Pipeline:
    """Return the records of both pipelines."""
    both = packed(spark, first, iter).union(packed(spark, second, iter))
    return Pipeline(PackedInput(both, names=names_of(first.input) | names_of(second.input)))


def repartition(spark: SparkSession, pipeline: Pipeline, partitions: int) -> Pipeline:
    """Return the records, spread evenly over the given number of tasks."""

    def cut(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        return chain.from_iterable(pieces(chunk, partitions) for chunk in chunks)

    return Pipeline(PackedInput(packed(spark, pipeline, cut).repartition(partitions), names=names_of(pipeline.input)))


def coalesce(spark: SparkSession, pipeline: Pipeline, partitions: int) -> Pipeline:
    """Return the records in at most the given number of tasks, by combining existing tasks."""
    return Pipeline(PackedInput(packed(spark, pipeline, iter).coalesce(partitions), names=names_of(pipeline.input)))


def partitions_of(spark: SparkSession, pipeline: Pipeline) -> int:
    """Return the number of tasks."""
    match pipeline.input:
        case FrameInput(frame=frame) | PackedInput(frame=frame):
            return frame.rdd.getNumPartitions()
        case given:
            return len(task_loads(spark, given))


def over_partitions(
    spark: SparkSession, pipeline: Pipeline, change: Callable[[int, Iterator[Chunk]], Iterable[Chunk]]
) -> Pipeline:
    """Apply `change` to the ordinal and the chunks of each task."""
    changed = packed(spark, pipeline, lambda chunks: change(_ordinal(), chunks))
    return Pipeline(PackedInput(changed, names=names_of(pipeline.input)))


def relationalize(spark: SparkSession, pipeline: Pipeline, root: str) -> dict[str, Pipeline]:
    """Run the pipeline once, cut its records into tables and keep them in Spark's storage, so that ids do not change.

    Spark frees the storage when nothing refers to the tables any more. If Spark loses a part, for example with an
    executor, reading the tables fails: they are never computed again, because the ids would differ.

    Returns:
        The tables by name, the root table first, with the errors of all records.
    """

    def rows(chunks: Iterator[Chunk]) -> Iterator[pa.RecordBatch]:
        ids = TaskIds(_ordinal())
        for chunk in chunks:
            tables = relational_tables(chunk.batch, root, ids)
            parts = [pack(Chunk(batch, chunk.errors if name == root else ())) for name, batch in tables.items()]
            yield pa.RecordBatch.from_pydict({"table": list(tables), "chunk": pa.array(parts, pa.binary())})

    kept = through_spark(spark, pipeline, rows, _TABLES).localCheckpoint(eager=True)
    tables = {row.table for row in kept.select("table").distinct().collect()} - {root}
    # The root table has the errors.
    names = {root: names_of(pipeline.input)}
    return {
        name: Pipeline(
            PackedInput(kept.where(F.col("table") == name).select("chunk"), names=names.get(name, frozenset()))
        )
        for name in [root, *sorted(tables)]
    }


def join(spark: SparkSession, left: Side, right: Side) -> Pipeline:
    """Return an inner join on equal keys, with all fields of both sides.

    A field of the right side whose name is taken gets a dot before its name.

    Raises:
        ConfigError: the numbers of keys differ, or a key is not in the schema.
    """
    fields, others = list(storable(left.schema)), list(storable(right.schema))
    named = [field.with_name(name) for field, name in zip(others, _beside(fields, others), strict=True)]
    rows, conditions = _matched(spark, left, right)
    joined = _joined(rows, conditions, "inner", (left, right))
    return _relabelled(joined, pa.schema([*fields, *named]))


def merge(spark: SparkSession, source: Side, staging: Side) -> Pipeline:
    """Return the staging records, and those source records whose keys do not occur in the staging records.

    Raises:
        ConfigError: a key is not in one of the schemas.
    """
    rows, conditions = _matched(spark, source, staging)
    kept = _relabelled(_joined(rows, conditions, "left_anti", (source, staging)), storable(source.schema))
    return union(spark, kept, staging.pipeline)


def _matched(spark: SparkSession, left: Side, right: Side) -> tuple[tuple[DataFrame, DataFrame], Column]:
    if len(left.keys) != len(right.keys) or not left.keys:
        raise ConfigError(
            f"The join has the left keys {list(left.keys)} and the right keys {list(right.keys)}; give the same number"
            " of keys on both sides."
        )
    schemas = storable(left.schema), storable(right.schema)
    # Number the columns: Spark ignores case in names, and cannot distinguish the two sides of a self-join by names.
    first, second = (
        to_frame(spark, side.pipeline, side.schema, side.rejects).toDF(*(f"{letter}{at}" for at in range(len(schema))))
        for letter, side, schema in zip("lr", (left, right), schemas, strict=True)
    )
    pairs = [
        _key("l", schemas[0], one) == _key("r", schemas[1], other)
        for one, other in zip(left.keys, right.keys, strict=True)
    ]
    return (first, second), reduce(lambda both, pair: both & pair, pairs)


def _joined(rows: tuple[DataFrame, DataFrame], on: Column, how: str, sides: tuple[Side, Side]) -> DataFrame:
    try:
        return rows[0].join(rows[1], on, how)
    except AnalysisException as error:  # each column exists, so that Spark refuses the comparison
        raise incomparable(sides[0].schema, sides[0].keys, sides[1].schema, sides[1].keys) from error


def _key(prefix: str, schema: pa.Schema, path: str) -> Column:
    key_field(schema, path)
    top, *inner = parse_path(path)
    return reduce(lambda column, name: column.getField(name), inner, F.col(f"{prefix}{schema.names.index(top)}"))


def _beside(fields: Sequence[pa.Field], others: Sequence[pa.Field]) -> list[str]:
    taken = {field.name.casefold() for field in fields}
    names = []
    for field in others:
        name = field.name
        while name.casefold() in taken:
            name = f".{name}"
        taken.add(name.casefold())
        names.append(name)
    return names


def _relabelled(frame: DataFrame, schema: pa.Schema) -> Pipeline:
    return Pipeline(FrameInput(frame)).then(Relabel(schema))


def _ordinal() -> int:
    context = TaskContext.get()
    assert context is not None
    return context.partitionId()
