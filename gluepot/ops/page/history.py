"""Remembers the newest batches of each query, in a memory of limited size."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gluepot.engine.account import Account
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
    """The numbers that are kept of one batch, summed over its shards.

    Args:
        batch_id: number of the micro-batch.
        committed_epoch: when it was committed, in seconds since 1970 UTC.
        duration_secs: how long it took.
        window_secs: how long it may take; 0 if the next batch starts at once.
        window_ratio: `duration_secs` divided by `window_secs`; 0 if there is no window.
        input_rate: rows per second that arrived.
        process_rate: rows per second of batch time.
        rows_in: number of records read.
        rows_out: number of records written.
        bytes_in: payload bytes read.
        bytes_out: total size of the published files.
        files: number of published files.
        rejected: number of rejected records, by reason.
        attempts: number of attempts; 1 if the first one succeeded.
        lag_records: number of records that waited at its end; None if unknown.
        lag_secs: the longest time that the oldest of them can have waited; None if unknown.
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
        """Return the numbers to keep of a batch."""
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
    """A file or a changed column, with the batch that it comes from."""

    batch_id: int
    committed_epoch: float
    what: WhatT


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a query in one shard.

    Args:
        stream: topic or stream.
        shard: partition or shard.
        start: first position of the newest batch that read the shard.
        end: the position at which the next batch begins.
        lag_records: number of records that wait; None if unknown.
        lag_secs: the longest time that the oldest of them can have waited; None if unknown.
    """

    stream: str
    shard: str
    start: int
    end: int
    lag_records: int | None = None
    lag_secs: float | None = None


@dataclass(frozen=True, slots=True)
class QueryHistory:
    """The history of a query: batches, files and changes oldest first, positions with the worst lag first.

    Args:
        batches: the newest batches, at most `MOST_BATCHES`.
        files: the newest files with records, at most `MOST_FILES`.
        rejects: files of rejected records, at most `MOST_REJECTS_FILES`.
        changes: changes of columns, at most `MOST_CHANGES`.
        positions: positions of the newest batch, at most `MOST_POSITIONS`.
        shards: number of all positions.
        rejected: number of records rejected since the run began, by reason.
        account: the balances since the run began.
    """

    batches: Sequence[Batch] = ()
    files: Sequence[FromBatch[WrittenFile]] = ()
    rejects: Sequence[FromBatch[WrittenFile]] = ()
    changes: Sequence[FromBatch[ColumnChange]] = ()
    positions: Sequence[Position] = ()
    shards: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    account: Account = field(default_factory=Account)

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
    account: Account = field(default_factory=Account)


@dataclass(slots=True)
class History:
    """The newest batches of a job's queries. Safe to use from any thread, without waiting for a batch."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _queries: dict[str, _Kept] = field(default_factory=dict)

    @side_task("page")
    def update(self, stats: BatchStats) -> None:
        """Add a committed batch; queries beyond `MOST_QUERIES` are left out."""
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
            kept.account += stats.account
            if positions:
                kept.positions, kept.shards = positions[:MOST_POSITIONS], len(positions)

    def of(self, query: str) -> QueryHistory:
        """Return the history of a query."""
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
                account=kept.account,
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
