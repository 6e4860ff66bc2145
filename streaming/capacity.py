"""What a job has to work with: workers, and the tasks they run at a time."""

from __future__ import annotations

import os
import re
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


def capacity(master: str, executors: int, executor_cores: int, cpus: int) -> Capacity:
    """Return what there is.

    Args:
        master: Spark master; of a local one, the one process is one worker.
        executors: that are registered, the driver not among them.
        executor_cores: task slots of each.
        cpus: processors of this machine.
    """
    if is_local(master):
        return Capacity(1, local_slots(master, cpus))
    return Capacity(executors, executors * executor_cores)


def capacity_of(spark: SparkSession) -> Capacity:
    """Return what a session has at this moment; two short calls to the driver's Java, none to the cluster."""
    context = spark.sparkContext
    known = context._jsc.sc().getExecutorMemoryStatus().size()  # noqa: SLF001  Python has no other way
    cores = int(context.getConf().get("spark.executor.cores") or 1)
    return capacity(str(context.master), known - 1, cores, os.cpu_count() or 1)
