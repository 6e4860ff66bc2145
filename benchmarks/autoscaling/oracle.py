"""The clairvoyant rule: a dynamic programme over the known load, fixed cost and rate, with the same delays.

It plans in slots of a window. Its state is the number of workers and the age of the oldest record that is still
waiting at the begin of a slot, beyond the one window that it always has; the age may not exceed what lets every record
be committed within the SLO. A worker is paid for from its order, the mean delay before it is needed, so each one more costs that on top.

The plan is then run in the plant, with its noise, by giving it the workers at the planned instants. What it is not
told is the noise; `reserve` says by how much its capacity is written down for that, and the cheapest plan that keeps
the SLO counts.
"""

from __future__ import annotations

import numpy as np

from benchmarks.autoscaling.loads import GOAL_BROKEN_SHARE, SLO_SECS, STEP_SECS, WINDOW_SECS
from benchmarks.autoscaling.plant import MAX_WORKERS, MEAN_START_SECS, Outcome, World, follow

RESERVES = (0.97, 1.0, 1.03, 1.07, 1.12, 1.2, 1.3)
"""What a plan's capacity is divided by, rising."""
AGES = np.arange(0.0, SLO_SECS - 2 * WINDOW_SECS + 1, 10.0)


def clairvoyant(world: World) -> Outcome:
    """Return the run of the cheapest plan that keeps the SLO in the plant; of the most careful one if none does."""
    for reserve in RESERVES:
        outcome = follow(world, plan(world, reserve))
        if outcome.broken_secs <= GOAL_BROKEN_SHARE * outcome.secs:
            break
    return outcome


def plan(world: World, reserve: float) -> list[int]:
    """Return the workers of every slot that cost least and keep the SLO."""
    slots = int(world.secs / WINDOW_SECS) - 1
    grid = np.arange(len(world.arrived)) * STEP_SECS
    counts = np.arange(1, MAX_WORKERS + 1)
    capacity = (
        np.array(world.speed[1:]) * world.worker_rate * (WINDOW_SECS - world.fixed_secs) / reserve
    )  # rows of a slot, by workers
    begins = WINDOW_SECS * np.arange(1, slots + 2)
    more = MEAN_START_SECS * np.maximum(0, counts[None, :] - counts[:, None])  # from row to column
    future = np.zeros((MAX_WORKERS, len(AGES)))
    choices = np.empty((slots, MAX_WORKERS, len(AGES)), np.int8)
    for slot in reversed(range(slots)):
        done = np.interp(begins[slot] - WINDOW_SECS - AGES, grid, world.arrived)
        after = np.minimum(np.interp(begins[slot], grid, world.arrived), done[None, :] + capacity[:, None])
        age = begins[slot] - np.interp(after, world.arrived, grid)  # of what the next slot finds
        index = np.ceil(np.maximum(age, 0.0) / 10.0 - 1e-6).astype(int)
        possible = index < len(AGES)
        cost = np.where(
            possible,
            counts[:, None] * WINDOW_SECS
            + np.take_along_axis(future, np.minimum(index, len(AGES) - 1), axis=1),
            1e6 + 1e4 * np.maximum(index, 0),
        )
        total = cost[None, :, :] + more[:, :, None]  # workers before, workers now, age
        choices[slot] = np.argmin(total, axis=1)
        future = np.min(total, axis=1)
    return _follow(world, choices, capacity, begins, grid)


def _follow(
    world: World,
    choices: np.ndarray,
    capacity: np.ndarray,
    begins: np.ndarray,
    grid: np.ndarray,
) -> list[int]:
    """Walk the choices from the start."""
    workers, done, plan_ = int(choices[0, :, 0].max()), 0.0, []
    for slot, begin in enumerate(begins[:-1]):
        age = begin - float(np.interp(done, world.arrived, grid)) - WINDOW_SECS
        index = min(max(int(np.ceil(age / 10.0 - 1e-6)), 0), len(AGES) - 1)
        workers = int(choices[slot, workers, index])
        done = min(float(np.interp(begin, grid, world.arrived)), done + float(capacity[workers]))
        plan_.append(workers + 1)
    return plan_
