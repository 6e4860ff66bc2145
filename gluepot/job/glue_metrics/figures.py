"""What a run measures, under the names, dimensions and units of AWS Glue (the guide's job and observability metrics).

Pure: numbers in, data of CloudWatch's PutMetricData out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from gluepot.core.datasets import Dataset
from gluepot.engine.account import Account
from gluepot.job.written import Written

ALL_RUNS = "ALL"
NAMESPACE, QUALITY_NAMESPACE = "Glue", "Glue Data Quality"
_MOST_NAME_CHARS = 500
_ONLY_OTHERS = "<non-ASCII input>"
_GIB, _MIB = 1 << 30, 1 << 20
_S3 = ("s3://", "s3a://", "s3n://")


@dataclass(frozen=True, slots=True)
class Counts:
    """What a run has done since its begin.

    Args:
        bytes_read: size of what tasks have read.
        records_read: records that tasks have read.
        records_written: records that writes have published.
        stages: completed stages.
        tasks: completed tasks.
        failed_tasks: tasks that failed.
        killed_tasks: tasks that were ended.
        shuffle_bytes_written: what tasks have written for other tasks.
        shuffle_local_bytes_read: what tasks have read of that on the same machine.
        elapsed_ms: time since Spark was ready.
    """

    bytes_read: int = 0
    records_read: int = 0
    records_written: int = 0
    stages: int = 0
    tasks: int = 0
    failed_tasks: int = 0
    killed_tasks: int = 0
    shuffle_bytes_written: int = 0
    shuffle_local_bytes_read: int = 0
    elapsed_ms: int = 0

    def plus(self, other: Counts) -> Counts:
        """Return the sums of both."""
        return Counts(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Counts)))

    def since(self, before: Counts) -> Counts:
        """Return what was added since an earlier moment. Nothing counts backwards."""
        return Counts(*(max(0, getattr(self, one.name) - getattr(before, one.name)) for one in fields(Counts)))


@dataclass(frozen=True, slots=True)
class Memory:
    """A kind of memory of the driver's JVM.

    Args:
        used_bytes: what is in use.
        size_bytes: how large it may become.
    """

    used_bytes: int
    size_bytes: int

    def plus(self, other: Memory) -> Memory:
        """Return the sums of both."""
        return Memory(self.used_bytes + other.used_bytes, self.size_bytes + other.size_bytes)

    @property
    def used_share(self) -> float:
        """The part that is in use, 0 to 1."""
        return self.used_bytes / self.size_bytes if self.size_bytes else 0.0


@dataclass(frozen=True, slots=True)
class Gauges:
    """How a run is at this moment.

    Args:
        executors: processes that run tasks.
        needed_executors: how many of them the tasks of the running stages would keep busy.
        slots: tasks that run at a time at most.
        active_tasks: tasks that run.
        blocks_disk_bytes: what Spark's block manager keeps on disk.
        blocks_free_bytes: memory that it may still use.
        heap: of the driver's JVM.
        non_heap: of the driver's JVM.
        cpu_load: processor time of this machine that was used since the last report, 0 to 1; None if it is not known.
        disk: of this machine, where temporary files are.
        one_process: whether the driver runs the tasks itself, so that what is true of it is true of all.
    """

    executors: int
    needed_executors: int
    slots: int
    active_tasks: int
    blocks_disk_bytes: int
    blocks_free_bytes: int
    heap: Memory
    non_heap: Memory
    cpu_load: float | None
    disk: Memory
    one_process: bool


@dataclass(frozen=True, slots=True)
class Batches:
    """The micro-batches that were committed since the last report.

    Args:
        records: their records.
        duration_ms: their times, together.
        lag_ms: how long the oldest record that is not committed had waited, at most; None if it is not known.
    """

    records: int
    duration_ms: float
    lag_ms: float | None


@dataclass(frozen=True, slots=True)
class Names:
    """The dimensions of all metrics of a run.

    Args:
        job: name of the job.
        run_id: of the run.
    """

    job: str
    run_id: str


_Value = tuple[str, str, float | None]


def job_data(
    names: Names, counts: Counts, gauges: Gauges | None, sources: Sequence[Dataset] = ()
) -> list[dict[str, Any]]:
    """Return the job metrics; none if Spark is not there and nothing was done.

    Args:
        names: of the run.
        counts: what was done since the last report.
        gauges: how the run is; None if Spark has not started, or has ended.
        sources: what the run reads. What was read of S3 is told only if all of them are there, because it is counted
            together.
    """
    if gauges is None and counts == Counts():
        return []
    now = list(_job_gauges(gauges)) if gauges else []
    if sources and all(source.namespace.startswith(_S3) for source in sources):
        now.append(("glue.ALL.s3.filesystem.read_bytes", "Bytes", counts.bytes_read))
    return [*_data(names, "count", _counted(counts)), *_data(names, "gauge", now)]


def batch_data(names: Names, batches: Batches) -> list[dict[str, Any]]:
    """Return the metrics of streams."""
    found: list[_Value] = [
        ("glue.driver.streaming.numRecords", "Count", batches.records),
        ("glue.driver.streaming.batchProcessingTimeInMs", "Count", batches.duration_ms),
        ("glue.driver.streaming.maxConsumerLagInMs", "Milliseconds", batches.lag_ms),
    ]
    return list(_data(names, "count", found))


def observability_data(
    names: Names,
    counts: Counts,
    gauges: Gauges | None,
    sources: Sequence[Dataset],
    written: Mapping[Dataset, Written],
) -> list[dict[str, Any]]:
    """Return the observability metrics.

    Args:
        names: of the run.
        counts: what was done since the last report.
        gauges: how the run is; None if Spark has not started, or has ended.
        sources: what the run reads. What was read is told only of a single source, because it is counted together.
        written: what was written since the last report.
    """
    found: list[dict[str, Any]] = []
    if gauges:
        of_resources = {"ObservabilityGroup": "resource_utilization"}
        found += _data(names, "gauge", _resources(gauges), of_resources)
    throughput = {"ObservabilityGroup": "throughput"}
    if len(sources) == 1 and counts.records_read:
        read: list[_Value] = [
            ("glue.driver.bytesRead", "Bytes", counts.bytes_read),
            ("glue.driver.recordsRead", "Count", counts.records_read),
        ]
        found += _data(names, "gauge", read, {**throughput, "Source": place(sources[0])})
    for dataset, one in written.items():
        values: list[_Value] = [
            ("glue.driver.bytesWrittten", "Bytes", one.size_bytes),  # AWS's own spelling
            ("glue.driver.recordsWritten", "Count", one.records),
            ("glue.driver.filesWritten", "Count", one.files),
        ]
        found += _data(names, "gauge", values, {**throughput, "Sink": place(dataset)})
    return found


def account_data(names: Names, account: Account) -> list[dict[str, Any]]:
    """Return the account of a run that ends; these metrics are ours, not Glue's."""
    read, writes = account.read, account.writes
    values: list[_Value] = [
        ("gluepot.records.read", "Count", read.records),
        ("gluepot.records.delivered", "Count", read.delivered),
        ("gluepot.records.rejected", "Count", read.rejected),
        ("gluepot.records.leftOut", "Count", read.left_out),
        ("gluepot.rows.arrived", "Count", writes.arrived),
        ("gluepot.rows.written", "Count", writes.written),
        ("gluepot.rows.refused", "Count", writes.refused),
        ("gluepot.rows.skipped", "Count", writes.skipped),
    ]
    return list(_data(names, "count", values))


