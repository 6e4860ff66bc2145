"""The gauges with a series for each of possibly thousands of partitions, made when somebody reads the metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily, Metric, Sample
from prometheus_client.registry import Collector

from gluepot.streaming.observe.metric_names import GAUGES, LAG, PREFIX

SHOWN = tuple(one for one in (*GAUGES, *LAG) if one.by == ("partition",))


class PartitionGauges(Collector):
    """Exposes the newest values of each query's partitions. Safe to use from any thread; waits for no batch.

    The series are made at scrape time. With the library's gauges, every batch would set them one by one, which takes
    tens of milliseconds for 5,000 partitions.

    Args:
        job: value of the label `job`.
    """

    def __init__(self, job: str) -> None:
        self._job = job
        self._values: dict[str, dict[str, Mapping[str, float]]] = {one.name: {} for one in SHOWN}

    def show(self, name: str, query: str, values: Mapping[str, float]) -> None:
        """Show exactly these partitions; otherwise a removed or idle partition would keep its last value for ever.

        Args:
            name: the name of a metric in `SHOWN`.
            query: the name of the query.
            values: values by partition; the caller must not change them afterwards.
        """
        self._values[name][query] = values

    def describe(self) -> Iterator[Metric]:
        """Yield the metrics without samples."""
        for metric in SHOWN:
            yield GaugeMetricFamily(PREFIX + metric.name, metric.help, labels=metric.labels)

    def collect(self) -> Iterator[Metric]:
        """Yield a series for each partition."""
        for family, metric in zip(self.describe(), SHOWN, strict=True):
            family.samples = [
                Sample(family.name, {"job": self._job, "query": query, "partition": partition}, value)
                for query, values in self._values[metric.name].copy().items()
                for partition, value in values.items()
            ]
            yield family
