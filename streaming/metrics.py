"""The job's Prometheus metrics: their names, and how a finished batch moves them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from streaming.progress import BatchStats, input_rate, process_rate, window_ratio

BATCH_SECS_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 100, 120, 300, 600, 1800)
"""From our floor for an empty function to half an hour, with the usual windows (10, 30, 60, 100 s) as bounds."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What a metric is called, and what it says.

    Args:
        name: without the prefix `gluepot_`, and for counters without the suffix `_total`.
        meaning: the help text, unit included.
        label: label beside `job` and `query`, or empty.
        glue: AWS's name of the same number (job metrics of the Glue guide), or empty.
    """

    name: str
    meaning: str
    label: str = ""
    glue: str = ""

    @property
    def help(self) -> str:
        """The help text as exposed; names AWS's metric where there is one."""
        return f"{self.meaning} AWS Glue: {self.glue}." if self.glue else self.meaning

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names in the order in which values are given."""
        return ("job", "query", self.label) if self.label else ("job", "query")


GAUGES = (
    Metric("batch_rows", "Records in the last batch.", glue="glue.driver.streaming.numRecords"),
    Metric("last_batch_seconds", "Time of the last batch.", glue="glue.driver.streaming.batchProcessingTimeInMs"),
    Metric("batch_id", "Number of the last committed batch."),
    Metric("input_rate", "Rows per second since the previous batch began."),
    Metric("process_rate", "Rows per second of batch time."),
    Metric("window_seconds", "Configured time between two batch starts; 0 for none."),
    Metric("batch_window_ratio", "Time of the last batch over the window; above 1 the stream falls behind."),
    Metric("last_commit_timestamp_seconds", "When the last batch was committed, in seconds since 1970 UTC."),
    Metric("lag_records", "Records behind the newest one.", label="partition"),
    Metric(
        "lag_seconds",
        "Age of the newest record read; 0 when nothing is behind it.",
        label="partition",
        glue="glue.driver.streaming.maxConsumerLagInMs (the largest, in ms)",
    ),
)

COUNTERS = (
    Metric("rows_in", "Records read.", glue="glue.driver.aggregate.recordsRead"),
    Metric("rows_out", "Records written.", glue="glue.driver.recordsWritten"),
    Metric("bytes_in", "Payload bytes read.", glue="glue.driver.aggregate.bytesRead"),
    Metric("bytes_out", "Bytes of published files.", glue="glue.driver.bytesWrittten"),  # AWS's own spelling
    Metric("files_written", "Published files.", glue="glue.driver.filesWritten"),
    Metric("rows_rejected", "Records diverted to the rejects.", label="reason"),
    Metric("retries", "Batches started again after a failure."),
    Metric("failures", "Failed attempts of a batch."),
    Metric("empty_batches", "Triggers that found no record."),
)

HISTOGRAMS = (
    Metric("batch_duration_seconds", "Time from the begin of a batch to its commit."),
    Metric("batch_phase_seconds", "Time by phase of a batch; phases in tasks are sums over tasks.", label="phase"),
)


class StreamMetrics:
    """The metrics of one job's queries. Safe to call from the threads of several queries.

    Args:
        registry: where the metrics are registered; one `StreamMetrics` per registry.
        job: value of the label `job`.
    """

    def __init__(self, registry: CollectorRegistry, job: str) -> None:
        self._job = job
        self._gauges = {m.name: Gauge(f"gluepot_{m.name}", m.help, m.labels, registry=registry) for m in GAUGES}
        self._counters = {m.name: Counter(f"gluepot_{m.name}", m.help, m.labels, registry=registry) for m in COUNTERS}
        self._histograms = {
            m.name: Histogram(f"gluepot_{m.name}", m.help, m.labels, registry=registry, buckets=BATCH_SECS_BUCKETS)
            for m in HISTOGRAMS
        }
        self._partitions: dict[tuple[str, str], frozenset[str]] = {}

    def announce(self, query: str, window_secs: float) -> None:
        """Show a query's counters at zero before anything happened, so that a first failure is seen as a rise."""
        for metric in COUNTERS:
            if not metric.label:
                self._count(metric.name, 0, query)
        self._set("window_seconds", window_secs, query)

    def observe(self, stats: BatchStats) -> None:
        """Take in a committed batch."""
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
        for reason, rows in stats.rejected.items():
            self._count("rows_rejected", rows, query, reason)
        self._histograms["batch_duration_seconds"].labels(self._job, query).observe(stats.duration_secs)
        for phase, secs in stats.phase_secs.items():
            self._histograms["batch_phase_seconds"].labels(self._job, query, phase).observe(secs)
        self._show_partitions("lag_records", query, stats.lag_records)
        self._show_partitions("lag_seconds", query, stats.lag_secs)

    def retry(self, query: str) -> None:
        """Count a batch that is started again."""
        self._count("retries", 1, query)

    def failure(self, query: str) -> None:
        """Count a failed attempt, whether or not another follows."""
        self._count("failures", 1, query)

    def empty(self, query: str) -> None:
        """Count a trigger that found nothing; the batch size shown is then 0, as in Glue."""
        self._count("empty_batches", 1, query)
        self._set("batch_rows", 0, query)

    def _show_partitions(self, name: str, query: str, values: Mapping[str, float]) -> None:
        """Show these partitions and no others: one that is gone or idle would keep its last value for ever."""
        shown = self._partitions.get((name, query), frozenset())
        for partition in shown - values.keys():
            self._gauges[name].remove(self._job, query, partition)
        for partition, value in values.items():
            self._set(name, value, query, partition)
        self._partitions[name, query] = frozenset(values)

    def _set(self, name: str, value: float, *labels: str) -> None:
        self._gauges[name].labels(self._job, *labels).set(value)

    def _count(self, name: str, amount: float, *labels: str) -> None:
        self._counters[name].labels(self._job, *labels).inc(amount)
