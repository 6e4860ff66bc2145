"""Updates the job's Prometheus metrics after each batch; `metric_names` lists them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from gluepot.streaming.observe.capacity import Capacity
from gluepot.streaming.observe.committed_rows import CommittedRows
from gluepot.streaming.observe.first_times import FirstTimes
from gluepot.streaming.observe.lag import Lag
from gluepot.streaming.observe.metric_names import (
    ADVICE,
    CHECK_COUNTERS,
    CHECK_GAUGES,
    COUNTERS,
    GAUGES,
    HISTOGRAMS,
    LAG,
    MOST_LABEL_VALUES,
    PREFIX,
)
from gluepot.streaming.observe.partition_gauges import SHOWN, PartitionGauges
from gluepot.streaming.progress import BatchStats, input_rate, process_rate, window_ratio
from gluepot.streaming.side_tasks import side_task

if TYPE_CHECKING:
    from gluepot.quality.results import Checked
    from gluepot.streaming.advisor import Advice

OTHER = "other"
SCHEMA_CHANGES = ("added", "type")
# The value of a metric is a double, which is not exact for larger integers.
MOST_EXACT = 2**53


class StreamMetrics:
    """The metrics of one job's queries. Safe to call from the threads of several queries.

    Args:
        registry: where the metrics are registered; one `StreamMetrics` per registry.
        job: value of the label `job`.
        by_partition: whether to show lag by partition, too. Prometheus keeps a series for each of thousands.
    """

    def __init__(self, registry: CollectorRegistry, job: str, *, by_partition: bool = False) -> None:
        self._job = job
        gauges = [one for one in (*GAUGES, *LAG, *ADVICE, *CHECK_GAUGES) if one not in SHOWN]
        self._gauges = {one.name: Gauge(PREFIX + one.name, one.help, one.labels, registry=registry) for one in gauges}
        self._counters = {
            one.name: Counter(PREFIX + one.name, one.help, one.labels, registry=registry)
            for one in (*COUNTERS, *CHECK_COUNTERS)
        }
        self._histograms = {
            one.name: Histogram(PREFIX + one.name, one.help, one.labels, registry=registry, buckets=one.buckets)
            for one in HISTOGRAMS
        }
        self._committed = CommittedRows(job)
        registry.register(self._committed)
        self._by_partition = PartitionGauges(job) if by_partition else None
        if self._by_partition is not None:
            registry.register(self._by_partition)
        self._showing_lag = threading.Lock()
        self._evaluations = FirstTimes()
        self._label_values: dict[tuple[str, str], set[str]] = {}

    def announce(self, query: str, window_secs: float) -> None:
        """Show a query's counters at zero from the start, so that Prometheus sees a first failure as an increase."""
        for metric in COUNTERS:
            if not metric.by:
                self._count(metric.name, 0, query)
        for kind in SCHEMA_CHANGES:
            self._count("schema_changes", 0, query, kind)
        self._set("window_seconds", window_secs, query)

    def observe(self, stats: BatchStats) -> None:
        """Update all metrics of a query after a committed batch."""
        query = stats.query
        self._set("batch_rows", stats.rows_in, query)
        self._set("last_batch_seconds", stats.duration_secs, query)
        self._set("batch_id", stats.batch_id, query)
        self._set("input_rate", input_rate(stats), query)
        self._set("process_rate", process_rate(stats), query)
        self._set("window_seconds", stats.window_secs, query)
        self._set("batch_window_ratio", window_ratio(stats), query)
        self._set("last_commit_timestamp_seconds", stats.committed_epoch, query)
        self._count("rows_in", stats.rows_in, query)
        self._count("rows_out", stats.rows_out, query)
        self._count("bytes_in", stats.bytes_in, query)
        self._count("bytes_out", stats.bytes_out, query)
        self._count("files_written", stats.files, query)
        self._count("batches", 1, query)
        read, writes = stats.account.read, stats.account.writes
        self._count("rows_delivered", read.delivered, query)
        self._count("rows_rejected_in_read", read.rejected, query)
        self._count("rows_left_out", read.left_out, query)
        self._count("rows_arrived", writes.arrived, query)
        self._count("rows_refused", writes.refused, query)
        self._count("rows_skipped", writes.skipped, query)
        for reason, rows in stats.rejected.items():
            self._count("rows_rejected", rows, query, self._bounded("rows_rejected", query, reason))
        for column, values in stats.misfits.items():
            self._count("values_nulled", values, query, self._bounded("values_nulled", query, column))
        for kind, columns in stats.schema_changes.items():
            self._count("schema_changes", columns, query, kind)
        self._take("batch_duration_seconds", stats.duration_secs, query)
        for phase, secs in stats.phase_secs.items():
            self._take("batch_phase_seconds", secs, query, phase)
        for secs in stats.latency_secs.values():
            self._take("record_latency_seconds", secs, query)
        for size_bytes in stats.file_sizes_bytes:
            self._take("file_size_bytes", size_bytes, query)
        self._committed.take(query, stats.rows_in_table)
        self.lag(query, Lag(stats.lag_records, stats.lag_secs))
        self._show_source(stats)

    def phases(self, query: str, phase_secs: Mapping[str, float]) -> None:
        """Take the phases of a batch that Spark has measured."""
        for phase, secs in phase_secs.items():
            self._take("batch_phase_seconds", secs, query, phase)

    def lag(self, query: str, lag: Lag) -> None:
        """Show the known lag. An empty `Lag`, from an unreachable broker, changes nothing, so it is not shown as 0."""
        with self._showing_lag:
            if lag.records:
                self._set("lag_total_records", sum(lag.records.values()), query)
                self._set("lag_worst_records", max(lag.records.values()), query)
            if lag.secs:
                self._set("lag_worst_seconds", max(lag.secs.values()), query)
            if self._by_partition is not None:
                self._by_partition.show("lag_records", query, lag.records)
                self._by_partition.show("lag_seconds", query, lag.secs)

    def capacity(self, capacity: Capacity) -> None:
        """Show the number of workers and task slots."""
        self._set("workers", capacity.workers)
        self._set("task_slots", capacity.slots)

    @side_task("metrics")
    def advise(self, query: str, advice: Advice) -> None:
        """Show the advice after a batch."""
        self._set("advised_workers", advice.wanted_workers, query)
        self._set("advice_confidence", advice.confidence, query)
        for limit in type(advice.limit):
            self._set("advice_limit", limit is advice.limit, query, limit.value)
        if advice.fixed_secs is not None:
            self._set("batch_fixed_seconds", advice.fixed_secs, query)
        if advice.worker_rate is not None:
            self._set("worker_rate", advice.worker_rate, query)

    @side_task("metrics")
    def checked(self, checked: Checked) -> None:
        """Show a result of a data quality check. An evaluation that a repeated batch makes again counts once."""
        result = checked.result
        context = self._bounded("quality", "", result.source.context)
        self._set("quality_score", result.score, context)
        if self._evaluations.is_first(result.evaluation):
            self._count("quality_rules_passed", result.passed, context)
            self._count("quality_rules_failed", result.failed, context)

    def retry(self, query: str) -> None:
        """Count a batch that is started again."""
        self._count("retries", 1, query)

    def failure(self, query: str) -> None:
        """Count a failed attempt, whether or not a retry follows."""
        self._count("failures", 1, query)

    def side_task_failure(self, query: str, task: str) -> None:
        """Count an error of a side task."""
        self._count("side_task_failures", 1, query, task)

    def group_commits(self, query: str, made: int, failed: int) -> None:
        """Count commits to consumer groups after a batch."""
        self._count("group_commits", made, query)
        self._count("group_commit_failures", failed, query)

    def empty(self, query: str) -> None:
        """Count a trigger that found no records; the batch size shown is then 0, as in Glue."""
        self._count("empty_batches", 1, query)
        self._set("batch_rows", 0, query)

    def _show_source(self, stats: BatchStats) -> None:
        for source, stream in stats.streams:
            self._set("source_info", 1, stats.query, source, self._bounded("source_info", stats.query, stream))
        if stats.positions:
            self._set("partitions", len(stats.positions), stats.query)
        if self._by_partition is not None:
            exact = {shard: end for shard, end in stats.positions.items() if end <= MOST_EXACT}
            self._by_partition.show("position", stats.query, exact)

    def _bounded(self, name: str, query: str, value: str) -> str:
        """Return the value, or `OTHER` if the query already shows `MOST_LABEL_VALUES` values of this label."""
        known = self._label_values.setdefault((name, query), set())
        if value not in known and len(known) >= MOST_LABEL_VALUES:
            return OTHER
        known.add(value)
        return value

    def _set(self, name: str, value: float, *labels: str) -> None:
        self._gauges[name].labels(self._job, *labels).set(value)

    def _count(self, name: str, amount: float, *labels: str) -> None:
        self._counters[name].labels(self._job, *labels).inc(amount)

    def _take(self, name: str, value: float, *labels: str) -> None:
        self._histograms[name].labels(self._job, *labels).observe(value)
