"""Computes what the same workers would cost on AWS Glue, from prices with their date and source."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.glue_prices import USD_PER_DPU_HOUR
from gluepot.core.glue_workers import WORKER_TYPES, WorkerType

# The R types are billed by a unit of their own (M-DPU).
PRICED = {name: one for name, one in WORKER_TYPES.items() if name.startswith("G.")}


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
    """Return a worker type by its name; raise ConfigError if it has no price here."""
    if name not in PRICED:
        raise ConfigError(
            f"--worker-type {name} has no price here; use one of {', '.join(PRICED)}.{did_you_mean(name, PRICED)}"
        )
    return PRICED[name]


def glue_cost(slots: int, kind: WorkerType) -> GlueCost:
    """Return the Glue job that can run this number of tasks at a time."""
    workers = 1 + math.ceil(slots / kind.vcpus)
    return GlueCost(workers, workers * kind.dpus * USD_PER_DPU_HOUR * 24)
