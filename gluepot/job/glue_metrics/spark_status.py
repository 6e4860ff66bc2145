"""Reads what Spark knows of a run's stages, executors and memory, from the status store of the driver's JVM.

The store exists without Spark's UI. Each number is a call into the JVM, so stages that have ended are read once.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark import SparkContext

from gluepot.job.glue_metrics.figures import Counts, Gauges, Memory

# Of more stages in one report, only the newest are read; a call takes about a third of a millisecond.
_MOST_STAGES = 300
_OVER = frozenset({"COMPLETE", "FAILED", "SKIPPED"})
_STAT = Path("/proc/stat")
_IDLE_FIELDS = slice(3, 5)  # idle time, and waiting for disks


@dataclass(frozen=True, slots=True)
class _Stage:
    counts: Counts
    is_over: bool
    waiting_tasks: int


class SparkStatus:
    """Follows the status of a process's Spark contexts, of which there is one at a time."""

    def __init__(self) -> None:
        self._application = ""
        self._settled = Counts()
        self._elapsed_ms = 0
        self._stages: dict[tuple[int, int], _Stage] = {}
        self._settled_id = -1
        self._cpu_ticks = _cpu_ticks()

    def read(self, now_ms: int) -> tuple[Counts, Gauges | None]:
        """Return what Spark has done so far, and how it is; no gauges if there is no context.

        Args:
            now_ms: milliseconds since 1970.

        Raises:
            Exception: Spark is ending at this moment.
        """
        context: Any = SparkContext._active_spark_context  # noqa: SLF001  no public function tells without making one
        if context is None or context._jsc is None:  # noqa: SLF001
            return self._counts(), None
        if context.applicationId != self._application:
            self._settle()
            self._application, self._settled_id = context.applicationId, -1
            self._settled = self._settled.plus(Counts(elapsed_ms=self._elapsed_ms))
        store = context._jsc.sc().statusStore()  # noqa: SLF001  Python has no other way
        self._read_stages(context, store)
        self._elapsed_ms = max(0, now_ms - context.startTime)
        return self._counts(), self._gauges(context, store)

    def _counts(self) -> Counts:
        found = self._settled.plus(Counts(elapsed_ms=self._elapsed_ms))
        for one in self._stages.values():
            found = found.plus(one.counts)
        return found

    def _settle(self) -> None:
        for one in self._stages.values():
            self._settled = self._settled.plus(one.counts)
        self._stages.clear()

    def _read_stages(self, context: Any, store: Any) -> None:
        jvm = context._jvm  # noqa: SLF001
        no_quantiles = context._gateway.new_array(jvm.double, 0)  # noqa: SLF001
        stages = store.stageList(None, False, False, no_quantiles, jvm.java.util.ArrayList())
        for key, stage in _unsettled(stages, self._settled_id):
            self._stages[key] = _stage(stage)
        going_on = [number for (number, _), one in self._stages.items() if not one.is_over]
        seen = max((number for number, _ in self._stages), default=self._settled_id)
        self._settled_id = min(going_on) - 1 if going_on else seen
        for key in [one for one in self._stages if one[0] <= self._settled_id]:
            self._settled = self._settled.plus(self._stages.pop(key).counts)

    def _gauges(self, context: Any, store: Any) -> Gauges:
        executors = list(_executors(store))
        waiting = sum(one.waiting_tasks for one in self._stages.values())
        slots, active = sum(one.slots for one in executors), sum(one.active for one in executors)
        each = max((one.slots for one in executors), default=1) or 1
        jvm = context._jvm  # noqa: SLF001
        beans = jvm.java.lang.management.ManagementFactory.getMemoryMXBean()
        before, self._cpu_ticks = self._cpu_ticks, _cpu_ticks()
        disk = shutil.disk_usage(tempfile.gettempdir())
        return Gauges(
            executors=sum(one.slots > 0 for one in executors),
            needed_executors=-(-(waiting + active) // each),
            slots=slots,
            active_tasks=active,
            blocks_disk_bytes=sum(one.disk_bytes for one in executors),
            blocks_free_bytes=sum(one.free_bytes for one in executors),
            heap=_memory(beans.getHeapMemoryUsage()),
            non_heap=_memory(beans.getNonHeapMemoryUsage()),
            cpu_load=_load(before, self._cpu_ticks),
            disk=Memory(disk.used, disk.total),
            one_process=len(executors) == 1,
        )


@dataclass(frozen=True, slots=True)
class _Executor:
    slots: int
    active: int
    disk_bytes: int
    free_bytes: int


def _executors(store: Any) -> Iterator[_Executor]:
    found = store.executorList(True)
    for at in range(found.size()):
        one = found.apply(at)
        yield _Executor(one.maxTasks(), one.activeTasks(), one.diskUsed(), one.maxMemory() - one.memoryUsed())


def _unsettled(stages: Any, settled_id: int) -> Iterator[tuple[tuple[int, int], Any]]:
    """Yield the stages after the last one that is settled with their numbers and attempts; the newest come first."""
    for at in range(min(stages.size(), _MOST_STAGES)):
        stage = stages.apply(at)
        number = stage.stageId()
        if number <= settled_id:
            return
        yield (number, stage.attemptId()), stage


def _stage(stage: Any) -> _Stage:
    status = stage.status().toString()
    if status in {"SKIPPED", "PENDING"}:
        return _Stage(Counts(), status == "SKIPPED", 0)
    done = stage.numCompleteTasks()
    counts = Counts(
        bytes_read=stage.inputBytes(),
        records_read=stage.inputRecords(),
        stages=int(status == "COMPLETE"),
        tasks=done,
        failed_tasks=stage.numFailedTasks(),
        killed_tasks=stage.numKilledTasks(),
        shuffle_bytes_written=stage.shuffleWriteBytes(),
        shuffle_local_bytes_read=stage.shuffleLocalBytesRead(),
    )
    if status in _OVER:
        return _Stage(counts, is_over=True, waiting_tasks=0)
    return _Stage(counts, is_over=False, waiting_tasks=max(0, stage.numTasks() - done - stage.numActiveTasks()))


def _memory(usage: Any) -> Memory:
    most = usage.getMax()  # -1 if there is no limit
    return Memory(usage.getUsed(), most if most > 0 else usage.getCommitted())


def _cpu_ticks() -> tuple[int, int] | None:
    """Return the processor time of this machine since its start: all of it, and what was idle. Linux only."""
    try:
        words = _STAT.read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    ticks = [int(one) for one in words[:8]]
    return sum(ticks), sum(ticks[_IDLE_FIELDS])


def _load(before: tuple[int, int] | None, now: tuple[int, int] | None) -> float | None:
    if before is None or now is None or now[0] <= before[0]:
        return None
    return 1 - (now[1] - before[1]) / (now[0] - before[0])
