"""What a job has to work with: workers, and the tasks they run at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Capacity:
    """Workers and their task slots, all together."""

    workers: int
    slots: int


def local_slots(master: str, cpus: int) -> int:
    """Return the tasks that a local master runs at a time: `local` 1, `local[4]` and `local[4,2]` 4, `local[*]` all."""
    given = re.fullmatch(r"local\[(\d+|\*)(,.*)?\]", master)
    if given is None:
        return 1
    return cpus if given[1] == "*" else max(1, int(given[1]))


def is_local(master: str) -> bool:
    """Tell whether a master is this process alone."""
    return re.match(r"local(\[|$)", master) is not None


def capacity(master: str, cluster: Callable[[], tuple[int, int]], cpus: int) -> Capacity:
    """Return what there is.

    Args:
        master: Spark master; of a local one, the one process is one worker.
        cluster: tells the executors that are registered, the driver not among them, and the task slots of each; not
            asked for a local master.
        cpus: processors of this machine.
    """
    if is_local(master):
        return Capacity(1, local_slots(master, cpus))
    executors, executor_cores = cluster()
    return Capacity(executors, executors * executor_cores)


def capacity_of(spark: SparkSession) -> Capacity:
    """Return what a session has at this moment; short calls to the driver's Java at most, none to the cluster."""
    context = spark.sparkContext

    def cluster() -> tuple[int, int]:
        java = context._jsc.sc()  # noqa: SLF001  Python has no other way
        # Of the one setting: `getConf` of Python copies them all, a call each, while the next batch waits.
        return java.getExecutorMemoryStatus().size() - 1, java.conf().getInt("spark.executor.cores", 1)

    return capacity(str(context.master), cluster, os.cpu_count() or 1)
