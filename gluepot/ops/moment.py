"""The metrics that are calculated at each scrape, because a hanging batch reports nothing by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gluepot.core.task_events import RETRIED_TASKS, THROTTLED_WRITES
from gluepot.ops.jvm import JavaHeap
from gluepot.ops.memory import Role, Usage
from gluepot.streaming.observe.metric_names import AT_SCRAPE, COUNTED_AT_SCRAPE, PREFIX
from gluepot.streaming.observe.status import QueryStatus


class Moment(Collector):
    """Exposes the current state of a job's queries and processes.

    Args:
        job: value of the label `job`.
        queries: returns the status of the queries; called at each scrape.
        usage: returns the use of resources by role; called at each scrape.
        heap: returns the heap of the Java process among the given ones; called at each scrape.
        epoch: gives the time, in seconds since 1970 UTC.
        events: returns how often events of tasks have happened; called at each scrape.
        upstream: returns how old the last commit of each upstream job was when the run began to work, in seconds.
    """

    def __init__(
        self,
        job: str,
        queries: Callable[[], Sequence[QueryStatus]],
        usage: Callable[[], Mapping[Role, Usage]],
        heap: Callable[[Sequence[int]], JavaHeap | None],
        epoch: Callable[[], float],
        events: Callable[[], Mapping[str, int]] = dict,
        upstream: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        self._job = job
        self._queries = queries
        self._usage = usage
        self._heap = heap
        self._epoch = epoch
        self._events = events
        self._upstream = upstream
        self._opened_epoch = epoch()

    def describe(self) -> Iterator[Metric]:
        """Yield the metrics without values, so that registering them calls nothing."""
        yield from self._families().values()

    def collect(self) -> Iterator[Metric]:
        """Yield everything of `AT_SCRAPE` and `COUNTED_AT_SCRAPE`."""
        families, now_epoch = self._families(), self._epoch()
        for one in self._queries():
            labels = (self._job, one.query)
            since = self._opened_epoch if one.last_commit_epoch is None else one.last_commit_epoch
            families["last_commit_age_seconds"].add_metric(labels, max(0.0, now_epoch - since))
            began = now_epoch if one.batch_began_epoch is None else one.batch_began_epoch
            families["running_batch_seconds"].add_metric(labels, max(0.0, now_epoch - began))
            families["lease_held"].add_metric(labels, one.lease == "held")
            families["failures_in_a_row"].add_metric(labels, one.failures_in_a_row)
            if one.throttled_reads is not None:
                families["throttled_reads"].add_metric(labels, one.throttled_reads)
        families["run_start_timestamp_seconds"].add_metric((self._job,), self._opened_epoch)
        for name, age_secs in self._upstream().items():
            families["upstream_commit_age_seconds"].add_metric((self._job, name), age_secs)
        events = self._events()
        for name in (RETRIED_TASKS, THROTTLED_WRITES):
            families[name].add_metric((self._job,), events.get(name, 0))
        usage = self._usage()
        for role, used in usage.items():
            families["resident_memory_bytes"].add_metric((self._job, role), used.resident_bytes)
            families["processes"].add_metric((self._job, role), used.processes)
            families["cpu_seconds"].add_metric((self._job, role), used.cpu_secs)
        heap = self._heap(usage["jvm"].pids) if "jvm" in usage else None
        if heap is not None:
            families["jvm_heap_used_bytes"].add_metric((self._job,), heap.used_bytes)
            families["jvm_heap_capacity_bytes"].add_metric((self._job,), heap.capacity_bytes)
            families["jvm_gc_seconds"].add_metric((self._job,), heap.gc_secs)
        yield from families.values()

    def _families(self) -> dict[str, GaugeMetricFamily | CounterMetricFamily]:
        gauges = {one.name: GaugeMetricFamily(PREFIX + one.name, one.help, labels=one.labels) for one in AT_SCRAPE}
        counters = {
            one.name: CounterMetricFamily(PREFIX + one.name, one.help, labels=one.labels) for one in COUNTED_AT_SCRAPE
        }
        return {**gauges, **counters}
