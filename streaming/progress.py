"""The numbers of one finished micro-batch, and rates computed from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gluepot.connectors.values import SourceRange
from gluepot.core.datasets import Dataset
from gluepot.engine.account import Account
from gluepot.engine.write_totals import Output, WrittenFile
from gluepot.frames.schema.changes import ColumnChange
from gluepot.quality.results import Checked


@dataclass(frozen=True, slots=True)
class BatchStats:
    """One committed micro-batch in numbers.

    Args:
        query: name of the query, as shown to the user.
        batch_id: number of the micro-batch.
        window_secs: configured time between two batch starts; 0 if the next batch starts at once.
        started_epoch: when the batch began, in seconds since 1970 UTC.
        duration_secs: time from the start of the attempt that succeeded to its commit.
        previous_started_epoch: when the batch before began; None for the first batch of this run.
        phase_secs: seconds by phase (fetch, parse, transform, write, publish); those in tasks are sums over tasks.
        rows_in: records read.
        rows_out: records written.
        bytes_in: payload bytes read.
        bytes_out: bytes of the files published.
        files: files published.
        file_sizes_bytes: sizes of the files with records, without rejects files.
        schema_changes: columns of the stream's records that are new or changed their type, by kind.
        rejected: records diverted, by reason.
        streams: kind and name of the streams read.
        positions: where the next batch begins, by shard (`topic-partition`).
        attempts: number of attempts; 1 if the first one succeeded.
        lag_records: number of records that wait, by shard (`topic-partition`).
        lag_secs: the longest time that the oldest of them can have waited, 0 if none waits, by shard.
        latency_secs: time from the creation of the newest record read to the commit, by shard.
        divisible: whether there were enough records for several tasks of each partition, and source and sinks allow it.
        ranges: the ranges that were read; empty for a stream of a foreign source.
        written: the published files, including those of rejected records.
        column_changes: the changes that `schema_changes` counts, column by column.
        rows_in_table: the rows that the query has in each table, by URL, over all of its runs.
        inputs: the data sets that were read, by their lineage names; without foreign sources.
        outputs: the outputs of each write; without records sent to streams.
        checks: what checks of data quality found.
        misfits: how many values became null because they are not of the type that the script declares, by field.
        account: the balances of the batch.
    """

    query: str
    batch_id: int
    window_secs: float
    started_epoch: float
    duration_secs: float
    previous_started_epoch: float | None = None
    phase_secs: Mapping[str, float] = field(default_factory=dict)
    rows_in: int = 0
    rows_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    files: int = 0
    file_sizes_bytes: Sequence[int] = ()
    schema_changes: Mapping[str, int] = field(default_factory=dict)
    rejected: Mapping[str, int] = field(default_factory=dict)
    streams: Sequence[tuple[str, str]] = ()
    positions: Mapping[str, int] = field(default_factory=dict)
    attempts: int = 1
    lag_records: Mapping[str, int] = field(default_factory=dict)
    lag_secs: Mapping[str, float] = field(default_factory=dict)
    latency_secs: Mapping[str, float] = field(default_factory=dict)
    divisible: bool = False
    ranges: Sequence[SourceRange] = ()
    written: Sequence[WrittenFile] = ()
    column_changes: Sequence[ColumnChange] = ()
    rows_in_table: Mapping[str, int] = field(default_factory=dict)
    inputs: Sequence[Dataset] = ()
    outputs: Sequence[Output] = ()
    checks: Sequence[Checked] = ()
    misfits: Mapping[str, int] = field(default_factory=dict)
    account: Account = field(default_factory=Account)

    @property
    def committed_epoch(self) -> float:
        """When the batch was committed, in seconds since 1970 UTC."""
        return self.started_epoch + self.duration_secs


def input_rate(stats: BatchStats) -> float:
    """Return rows per second since the previous batch began: Spark's `inputRowsPerSecond`.

    It is 0.0 for the first batch of a run; Spark's `ProgressContext`, too, takes the time before that as infinite.
    """
    if stats.previous_started_epoch is None:
        return 0.0
    return _rate(stats.rows_in, stats.started_epoch - stats.previous_started_epoch)


def process_rate(stats: BatchStats) -> float:
    """Return rows per second of batch time: Spark's `processedRowsPerSecond`."""
    return _rate(stats.rows_in, stats.duration_secs)


def window_ratio(stats: BatchStats) -> float:
    """Return the batch time divided by the window; above 1 the stream falls behind. 0.0 if there is no window."""
    return stats.duration_secs / stats.window_secs if stats.window_secs > 0 else 0.0


def duration_quantile(history: Sequence[BatchStats], quantile: float) -> float | None:
    """Return the batch time, in seconds, that this share of the batches did not exceed (nearest rank).

    Args:
        history: batches in any order.
        quantile: 0.5 for the median, 0.95 for p95; above 0, at most 1.

    Returns:
        A time that one of the batches really took; None for an empty history.
    """
    durations = sorted(stats.duration_secs for stats in history)
    if not durations:
        return None
    return durations[math.ceil(quantile * len(durations)) - 1]


def _rate(rows: int, secs: float) -> float:
    return rows / secs if secs > 0 else 0.0
