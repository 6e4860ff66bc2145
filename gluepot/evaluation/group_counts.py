"""Counts more groups than one process can hold: tasks divide them by a hash, and Spark brings equal ones together.

Groups travel as packed Arrow tables, so that no value becomes a row of the JVM.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from gluepot.core.task_errors import marked
from gluepot.engine.execute import through_spark
from gluepot.engine.pipeline import Pipeline
from gluepot.evaluation.hash_counts import Way, hash_counts
from gluepot.evaluation.hashes import Hashes, hashes
from gluepot.evaluation.sums import Sums
from gluepot.frames.chunk import Chunk
from gluepot.frames.schema.glue_types import short_name
from gluepot.quality.measures import TOP, Frequencies, Grouped, Groups, packed, top_values, unpacked
from gluepot.quality.values import NUMBERS

_PARTS = "bucket int, at int, part binary"
_SUMS = "at int, filled long, distinct long, once long, weighted double, top array<struct<value: string, n: long>>"
_TOP = pa.list_(pa.struct([("value", pa.string()), ("n", pa.int64())]))
_ROWS_IN_BUCKET = 10_000_000


def frequencies(
    spark: SparkSession,
    pipeline: Pipeline,
    measures: Sequence[Groups],
    rows: Sequence[int],
    ways: Sequence[Way],
) -> list[Frequencies]:
    """Return how often values occur, for each of the measures.

    Args:
        spark: the session.
        pipeline: gives the rows.
        measures: what to count.
        rows: the number of rows of each measure.
        ways: how each is counted.
    """
    buckets = buckets_of(spark.sparkContext.defaultParallelism, max(rows, default=0))
    hashed = [at for at, way in enumerate(ways) if way is not Way.VALUES]
    of_hashes = hash_counts(spark, pipeline, [(measures[at], ways[at]) for at in hashed], buckets)
    found = {at: counts.sums for at, counts in zip(hashed, of_hashes, strict=True) if ways[at] is Way.CODES}
    suspects: dict[int, Hashes | None] = {at: None for at, way in enumerate(ways) if way is Way.VALUES}
    for at, counts in zip(hashed, of_hashes, strict=True):
        if ways[at] is Way.HASHES:
            suspects[at] = counts.suspects
            once = counts.sums.once if counts.suspects is not None else 0
            found[at] = Sums(once, once, once)
    compared = [at for at, some in suspects.items() if some is None or len(some)]
    chosen = [(measures[at], suspects[at]) for at in compared]
    for at, sums in zip(compared, _compared(spark, pipeline, chosen, buckets), strict=True):
        found[at] = found.get(at, Sums()).plus(sums)
    return [found[at].summary(count) for at, count in enumerate(rows)]


def buckets_of(cores: int, rows: int) -> int:
    """Return among how many parts groups are divided: some for each core, more where these would become large."""
    return max(cores * 2, rows // _ROWS_IN_BUCKET)


def _compared(
    spark: SparkSession, pipeline: Pipeline, chosen: Sequence[tuple[Groups, Hashes | None]], buckets: int
) -> list[Sums]:
    """Count by the values themselves; only values with one of the hashes, where these are given."""
    if not chosen:
        return []
    measures = [one for one, _ in chosen]

    def divide(chunks: Iterator[Chunk]) -> Iterator[pa.RecordBatch]:
        for at, state in enumerate(_grouped(chunks, chosen)):
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
    found = divided.repartitionById(buckets, "bucket").mapInArrow(unite, _SUMS).collect()
    return [_summed([row for row in found if row["at"] == at]) for at in range(len(measures))]


def _grouped(chunks: Iterable[Chunk], chosen: Sequence[tuple[Groups, Hashes | None]]) -> list[Grouped]:
    """Return the groups of all chunks of a task; unlike `Groups.merged`, without a limit."""
    tables: list[list[pa.Table]] = [[] for _ in chosen]
    loose = [0] * len(chosen)
    for chunk in chunks:
        for at, (one, wanted) in enumerate(chosen):
            batch = one.chosen(chunk.batch)
            if wanted is not None:
                batch = batch.filter(pa.array(np.isin(hashes(one.keys(batch)), wanted)))
            found = one.of(batch)
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
    of_row = (hashes([table.column(str(at)).chunk(0) for at in range(keys)]) % np.uint64(buckets)).astype(np.int64)
    order = np.argsort(of_row, kind="stable")
    ends = np.searchsorted(of_row[order], np.arange(buckets + 1))
    ordered = table.take(pa.array(order))
    for bucket in range(buckets):
        if ends[bucket] < ends[bucket + 1]:
            yield bucket, ordered.slice(ends[bucket], ends[bucket + 1] - ends[bucket])


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


def _summed(found: Sequence[Any]) -> Sums:
    filled, distinct, once = (sum(row[name] for row in found) for name in ("filled", "distinct", "once"))
    # No value is in two buckets, so the most frequent ones of all buckets are those of the column.
    top = sorted(((one["value"], one["n"]) for row in found for one in row["top"]), key=lambda one: (-one[1], one[0]))
    return Sums(filled, distinct, once, math.fsum(row["weighted"] for row in found), tuple(top[:TOP]))
