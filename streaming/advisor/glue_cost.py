"""Computes what the same workers would cost on AWS Glue, from prices with their date and source."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.glue_prices import USD_PER_DPU_HOUR


@dataclass(frozen=True, slots=True)
class WorkerType:
    """A kind of Glue worker (AWS Glue guide, worker types; Glue 3.0 and later).

    Args:
        name: name of the type, as in `WorkerType` of a job.
        dpu: number of data processing units that it is billed as.
        slots: number of tasks that it runs at a time; one for each vCPU.
    """

    name: str
    dpu: float
    slots: int


# The worker types without the R types, which are billed by a unit of their own (M-DPU).
WORKER_TYPES = {
    one.name: one
    for one in (
        WorkerType("G.025X", 0.25, 2),
        WorkerType("G.1X", 1, 4),
        WorkerType("G.2X", 2, 8),
        WorkerType("G.4X", 4, 16),
        WorkerType("G.8X", 8, 32),
        WorkerType("G.12X", 12, 48),
        WorkerType("G.16X", 16, 64),
    )
}


@dataclass(frozen=True, slots=True)
class GlueCost:
    """A Glue job with at least the same number of slots.

    Args:
        workers: workers of the job, including the one that Glue gives to the driver.
        usd_per_day: cost of these workers for 24 hours.
    """

    workers: int
    usd_per_day: float


def worker_type(name: str) -> WorkerType:
    """Return a worker type by its name; raise ConfigError if there is none."""
    if name not in WORKER_TYPES:
        raise ConfigError(
            f"--worker-type {name} has no price here; use one of {', '.join(WORKER_TYPES)}."
            f"{did_you_mean(name, WORKER_TYPES)}"
        )
    return WORKER_TYPES[name]


def glue_cost(slots: int, kind: WorkerType) -> GlueCost:
    """Return the Glue job that can run this number of tasks at a time."""
    workers = 1 + math.ceil(slots / kind.slots)
    return GlueCost(workers, workers * kind.dpu * USD_PER_DPU_HOUR * 24)