def quality_data(job: str, context: str, passed: int, failed: int) -> list[dict[str, Any]]:
    """Return the metrics of a check of data quality."""
    dimensions = _dimensions({"EvaluationContext": context or "default", "JobName": job})
    values = {"glue.data.quality.rules.passed": passed, "glue.data.quality.rules.failed": failed}
    return [
        {"MetricName": name, "Dimensions": dimensions, "Value": value, "Unit": "Count"}
        for name, value in values.items()
    ]


def place(dataset: Dataset) -> str:
    """Return the name of what is read or written, as Glue shortens it for a dimension."""
    whole = dataset.name if dataset.namespace == "file" else f"{dataset.namespace}/{dataset.name}"
    plain = whole.encode("ascii", "ignore").decode()
    return plain[:_MOST_NAME_CHARS] or _ONLY_OTHERS


def _counted(counts: Counts) -> list[_Value]:
    prefix = "glue.driver.aggregate"
    return [
        (f"{prefix}.bytesRead", "Bytes", counts.bytes_read),
        (f"{prefix}.elapsedTime", "Milliseconds", counts.elapsed_ms),
        (f"{prefix}.numCompletedStages", "Count", counts.stages),
        (f"{prefix}.numCompletedTasks", "Count", counts.tasks),
        (f"{prefix}.numFailedTasks", "Count", counts.failed_tasks),
        (f"{prefix}.numKilledTasks", "Count", counts.killed_tasks),
        (f"{prefix}.recordsRead", "Count", counts.records_read),
        # AWS does not document these two and remainingMB; boards that people share have them.
        (f"{prefix}.recordsWritten", "Count", counts.records_written),
        (f"{prefix}.numOutputRows", "Count", counts.records_written),
        (f"{prefix}.shuffleBytesWritten", "Bytes", counts.shuffle_bytes_written),
        (f"{prefix}.shuffleLocalBytesRead", "Bytes", counts.shuffle_local_bytes_read),
    ]


