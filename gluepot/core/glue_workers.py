"""The worker types of AWS Glue (docs/glue 10.1)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkerType:
    """A kind of Glue worker.

    Args:
        name: name of the type, as in `WorkerType` of a job.
        dpus: number of data processing units that it is billed as; of memory-optimised units for R types.
        vcpus: number of its processors. From Glue 3.0 on, it runs one task on each at a time.
        memory_gib: its memory.
    """

    name: str
    dpus: float
    vcpus: int
    memory_gib: int


WORKER_TYPES = {
    one.name: one
    for one in (
        WorkerType("Standard", 1, 4, 16),
        WorkerType("G.025X", 0.25, 2, 4),
        WorkerType("G.1X", 1, 4, 16),
        WorkerType("G.2X", 2, 8, 32),
        WorkerType("G.4X", 4, 16, 64),
        WorkerType("G.8X", 8, 32, 128),
        WorkerType("G.12X", 12, 48, 192),
        WorkerType("G.16X", 16, 64, 256),
        WorkerType("R.1X", 1, 4, 32),
        WorkerType("R.2X", 2, 8, 64),
        WorkerType("R.4X", 4, 16, 128),
        WorkerType("R.8X", 8, 32, 256),
    )
}
