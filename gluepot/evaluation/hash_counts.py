"""Counts hashes in the place of values. A hash that occurs once tells that its value does, and takes eight bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import SparkSession

from gluepot.core.task_errors import marked
from gluepot.engine.execute import through_spark
from gluepot.engine.pipeline import Pipeline
from gluepot.evaluation.hashes import Hashes, codes, hashes
from gluepot.evaluation.sums import Sums
from gluepot.frames.chunk import Chunk
from gluepot.quality.measures import Groups, any_valid

_PARTS = "bucket int, at int, hashes binary, counts binary"
_COUNTS = "at int, filled long, distinct long, once long, weighted double, suspects binary"
MOST_SUSPECTS = 500_000
_ROWS_TOGETHER = 500_000

Counts: TypeAlias = npt.NDArray[np.int64]


class Way(Enum):
    """How the values of a column are counted."""

    CODES = "by numbers that only equal values share"
    HASHES = "by numbers that different values may share, and then by values where they do"
    VALUES = "by values"


@dataclass(frozen=True, slots=True)
class HashCounts:
    """How often the hashes of some values occur.

    Args:
        sums: over the hashes.
        suspects: those that occur several times, because values repeat or because different ones share a hash. None if
            there are more than `MOST_SUSPECTS`.
    """

    sums: Sums
    suspects: Hashes | None


def hash_counts(
    spark: SparkSession, pipeline: Pipeline, measures: Sequence[tuple[Groups, Way]], buckets: int
) -> list[HashCounts]:
    """Return how often hashes of values occur, for each of the measures. NULL in all columns is left out.

    Args:
        spark: the session.
        pipeline: gives the rows.
        measures: what to count, and whether by codes or by hashes.
        buckets: among how many parts the hashes are divided.
    """
    if not measures:
        return []

    def divide(chunks: Iterator[Chunk]) -> Iterator[pa.RecordBatch]:
        waiting: list[list[Hashes]] = [[] for _ in measures]
        for chunk in chunks:
            for at, (one, way) in enumerate(measures):
                keys = filled(one.keys(one.chosen(chunk.batch)))
                waiting[at].append(codes(keys[0]) if way is Way.CODES else hashes(keys))
                if sum(map(len, waiting[at])) >= _ROWS_TOGETHER:
                    yield _parts(at, way, waiting[at], buckets)
                    waiting[at] = []
        for at, (_, way) in enumerate(measures):
            if waiting[at]:
                yield _parts(at, way, waiting[at], buckets)

    def unite(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return marked(_united(batches))

    divided = through_spark(spark, pipeline, divide, _PARTS)
    found = divided.repartitionById(buckets, "bucket").mapInArrow(unite, _COUNTS).collect()
    return [total([_from_row(row) for row in found if row["at"] == at]) for at in range(len(measures))]


def tallied(given: Hashes, counts: Counts | None = None) -> tuple[Hashes, Counts]:
    """Return the different hashes, and how often each occurs.

    Args:
        given: hashes in any order.
        counts: how often each of them counts; None for once.
    """
    if counts is None:
        ordered = np.sort(given)
    else:
        order = np.argsort(given)
        ordered, counts = given[order], counts[order]
    begins = np.flatnonzero(np.concatenate([np.ones(min(1, len(ordered)), np.bool_), ordered[1:] != ordered[:-1]]))
    if counts is None:
        return ordered[begins], np.diff(begins, append=len(ordered))
    return ordered[begins], np.add.reduceat(counts, begins) if len(begins) else counts


def counted(different: Hashes, counts: Counts) -> HashCounts:
    """Return what `tallied` found as sums."""
    repeated = counts > 1
    often = counts[repeated].astype(np.float64)
    sums = Sums(int(counts.sum()), len(counts), len(counts) - len(often), math.fsum((often * np.log(often)).tolist()))
    return HashCounts(sums, different[repeated] if len(often) <= MOST_SUSPECTS else None)


def total(parts: Sequence[HashCounts]) -> HashCounts:
    """Return the counts of several parts that have no hash in common."""
    suspects = [one.suspects for one in parts if one.suspects is not None]
    known = len(suspects) == len(parts) and sum(map(len, suspects)) <= MOST_SUSPECTS
    sums = reduce(Sums.plus, (one.sums for one in parts), Sums())
    return HashCounts(sums, np.concatenate([np.zeros(0, np.uint64), *suspects]) if known else None)


def filled(keys: Sequence[pa.Array]) -> Sequence[pa.Array]:
    """Return the rows of some columns that have a value in at least one of them."""
    if not all(key.null_count for key in keys):
        return keys
    is_filled = any_valid(keys)
    return [key.filter(is_filled) for key in keys]


def _parts(at: int, way: Way, some: Sequence[Hashes], buckets: int) -> pa.RecordBatch:
    """Return a row for each bucket. Where values repeat, each hash is sent once, with a count."""
    whole, counts = np.concatenate(some), None
    if way is Way.CODES:
        whole, counts = tallied(whole)
    of_row = (whole % np.uint64(buckets)).astype(np.uint16 if buckets <= 1 << 16 else np.int64)
    order = np.argsort(of_row, kind="stable")  # a radix sort, for small numbers
    ends = np.concatenate([[0], np.cumsum(np.bincount(of_row, minlength=buckets))])
    cuts = [(one, slice(ends[one], ends[one + 1])) for one in range(buckets) if ends[one] < ends[one + 1]]
    whole = whole[order]
    counts = None if counts is None else counts[order]
    return pa.RecordBatch.from_pydict(
        {
            "bucket": pa.array([one for one, _ in cuts], pa.int32()),
            "at": pa.array([at] * len(cuts), pa.int32()),
            "hashes": pa.array([whole[cut].tobytes() for _, cut in cuts], pa.binary()),
            "counts": pa.array([None if counts is None else counts[cut].tobytes() for _, cut in cuts], pa.binary()),
        }
    )


def _united(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    parts: dict[int, list[tuple[Hashes, Counts | None]]] = {}
    for batch in batches:
        for at, some, counts in zip(*(batch.column(name) for name in ("at", "hashes", "counts")), strict=True):
            numbers = np.frombuffer(counts.as_buffer(), np.int64) if counts.is_valid else None
            parts.setdefault(at.as_py(), []).append((np.frombuffer(some.as_buffer(), np.uint64), numbers))
    for at, of_measure in parts.items():
        whole = np.concatenate([some for some, _ in of_measure])
        counts = [one for _, one in of_measure if one is not None]
        found = counted(*tallied(whole, np.concatenate(counts) if counts else None))
        yield pa.RecordBatch.from_pydict(
            {
                "at": pa.array([at], pa.int32()),
                **{name: [getattr(found.sums, name)] for name in ("filled", "distinct", "once", "weighted")},
                "suspects": pa.array([None if found.suspects is None else found.suspects.tobytes()], pa.binary()),
            }
        )


def _from_row(row: Any) -> HashCounts:
    suspects = None if row["suspects"] is None else np.frombuffer(row["suspects"], np.uint64)
    return HashCounts(Sums(row["filled"], row["distinct"], row["once"], row["weighted"]), suspects)
