"""What the newest batches of each query did: a watcher with a memory that does not grow."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gluepot.engine.write_totals import WrittenFile
from gluepot.frames.schema.changes import ColumnChange
from gluepot.streaming.progress import BatchStats, input_rate, process_rate, window_ratio
from gluepot.streaming.side_tasks import side_task

WhatT = TypeVar("WhatT")

MOST_QUERIES = 64
MOST_BATCHES = 240
MOST_FILES = 60
MOST_REJECTS_FILES = 3
MOST_CHANGES = 60
MOST_POSITIONS = 50


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch in the numbers that are kept of it; those of its shards are added up.

    Args:
        batch_id: number of the micro-batch.
        committed_epoch: when it was committed, in seconds since 1970 UTC.
        duration_secs: how long it took.
        window_secs: how long it may take; 0 where the next batch starts at once.
        window_ratio: the former over the latter; 0 without a window.
        input_rate: rows per second that came.
        process_rate: rows per second of batch time.
        rows_in: records read.
        rows_out: records written.
        bytes_in: payload bytes read.
        bytes_out: bytes of the files published.
        files: files published.
        rejected: records put aside, by reason.
        attempts: 1 when the first try succeeded.
        lag_records: records behind it; None where that is not known.
        lag_secs: how long the oldest record behind it had waited, at most; None where that is not known.
        phase_secs: seconds by phase.
    """

    batch_id: int
    committed_epoch: float
    duration_secs: float
    window_secs: float
    window_ratio: float
    input_rate: float
    process_rate: float
    rows_in: int
    rows_out: int
    bytes_in: int
    bytes_out: int
    files: int
    rejected: Mapping[str, int]
    attempts: int
    lag_records: int | None
    lag_secs: float | None
    phase_secs: Mapping[str, float]

    @classmethod
    def of(cls, stats: BatchStats) -> Batch:
        """Return what is kept of a batch."""
        return cls(
            batch_id=stats.batch_id,
            committed_epoch=stats.committed_epoch,
            duration_secs=stats.duration_secs,
            window_secs=stats.window_secs,
            window_ratio=window_ratio(stats),
            input_rate=input_rate(stats),
            process_rate=process_rate(stats),
            rows_in=stats.rows_in,
            rows_out=stats.rows_out,
            bytes_in=stats.bytes_in,
            bytes_out=stats.bytes_out,
            files=stats.files,
            rejected=dict(stats.rejected),
            attempts=stats.attempts,
            lag_records=sum(stats.lag_records.values()) if stats.lag_records else None,
            lag_secs=max(stats.lag_secs.values(), default=None),
            phase_secs=dict(stats.phase_secs),
        )


@dataclass(frozen=True, slots=True)
class FromBatch(Generic[WhatT]):
    """Something a batch brought: a file, or the change of a column."""

    batch_id: int
    committed_epoch: float
    what: WhatT


@dataclass(frozen=True, slots=True)
class Position:
    """Where a query stands in one shard.

    Args:
        stream: topic or stream.
        shard: partition or shard.
        start: first position of the newest batch that read it.
        end: one past the last one: where the next batch begins.
        lag_records: records behind; None where that is not known.
        lag_secs: how long the oldest of them has waited, at most; likewise.
    """

    stream: str
    shard: str
    start: int
    end: int
    lag_records: int | None = None
    lag_secs: float | None = None


@dataclass(frozen=True, slots=True)
class QueryHistory:
    """What is remembered of a query: batches, files and changes oldest first, positions with the worst lag first.

    Args:
        batches: at most `MOST_BATCHES`.
        files: with records, at most `MOST_FILES`.
        rejects: files of rejected records, at most `MOST_REJECTS_FILES`.
        changes: changes of columns, at most `MOST_CHANGES`.
        positions: positions of the newest batch, at most `MOST_POSITIONS`.
        shards: how many positions there are.
        rejected: records put aside since the run began, by reason.
    """

    batches: Sequence[Batch] = ()
    files: Sequence[FromBatch[WrittenFile]] = ()
    rejects: Sequence[FromBatch[WrittenFile]] = ()
    changes: Sequence[FromBatch[ColumnChange]] = ()
    positions: Sequence[Position] = ()
    shards: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)

    @property
    def newest(self) -> Batch | None:
        """The last batch; None before the first."""
        return self.batches[-1] if self.batches else None


NOTHING = QueryHistory()


@dataclass(slots=True)
class _Kept:
    batches: deque[Batch] = field(default_factory=lambda: deque(maxlen=MOST_BATCHES))
    files: deque[FromBatch[WrittenFile]] = field(default_factory=lambda: deque(maxlen=MOST_FILES))
    rejects: deque[FromBatch[WrittenFile]] = field(default_factory=lambda: deque(maxlen=MOST_REJECTS_FILES))
    changes: deque[FromBatch[ColumnChange]] = field(default_factory=lambda: deque(maxlen=MOST_CHANGES))
    positions: Sequence[Position] = ()
    shards: int = 0
    rejected: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class History:
    """The newest batches of a job's queries. Safe to use from any thread, without waiting for a batch."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _queries: dict[str, _Kept] = field(default_factory=dict)

    @side_task("page")
    def update(self, stats: BatchStats) -> None:
        """Take in a committed batch; queries beyond `MOST_QUERIES` are left out."""
        batch, positions = Batch.of(stats), _positions(stats)
        with self._lock:
            if stats.query not in self._queries and len(self._queries) >= MOST_QUERIES:
                return
            kept = self._queries.setdefault(stats.query, _Kept())
            kept.batches.append(batch)
            for file in stats.written:
                files = kept.rejects if file.rejects else kept.files
                files.append(FromBatch(stats.batch_id, stats.committed_epoch, file))
            kept.changes.extend(FromBatch(stats.batch_id, stats.committed_epoch, one) for one in stats.column_changes)
            kept.rejected.update(stats.rejected)
            if positions:
                kept.positions, kept.shards = positions[:MOST_POSITIONS], len(positions)

    def of(self, query: str) -> QueryHistory:
        """Return what is remembered of a query."""
        with self._lock:
            kept = self._queries.get(query)
            if kept is None:
                return NOTHING
            return QueryHistory(
                batches=tuple(kept.batches),
                files=tuple(kept.files),
                rejects=tuple(kept.rejects),
                changes=tuple(kept.changes),
                positions=kept.positions,
                shards=kept.shards,
                rejected=dict(kept.rejected),
            )


def _positions(stats: BatchStats) -> list[Position]:
    found = [
        Position(
            one.stream,
            one.shard,
            one.start,
            one.end,
            stats.lag_records.get(f"{one.stream}-{one.shard}"),
            stats.lag_secs.get(f"{one.stream}-{one.shard}"),
        )
        for one in stats.ranges
    ]
    return sorted(found, key=lambda one: -(one.lag_records or 0))
