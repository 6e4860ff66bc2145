"""The clairvoyant rule: a dynamic programme over the known load, fixed cost and rate, with the same delays.

It plans in slots of a window. Its state is the number of workers and the age of the oldest record that is still
waiting at the begin of a slot, beyond the one window that it always has; the age may not exceed what lets every record
be committed within the SLO. A worker is paid for from its order, the mean delay before it is needed.

The plan is then followed in the plant: before each batch it looks up the state it is really in, and has the workers at
once, because it knew. What it is not told is the noise to come, so plans with several reserves are made, and the
cheapest that keeps the SLO counts. That is a little better than anybody with real delays can be.
"""

from __future__ import annotations

import numpy as np

from benchmarks.autoscaling.loads import GOAL_BROKEN_SHARE, SLO_SECS, STEP_SECS, WINDOW_SECS
from benchmarks.autoscaling.plant import MAX_WORKERS, MEAN_START_SECS, Outcome, Plan, World, follow

RESERVES = (1.0, 1.05, 1.1)
"""What a plan's capacity is divided by."""
MARGINS_SECS = (60.0, 120.0, 150.0)
"""How far below the SLO a plan stays."""
AGE_STEP_SECS = 10.0
TOO_LATE = 1e4
CHANGE_SLOWS = 1.4
"""Both slow batches after a change put into one."""


def clairvoyant(world: World) -> Outcome:
    """Return the run of the cheapest plan that keeps the SLO in the plant; of the most careful one if none does."""
    runs = [follow(world, plan(world, reserve, margin)) for reserve in RESERVES for margin in MARGINS_SECS]
    kept = [one for one in runs if one.broken_secs <= GOAL_BROKEN_SHARE * one.secs]
    return min(kept, key=lambda one: one.worker_secs) if kept else min(runs, key=lambda one: one.broken_secs)


def plan(world: World, reserve: float, margin_secs: float) -> Plan:
    """Return what costs least and keeps the SLO, from every state of every slot."""
    ages = np.arange(0.0, SLO_SECS - margin_secs - 2 * WINDOW_SECS + 1, AGE_STEP_SECS)
    most = min(MAX_WORKERS, world.workers_for(float(world.rows_per_sec.max()), 0.7) + 2)
    slots = int(world.secs / WINDOW_SECS) - 1
    grid = np.arange(len(world.arrived)) * STEP_SECS
    counts = np.arange(1, most + 1)
    capacity = (
        np.array(world.speed[1 : most + 1]) * world.worker_rate * (WINDOW_SECS - world.fixed_secs) / reserve
    )  # rows of a slot, by workers
    begins = WINDOW_SECS * np.arange(1, slots + 2)
    more = MEAN_START_SECS * np.maximum(0, counts[None, :] - counts[:, None])  # from row to column
    future = np.zeros((most, len(ages)))
    choices = np.empty((slots, most, len(ages)), np.int8)
    for slot in reversed(range(slots)):
        done = np.interp(begins[slot] - WINDOW_SECS - ages, grid, world.arrived)
        now = begins[slot]

        def cost_of(
            rows: np.ndarray, now: float = now, done: np.ndarray = done, future: np.ndarray = future
        ) -> np.ndarray:
            """Return what this slot and the later ones cost, by workers and age, if this one does so many rows."""
            after = np.minimum(np.interp(now, grid, world.arrived), done[None, :] + rows[:, None])
            age = now - np.interp(after, world.arrived, grid)  # of what the next slot finds, beyond its window
            index = np.ceil(age / AGE_STEP_SECS - 1e-6).astype(int)
            later = np.take_along_axis(future, np.minimum(index, len(ages) - 1), axis=1)
            return counts[:, None] * WINDOW_SECS + later + np.where(index < len(ages), 0.0, TOO_LATE * (1.0 + index))

        by_target = cost_of(capacity / CHANGE_SLOWS)[None, :, :] + more[:, :, None]  # workers before, now, age
        targets = np.argmin(by_target, axis=1)
        changed = np.take_along_axis(by_target, targets[:, None, :], axis=1)[:, 0, :]
        kept = cost_of(capacity)
        choices[slot] = np.where(kept <= changed, counts[:, None] - 1, targets)
        future = np.minimum(kept, changed)

    def workers_at(begin: float, workers: int, oldest: float) -> int:
        slot = min(int(begin / WINDOW_SECS) - 1, slots - 1)
        age = (begin - WINDOW_SECS - oldest) / AGE_STEP_SECS
        return int(choices[slot, min(workers, most) - 1, min(max(int(np.ceil(age - 1e-6)), 0), len(ages) - 1)]) + 1

    return workers_at
