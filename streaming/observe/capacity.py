"""The capacity of a job: its workers, and the tasks that they run at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Capacity:
    """The number of workers, and of the task slots of all workers together."""

    workers: int
    slots: int


def local_slots(master: str, cpus: int) -> int:
    """Return the slots of a local master: `local` has 1, `local[4]` and `local[4,2]` have 4, `local[*]` has `cpus`."""
    given = re.fullmatch(r"local\[(\d+|\*)(,.*)?\]", master)
    if given is None:
        return 1
    return cpus if given[1] == "*" else max(1, int(given[1]))


def is_local(master: str) -> bool:
    """Tell whether a master runs all tasks in this process."""
    return re.match(r"local(\[|$)", master) is not None


def capacity(master: str, cluster: Callable[[], tuple[int, int]], cpus: int) -> Capacity:
    """Return the capacity under a Spark master.

    Args:
        master: Spark's master URL; the process of a local master counts as one worker.
        cluster: returns the number of registered executors, without the driver, and the task slots of each; not called
            for a local master.
        cpus: processors of this machine.
    """
    if is_local(master):
        return Capacity(1, local_slots(master, cpus))
    executors, executor_cores = cluster()
    return Capacity(executors, executors * executor_cores)


def capacity_of(spark: SparkSession) -> Capacity:
    """Return the present capacity of a session; this makes short calls to the driver's JVM, none to the cluster."""
    context = spark.sparkContext

    def cluster() -> tuple[int, int]:
        java = context._jsc.sc()  # noqa: SLF001  Python has no other way
        # Read the one setting in Java. Python's `getConf` copies all settings, each in one call, while a batch waits.
        return java.getExecutorMemoryStatus().size() - 1, java.conf().getInt("spark.executor.cores", 1)

    return capacity(str(context.master), cluster, os.cpu_count() or 1)