def _job_gauges(gauges: Gauges) -> Iterator[_Value]:
    executors = "glue.driver.ExecutorAllocationManager.executors"
    yield "glue.driver.BlockManager.disk.diskSpaceUsed_MB", "Megabytes", gauges.blocks_disk_bytes / _MIB
    yield "glue.driver.BlockManager.memory.remainingMB", "Megabytes", gauges.blocks_free_bytes / _MIB
    yield f"{executors}.numberAllExecutors", "Count", gauges.executors
    yield f"{executors}.numberMaxNeededExecutors", "Count", gauges.needed_executors
    for who in _who(gauges):
        yield f"glue.{who}.jvm.heap.usage", "Percent", gauges.heap.used_share
        yield f"glue.{who}.jvm.heap.used", "Bytes", gauges.heap.used_bytes
        yield f"glue.{who}.system.cpuSystemLoad", "Percent", gauges.cpu_load


def _resources(gauges: Gauges) -> Iterator[_Value]:
    yield "glue.driver.workerUtilization", "Percent", gauges.active_tasks / gauges.slots if gauges.slots else 0.0
    kinds = {"heap": gauges.heap, "non-heap": gauges.non_heap, "total": gauges.heap.plus(gauges.non_heap)}
    for who in _who(gauges):
        for kind, one in kinds.items():
            yield f"glue.{who}.memory.{kind}.available", "Bytes", one.size_bytes - one.used_bytes
            yield f"glue.{who}.memory.{kind}.used", "Bytes", one.used_bytes
            yield f"glue.{who}.memory.{kind}.used.percentage", "Percent", one.used_share
        disk = gauges.disk
        yield f"glue.{who}.disk.available_GB", "Gigabytes", (disk.size_bytes - disk.used_bytes) / _GIB
        yield f"glue.{who}.disk.used_GB", "Gigabytes", disk.used_bytes / _GIB
        yield f"glue.{who}.disk.used.percentage", "Percent", disk.used_share


def _who(gauges: Gauges) -> tuple[str, ...]:
    return ("driver", "ALL") if gauges.one_process else ("driver",)


def _data(
    names: Names, kind: str, values: Iterable[_Value], more: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield data of the run, and the same data of all runs of its job together."""
    dimensions = [
        _dimensions({"JobName": names.job, "JobRunId": run, "Type": kind, **(more or {})})
        for run in (names.run_id, ALL_RUNS)
    ]
    for name, unit, value in values:
        if value is not None:
            for one in dimensions:
                yield {"MetricName": name, "Dimensions": one, "Value": value, "Unit": unit}


def _dimensions(pairs: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Name": name, "Value": value} for name, value in pairs.items()]
