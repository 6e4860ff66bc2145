"""Exposes AWS Glue's own metrics under the names of Prometheus' exporter for CloudWatch, for boards that use these.

The metrics and their types are those of the Glue guide (job and observability metrics). For example, the exporter calls
`glue.driver.aggregate.bytesRead` of the namespace `Glue` `glue_glue_driver_aggregate_bytes_read_sum`. Dimensions become
labels in the same spelling. Metrics of data quality have a namespace of their own, `Glue Data Quality`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gluepot.quality.results import Checked, Result
from gluepot.streaming.observe.first_times import FirstTimes
from gluepot.streaming.observe.metric_names import MOST_LABEL_VALUES
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.side_tasks import side_task

# The interval of Glue's reports. A metric of type `count` has the sum since the report before.
REPORT_SECS = 30

ALL_RUNS = "ALL"
NAMESPACE = "glue"
QUALITY_NAMESPACE = "glue_data_quality"
_STATISTICS = {"count": ("sum",), "gauge": ("average", "maximum")}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class GlueMetric:
    """One of Glue's metrics.

    Args:
        name: name in CloudWatch.
        type: `count` is summed between two reports; `gauge` is the value of the last committed batch.
        value: returns the value of a batch; None if it is not known.
    """

    name: str
    type: Literal["count", "gauge"]
    value: Callable[[BatchStats], float | None]

    def exported(self, statistic: str) -> str:
        """Return the exporter's name of one of its statistics."""
        return _exported(NAMESPACE, self.name, statistic)


GLUE_METRICS = (
    GlueMetric("glue.driver.aggregate.bytesRead", "count", lambda stats: stats.bytes_in),
    GlueMetric("glue.driver.aggregate.recordsRead", "count", lambda stats: stats.rows_in),
    GlueMetric("glue.driver.aggregate.elapsedTime", "count", lambda stats: stats.duration_secs * 1000),
    GlueMetric("glue.driver.recordsWritten", "count", lambda stats: stats.rows_out),
    GlueMetric("glue.driver.bytesWrittten", "count", lambda stats: stats.bytes_out),  # AWS's own spelling
    GlueMetric("glue.driver.filesWritten", "count", lambda stats: stats.files),
    GlueMetric("glue.driver.streaming.numRecords", "gauge", lambda stats: stats.rows_in),
    GlueMetric("glue.driver.streaming.batchProcessingTimeInMs", "gauge", lambda stats: stats.duration_secs * 1000),
    GlueMetric(
        "glue.driver.streaming.maxConsumerLagInMs",
        "gauge",
        lambda stats: max(stats.lag_secs.values()) * 1000 if stats.lag_secs else None,
    ),
)


# The metrics of a data quality check, which have the type `count`.
QUALITY_METRICS: Mapping[str, Callable[[Result], float]] = {
    "glue.data.quality.rules.passed": lambda result: result.passed,
    "glue.data.quality.rules.failed": lambda result: result.failed,
}


class GlueNames(Collector):
    """Exposes a job's batches and data quality checks under Glue's names.

    Safe to use from any thread, and never waits for a batch.

    Args:
        job: value of the dimension `JobName`.
        run_id: value of the dimension `JobRunId`; all metrics are also exposed for `ALL`.
        epoch: gives the time, in seconds since 1970 UTC.
    """

    def __init__(self, job: str, run_id: str, epoch: Callable[[], float]) -> None:
        self._job = job
        self._runs = (run_id, ALL_RUNS)
        self._epoch = epoch
        self._gauges: dict[str, float] = {}
        self._counts: dict[str, dict[int, float]] = {}
        self._quality: dict[tuple[str, str], dict[int, float]] = {}
        self._evaluations = FirstTimes()
        self._turn = threading.Lock()

    @side_task("cloudwatch_names")
    def update(self, stats: BatchStats) -> None:
        """Update the metrics after a committed batch."""
        report = int(self._epoch() // REPORT_SECS)
        with self._turn:
            for metric in GLUE_METRICS:
                value = metric.value(stats)
                if value is None:
                    continue
                if metric.type == "gauge":
                    self._gauges[metric.name] = value
                    continue
                _add(self._counts.setdefault(metric.name, {}), report, value)

    @side_task("cloudwatch_names")
    def checked(self, checked: Checked) -> None:
        """Update the metrics after a data quality check; Glue has them only if the script asks for them."""
        result = checked.result
        if not checked.in_cloudwatch or not self._evaluations.is_first(result.evaluation):
            return
        report = int(self._epoch() // REPORT_SECS)
        with self._turn:
            for name, value in QUALITY_METRICS.items():
                key = name, result.source.context
                if key in self._quality or len(self._quality) < MOST_LABEL_VALUES * len(QUALITY_METRICS):
                    _add(self._quality.setdefault(key, {}), report, value(result))

    def describe(self) -> Iterator[Metric]:
        """Yield nothing, because the metrics depend on the batches."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics that have data; Glue, too, does not show the others."""
        last_report = int(self._epoch() // REPORT_SECS) - 1
        with self._turn:
            values = {**self._gauges}
            values |= {name: by[last_report] for name, by in self._counts.items() if last_report in by}
            quality = {key: by[last_report] for key, by in self._quality.items() if last_report in by}
        for metric in GLUE_METRICS:
            if metric.name not in values:
                continue
            for statistic in _STATISTICS[metric.type]:
                family = GaugeMetricFamily(
                    metric.exported(statistic),
                    f"CloudWatch metric Glue {metric.name}, {statistic}.",
                    labels=("job", "job_name", "job_run_id", "type"),
                )
                for run in self._runs:
                    family.add_metric((NAMESPACE, self._job, run, metric.type), values[metric.name])
                yield family
        for name in QUALITY_METRICS:
            family = GaugeMetricFamily(
                _exported(QUALITY_NAMESPACE, name, "sum"),
                f"CloudWatch metric Glue Data Quality {name}, sum.",
                labels=("job", "job_name", "evaluation_context"),
            )
            for (of, context), value in quality.items():
                if of == name:
                    family.add_metric((QUALITY_NAMESPACE, self._job, context), value)
            if family.samples:
                yield family


def _exported(namespace: str, name: str, statistic: str) -> str:
    """Return the exporter's name of a statistic of a metric."""
    return re.sub(r"\W+", "_", f"{namespace}_{_HUMP.sub('_', name).lower()}_{statistic}")


def _add(sums: dict[int, float], report: int, value: float) -> None:
    """Add a value to the sum of a report, and forget reports that nobody asks for any more."""
    sums[report] = sums.get(report, 0.0) + value
    for old in [one for one in sums if one < report - 1]:
        del sums[old]
