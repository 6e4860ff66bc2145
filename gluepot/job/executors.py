"""The executors of a run on a cluster, as many and as large as the workers of AWS Glue would be."""

from __future__ import annotations

from dataclasses import replace

from gluepot.core.glue_workers import WorkerType
from gluepot.core.job_parameters import JobParameters

SLOTS = "spark.executor.cores"
_INSTANCES = "spark.executor.instances"
# Glue gives the heap of an executor 10 of the 16 GB that a worker has; Python and what is off the heap get the rest.
_HEAP_MIB_PER_GIB = 640


def executors_of(workers: int) -> int:
    """Return the number of executors of so many workers of Glue, one of which is the driver's (docs/glue 10.1)."""
    return max(1, workers - 1)


def with_executors(parameters: JobParameters, kind: WorkerType, workers: int) -> JobParameters:
    """Return the parameters of a job with the settings of its executors. Settings of the job itself win.

    Args:
        parameters: of the job.
        kind: type of its workers.
        workers: their number, with that of the driver.
    """
    cores = parameters.conf.get(SLOTS) or str(parameters.executor_cores or kind.vcpus)
    executors = parameters.conf.get(_INSTANCES) or str(executors_of(workers))
    memory = f"{kind.memory_gib * _HEAP_MIB_PER_GIB}m"
    sized = {SLOTS: cores, "spark.executor.memory": memory, _INSTANCES: executors}
    if cores.isdecimal() and executors.isdecimal():
        sized["spark.cores.max"] = str(int(executors) * int(cores))  # a standalone master counts cores
    return replace(parameters, conf={**sized, **parameters.conf})
