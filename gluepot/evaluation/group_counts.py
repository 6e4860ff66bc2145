"""Counts more groups than one process can hold: tasks divide them by a hash, and Spark brings equal ones together.

Groups travel as packed Arrow tables, so that no value becomes a row of the JVM.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from gluepot.core.task_errors import marked
from gluepot.engine.execute import through_spark
from gluepot.engine.pipeline import Pipeline
from gluepot.frames.chunk import Chunk
from gluepot.frames.schema.glue_types import short_name
from gluepot.quality.measures import TOP, Frequencies, Grouped, Groups, packed, top_values, unpacked
from gluepot.quality.values import NUMBERS

_PARTS = "bucket int, at int, part binary"
_SUMS = "at int, filled long, distinct long, once long, weighted double, top array<struct<value: string, n: long>>"
_TOP = pa.list_(pa.struct([("value", pa.string()), ("n", pa.int64())]))
_SAMPLE_BYTES = 6
_MIX = np.uint64(0x9E3779B97F4A7C15)


def frequencies(
    spark: SparkSession, pipeline: Pipeline, measures: Sequence[Groups], rows: Sequence[int]
) -> list[Frequencies]:
    """Return how often values occur, for each of the measures.

    Args:
        spark: the session.
        pipeline: gives the rows.
        measures: what to count.
        rows: the number of rows of each measure.
    """
    buckets = spark.sparkContext.defaultParallelism * 2

    def divide(chunks: Iterator[Chunk]) -> Iterator[pa.RecordBatch]:
        for at, state in enumerate(_grouped(chunks, measures)):
            for bucket, table in _divided(measures[at].compact(state), len(measures[at].columns), buckets):
                yield pa.RecordBatch.from_pydict(
                    {
                        "bucket": pa.array([bucket], pa.int32()),
                        "at": pa.array([at], pa.int32()),
                        "part": pa.array([packed(table)], pa.binary()),
                    }
                )

    def unite(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return marked(_united(batches, measures))

    divided = through_spark(spark, pipeline, divide, _PARTS)
    sums = divided.repartition(buckets, "bucket").mapInArrow(unite, _SUMS).collect()
    return [_summed([row for row in sums if row["at"] == at], count) for at, count in enumerate(rows)]


def _grouped(chunks: Iterable[Chunk], measures: Sequence[Groups]) -> list[Grouped]:
    """Return the groups of all chunks of a task; unlike `Groups.merged`, without a limit."""
    tables: list[list[pa.Table]] = [[] for _ in measures]
    loose = [0] * len(measures)
    for chunk in chunks:
        for at, one in enumerate(measures):
            found = one.of_chosen(chunk.batch)
            tables[at] += found.tables
            loose[at] += found.tables[0].num_rows
            if loose[at] > max(500_000, tables[at][0].num_rows):
                tables[at], loose[at] = [one.compact(Grouped(0, tuple(tables[at])))], 0
    return [
        Grouped(0, tuple(one)) if one else Grouped(0, (pa.table({"n": pa.array([], pa.int64())}),)) for one in tables
    ]


def _divided(table: pa.Table, keys: int, buckets: int) -> Iterator[tuple[int, pa.Table]]:
    if not table.num_rows:
        return
    table = table.combine_chunks()
    of_row = (_hashes([table.column(str(at)).chunk(0) for at in range(keys)]) % np.uint64(buckets)).astype(np.int64)
    order = np.argsort(of_row, kind="stable")
    ends = np.searchsorted(of_row[order], np.arange(buckets + 1))
    ordered = table.take(pa.array(order))
    for bucket in range(buckets):
        if ends[bucket] < ends[bucket + 1]:
            yield bucket, ordered.slice(ends[bucket], ends[bucket + 1] - ends[bucket])


def _hashes(keys: Sequence[pa.Array]) -> npt.NDArray[np.uint64]:
    """Return a number for each row that is equal for equal values, also of different types of numbers."""
    found = np.zeros(len(keys[0]), np.uint64)
    with np.errstate(over="ignore"):
        for key in keys:
            one = _hash_of(key)
            one ^= one >> np.uint64(32)
            found = found * np.uint64(31) + one * _MIX
    return found >> np.uint64(16)


def _hash_of(key: pa.Array) -> npt.NDArray[np.uint64]:
    if short_name(key.type) in NUMBERS:
        doubles = pc.fill_null(pc.cast(key, pa.float64(), safe=False), 0.5)
        hashes: npt.NDArray[np.uint64] = doubles.to_numpy(zero_copy_only=False).view(np.uint64).copy()
        return hashes
    texts = pc.fill_null(pc.cast(key, pa.string()), "").cast(pa.large_binary())
    return _samples(texts)


def _samples(texts: pa.LargeBinaryArray) -> npt.NDArray[np.uint64]:
    """Return a number made of the length and of bytes from the beginning, the middle and the end of each text."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    values = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    begin, end = ends[:-1], ends[1:]
    middle = (begin + end) // 2
    found = (end - begin).astype(np.uint64)
    for back in range(1, _SAMPLE_BYTES + 1):
        for at in (end - back, middle - back, begin + back - 1):
            inside = (at >= begin) & (at < end)
            byte = np.where(inside, values[np.where(inside, at, 0)], 0)
            found = found * np.uint64(257) + byte.astype(np.uint64)
    return found


def _united(batches: Iterable[pa.RecordBatch], measures: Sequence[Groups]) -> Iterator[pa.RecordBatch]:
    tables: dict[int, list[pa.Table]] = {}
    for batch in batches:
        for at, part in zip(batch.column("at").to_pylist(), batch.column("part"), strict=True):
            tables.setdefault(at, []).append(unpacked(part.as_buffer()))
    for at, parts in tables.items():
        table = measures[at].filled(Grouped(0, tuple(parts)))
        counts = table.column("n").to_numpy().astype(np.float64)
        is_one = len(measures[at].columns) == 1 and short_name(table.column("0").type) not in NUMBERS
        top = top_values(table) if is_one else ()  # distributions of numbers have bins
        yield pa.RecordBatch.from_pydict(
            {
                "at": pa.array([at], pa.int32()),
                "filled": [int(counts.sum())],
                "distinct": [len(counts)],
                "once": [int((counts == 1).sum())],
                "weighted": [float((counts * np.log(counts)).sum())],
                "top": pa.array([[{"value": value, "n": n} for value, n in top]], _TOP),
            }
        )


def _summed(sums: Sequence[object], rows: int) -> Frequencies:
    filled, distinct, once = (sum(row[name] for row in sums) for name in ("filled", "distinct", "once"))  # type: ignore[index]
    weighted = math.fsum(row["weighted"] for row in sums)  # type: ignore[index]
    # The sum of -p log p, with p = n / filled.
    entropy = max(0.0, math.log(filled) - weighted / filled) if filled else 0.0
    # No value is in two buckets, so the most frequent ones of all buckets are those of the column.
    top = sorted(((one["value"], one["n"]) for row in sums for one in row["top"]), key=lambda one: (-one[1], one[0]))  # type: ignore[index]
    return Frequencies(rows, filled, distinct, once, entropy, tuple(top[:TOP]))
