"""What a job gives all of its queries: clock, metrics, live view, and when to end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gluepot.core.clock import Clock, SystemClock
from gluepot.core.datasets import Dataset
from gluepot.core.leases import TTL_SECS
from gluepot.streaming import side_tasks
from gluepot.streaming.observe.status import JobStatus
from gluepot.streaming.query.pausing import Pauses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    # Their libraries take time to load, and this module is loaded before Spark's JVM is started.
    from gluepot.streaming.observe.metrics import StreamMetrics
    from gluepot.streaming.progress import BatchStats
    from gluepot.streaming.settings import OnBatchFailure


@dataclass(frozen=True, slots=True)
class Drain:
    """When queries end by themselves. Glue's never do; with both fields at rest ours do not either.

    Args:
        until_caught_up: end when everything the source held at the start is committed.
        max_batches: end after so many committed batches; None for no limit.
    """

    until_caught_up: bool = False
    max_batches: int | None = None


ENDLESS = Drain()


@dataclass(slots=True)
class StreamSession:
    """The services of one job.

    Args:
        job: its name; a label of metrics and logs.
        clock: all waiting and all time stamps.
        metrics: None where nobody asked for them.
        status: what the queries are doing now.
        watchers: told of every committed batch; what they raise is a side task's failure.
        drain: when queries end by themselves.
        on_batch_failure: `onBatchFailure` of queries whose options do not say it.
        lease_secs: after how long without a sign of life another driver may take a query over.
        stream_options: win over those that scripts give their streams; an empty text takes the script's away.
        batch_options: win over those that scripts give `forEachBatch`.
        stand_in: makes the streams that scripts ask for, of connection type and options, in a test; None for real ones.
        stop: set to end every query after its running batch.
        pauses: which queries are to begin no further batch for a while.
        read: what was read outside of streams, by the names of lineage.
    """

    job: str = "job"
    clock: Clock = field(default_factory=SystemClock)
    metrics: StreamMetrics | None = None
    status: JobStatus = field(default_factory=JobStatus)
    watchers: list[Callable[[BatchStats], None]] = field(default_factory=list)
    drain: Drain = ENDLESS
    on_batch_failure: OnBatchFailure = "fail"
    lease_secs: float = TTL_SECS
    stream_options: Mapping[str, str] = field(default_factory=dict)
    batch_options: Mapping[str, str] = field(default_factory=dict)
    stand_in: Callable[[SparkSession, str, Mapping[str, Any]], DataFrame] | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    pauses: Pauses = field(default_factory=Pauses)
    read: set[Dataset] = field(default_factory=set)

    def side_task_failed(self, query: str, task: str, error: Exception) -> None:
        """Log and count an error in what goes on beside the batches; safe to call from any thread, raises nothing."""
        side_tasks.warn(query, task, error)
        if self.metrics is not None:
            with suppress(Exception):  # the metrics may be what fails
                self.metrics.side_task_failure(query, task)


_current = StreamSession()


def install(session: StreamSession) -> None:
    """Make a session the one that `forEachBatch` uses; the job runner calls it once, before the script starts."""
    global _current  # noqa: PLW0603  a script reaches the engine only through Glue's signatures
    _current = session


def current() -> StreamSession:
    """Return the installed session, or a plain one when a script runs without the job runner."""
    return _current
