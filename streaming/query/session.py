"""The services that a job gives to all of its queries: clock, metrics, live view, and the rule when they end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from gluepot.core.clock import Clock, SystemClock
from gluepot.core.datasets import Dataset
from gluepot.core.leases import TTL_SECS
from gluepot.core.on_malformed import OnMalformed
from gluepot.streaming import side_tasks
from gluepot.streaming.observe.status import JobStatus
from gluepot.streaming.query.pausing import Pauses
from gluepot.streaming.query.thread_failures import ThreadFailures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    # These modules load large libraries, and this module is imported before Spark's JVM starts.
    from gluepot.quality.results import Checked
    from gluepot.streaming.observe.metrics import StreamMetrics
    from gluepot.streaming.progress import BatchStats
    from gluepot.streaming.settings import OnBatchFailure


@dataclass(frozen=True, slots=True)
class Drain:
    """When queries end by themselves. Glue's queries never do; neither do ours with the default values.

    Args:
        until_caught_up: end when all records that the source held at the start are committed.
        max_batches: end after this many committed batches; None for no limit.
    """

    until_caught_up: bool = False
    max_batches: int | None = None


ENDLESS = Drain()


@dataclass(slots=True)
class StreamSession:
    """The services of one job.

    Args:
        job: the name of the job, a label of metrics and logs.
        clock: used for all waiting and all time stamps.
        metrics: the job's metrics; None if the user did not ask for them.
        status: what the queries are doing now.
        watchers: called after every committed batch, by one query at a time; an error that they raise counts as a side
            task's failure.
        check_watchers: called with every result of a data quality check, also of a batch that fails later.
        drain: when queries end by themselves.
        on_batch_failure: `onBatchFailure` of queries whose options do not set it.
        on_malformed: what happens to records that cannot be read as rows.
        is_strict: whether what looks like a mistake in the data ends the job, instead of a warning.
        lease_secs: after how many seconds without a renewed lease another driver may take over a query.
        stream_options: override the options that scripts give to their streams; an empty text removes the script's.
        batch_options: override the options that scripts give to `forEachBatch`.
        stand_in: in a test, makes a script's streams from connection type and options; None for real streams.
        stop: set to end every query after its running batch.
        running: the queries that run; a signal handler reads it, which may wait for no lock.
        pauses: which queries are asked to pause.
        read: the datasets that were read outside of streams, by their lineage names.
        arguments: all arguments of the job that the script has asked for so far.
        thread_failures: streams that a thread has asked for and that did not run.
        upstream_ages_secs: how old the last commit of each job of `--after` was when the job began to work.
        watching: held while watchers are called, because the queries of a job run in different threads.
    """

    job: str = "job"
    clock: Clock = field(default_factory=SystemClock)
    metrics: StreamMetrics | None = None
    status: JobStatus = field(default_factory=JobStatus)
    watchers: list[Callable[[BatchStats], None]] = field(default_factory=list)
    check_watchers: list[Callable[[Checked], None]] = field(default_factory=list)
    drain: Drain = ENDLESS
    on_batch_failure: OnBatchFailure = "fail"
    on_malformed: OnMalformed = OnMalformed.KEEP
    is_strict: bool = False
    lease_secs: float = TTL_SECS
    stream_options: Mapping[str, str] = field(default_factory=dict)
    batch_options: Mapping[str, str] = field(default_factory=dict)
    stand_in: Callable[[SparkSession, str, Mapping[str, Any]], DataFrame] | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    running: set[object] = field(default_factory=set)
    pauses: Pauses = field(default_factory=Pauses)
    read: set[Dataset] = field(default_factory=set)
    arguments: dict[str, str | None] = field(default_factory=dict)
    thread_failures: ThreadFailures = field(default_factory=ThreadFailures)
    upstream_ages_secs: dict[str, float] = field(default_factory=dict)
    watching: threading.RLock = field(default_factory=threading.RLock)

    def committed(self, stats: BatchStats, beside: Callable[[str, Callable[[], None]], object]) -> None:
        """Tell the watchers of a committed batch.

        Args:
            stats: of the batch.
            beside: runs a side task under its name, and raises nothing.
        """
        with self.watching:
            for watch in self.watchers:
                beside(side_tasks.name_of(watch), partial(watch, stats))

    def checked(self, checked: Checked) -> None:
        """Tell the watchers of a result of a data quality check; safe to call from any thread, raises nothing."""
        with self.watching:
            for watch in self.check_watchers:
                try:
                    watch(checked)
                except Exception as failed:  # noqa: BLE001  no error of a side task may fail the job
                    self.side_task_failed("", side_tasks.name_of(watch), failed)

    def side_task_failed(self, query: str, task: str, error: Exception) -> None:
        """Log and count an error of a side task; safe to call from any thread, raises nothing."""
        side_tasks.warn(query, task, error)
        if self.metrics is not None:
            with suppress(Exception):  # the metrics may be what fails
                self.metrics.side_task_failure(query, task)


_current = StreamSession()


def install(session: StreamSession) -> None:
    """Set the session that `forEachBatch` uses; the job runner calls this once, before the script starts."""
    global _current  # noqa: PLW0603  a script reaches the engine only through Glue's signatures
    _current = session


def current() -> StreamSession:
    """Return the installed session, or a default one if a script runs without the job runner."""
    return _current
