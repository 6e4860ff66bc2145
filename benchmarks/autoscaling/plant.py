"""The simulated stream: batches on workers that come late, with noise, stragglers, skew and slow first batches."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.autoscaling.loads import SLO_SECS, STEP_SECS, WINDOW_SECS, Family, Rates, rates
from gluepot.streaming.advisor import Observation

MAX_WORKERS = 40
NOISE = 0.10
STRAGGLERS = 0.02
WARM_UP = (1.3, 1.1)
"""How much longer the first two batches after a change take."""
START_SECS = (60.0, 120.0)
MEAN_START_SECS = sum(START_SECS) / 2
LIMIT_OF_PEAK = 1.5
"""`maxOffsetsPerTrigger`, in windows of the highest rate: what a job has that was sized for its peak."""

Policy = Callable[[Sequence[Observation]], int]
"""Workers to have, decided when a batch ends from the batches so far, oldest first."""
Plan = Callable[[float, int, float], int]
"""Workers to have at once: from the begin of a batch, the workers there are, and when its oldest record arrived."""


@dataclass(frozen=True, slots=True)
class World:
    """One run's stream and its luck, the same for every policy.

    Args:
        family: family of the load.
        seed: seed of all random numbers.
        arrived: rows that arrived until each `STEP_SECS`, cumulative, first 0.
        fixed_secs: `F` of the plant.
        worker_rate: `mu` of the plant, rows per second.
        speed: by workers: how many evenly loaded workers they are worth; index 0 unused.
        partitions: partitions of the topic.
        noise: by batch: factor on its work.
        start_secs: by order: how long a worker takes to come.
        limit_rows: most rows of a batch.
    """

    family: Family
    seed: int
    arrived: Rates
    fixed_secs: float
    worker_rate: float
    speed: Sequence[float]
    partitions: int
    noise: Sequence[float]
    start_secs: Sequence[float]
    limit_rows: float

    @property
    def secs(self) -> float:
        """Length of the run."""
        return STEP_SECS * (len(self.arrived) - 1)

    @property
    def rows_per_sec(self) -> Rates:
        """Arrival rate of every step."""
        return np.diff(self.arrived) / STEP_SECS

    def workers_for(self, rate: float, use: float = 1.0) -> int:
        """Return the fewest workers that get `rate` done in this share of the window; only for rivals that are told."""
        capacity = self.worker_rate * (use - self.fixed_secs / WINDOW_SECS)
        return next((n for n in range(1, MAX_WORKERS) if self.speed[n] * capacity >= rate), MAX_WORKERS)


def world(family: Family, seed: int) -> World:
    """Make a run's world. Fixed cost 3 to 9 s, base load of 2 to 5 workers, mild skew over 64 to 160 partitions."""
    rng = np.random.default_rng([seed, 7, sum(family.name.encode())])
    fixed_secs, worker_rate = rng.uniform(3.0, 9.0), rng.uniform(2_000.0, 8_000.0)
    base = rng.uniform(2.0, 5.0) * worker_rate
    by_step = rates(family, seed) * base
    partitions = int(rng.integers(64, 161))
    shares = 1.0 / np.arange(1, partitions + 1) ** rng.uniform(0.0, 0.3)
    count = int(len(by_step) * STEP_SECS / 10)  # batches are never shorter than that on average
    noise = rng.lognormal(0.0, NOISE, count)
    noise[rng.uniform(size=count) < STRAGGLERS] *= rng.uniform(1.5, 3.0)
    return World(
        family,
        seed,
        np.concatenate([[0.0], np.cumsum(by_step * STEP_SECS)]),
        fixed_secs,
        worker_rate,
        [0.0, *(_speed(shares / shares.sum(), n) for n in range(1, MAX_WORKERS + 1))],
        partitions,
        noise.tolist(),
        rng.uniform(*START_SECS, 4096).tolist(),
        float(by_step.max() * WINDOW_SECS * LIMIT_OF_PEAK),
    )


def _speed(shares: Rates, workers: int) -> float:
    """Return one over the share of the worker with most to do, partitions dealt largest first to who has least."""
    loads = [0.0] * workers
    for share in shares:
        heapq.heapreplace(loads, loads[0] + float(share))
    return 1.0 / max(loads)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run went.

    Args:
        worker_secs: paid for, from the order of a worker to its end.
        broken_secs: time in which the oldest record that was not committed was older than the SLO.
        p99_lag_secs: that age, 99 % of the time below it.
        secs: length of the run.
        changes: changes of the requested number of workers.
        reversals: changes against the one before within ten minutes.
        settle_steps: changes between the largest jump of the load and an hour later.
        trace: per batch: end, workers asked for, age of the oldest record at its end.
    """

    worker_secs: float
    broken_secs: float
    p99_lag_secs: float
    secs: float
    changes: int
    reversals: int
    settle_steps: int
    trace: Sequence[tuple[float, int, float]]


class _Workers:
    """Workers that are there, are coming, and what they cost."""

    def __init__(self, count: int, start_secs: Sequence[float]) -> None:
        self.here, self.paid = count, 0.0
        self.coming: list[float] = []
        self._start_secs, self._orders, self._since = start_secs, 0, 0.0

    @property
    def ordered(self) -> int:
        return self.here + len(self.coming)

    def want(self, count: int, now: float) -> None:
        """Order or give back; those that are still coming go first."""
        self.paid += self.ordered * (now - self._since)
        self._since = now
        while self.ordered < count:
            heapq.heappush(self.coming, now + self._start_secs[self._orders % len(self._start_secs)])
            self._orders += 1
        while self.ordered > count and self.coming:
            self.coming.remove(max(self.coming))
        self.here = min(self.here, count)

    def put(self, count: int, now: float) -> None:
        """Have so many at once: they were ordered the mean delay ago, which is paid for."""
        self.paid += self.here * (now - self._since) + max(0, count - self.here) * MEAN_START_SECS
        self._since, self.here = now, count

    def arrive(self, now: float) -> None:
        """Count those in that are there by now."""
        while self.coming and self.coming[0] <= now:
            heapq.heappop(self.coming)
            self.here += 1


def simulate(world: World, policy: Policy) -> Outcome:
    """Run a stream under a policy, asked after each batch; it starts with what the first minutes need at 80 %."""
    first = world.workers_for(float(world.rows_per_sec[: int(600 / STEP_SECS)].mean()), 0.8)
    return _run(world, policy, _Workers(first, world.start_secs), None)


def follow(world: World, plan: Plan) -> Outcome:
    """Run a stream with the workers that a plan has at the begin of each batch, without delay."""
    first = world.workers_for(float(world.rows_per_sec[: int(600 / STEP_SECS)].mean()), 0.8)
    return _run(world, lambda history: history[-1].ordered_workers, _Workers(first, world.start_secs), plan)


def _run(world: World, policy: Policy, workers: _Workers, plan: Plan | None) -> Outcome:
    arrived = world.arrived.tolist()
    steps = len(arrived) - 1
    history: list[Observation] = []
    trace: list[tuple[float, int, float]] = []
    ages: list[tuple[float, float]] = []  # age of the oldest record at the begin and the end of a span
    changes: list[tuple[float, int]] = []
    done, started, ended, place, since_change = 0.0, WINDOW_SECS, 0.0, 0, len(WARM_UP)

    def rows_until(at: float) -> float:
        step = min(int(at / STEP_SECS), steps - 1)
        inside = min(at / STEP_SECS - step, 1.0)
        return arrived[step] + inside * (arrived[step + 1] - arrived[step])

    for factor in world.noise:
        if started >= world.secs:
            break
        rows = min(rows_until(started) - done, world.limit_rows)
        while arrived[place + 1] <= done and place < steps - 1:
            place += 1
        oldest = STEP_SECS * (place + (done - arrived[place]) / max(arrived[place + 1] - arrived[place], 1e-9))
        workers.arrive(started)
        if plan is not None and (count := plan(started, workers.here, oldest)) != workers.here:
            changes.append((started, count - workers.here))
            since_change = 0
            workers.put(count, started)
        here = workers.here
        slow = factor * (WARM_UP[since_change] if since_change < len(WARM_UP) else 1.0)
        work = rows / world.worker_rate * slow
        now = started + world.fixed_secs
        left = work
        while True:  # workers that come in the middle of a batch take tasks of it
            workers.arrive(now)
            speed = world.speed[workers.here]
            until = workers.coming[0] if workers.coming else float("inf")
            if now + left / speed <= until:
                now += left / speed
                break
            left -= (until - now) * speed
            now = until
        ages.append((max(0.0, ended - oldest), now - oldest))
        done += rows
        since_change = 0 if workers.here != here else since_change + 1
        waiting = max(0.0, rows_until(now) - done)
        history.append(
            Observation(
                ended_epoch=now,
                secs=now - started,
                window_secs=WINDOW_SECS,
                rows=int(rows),
                workers=workers.here,
                ordered_workers=workers.ordered,
                waiting_rows={"all": int(waiting)},
                task_secs=work,
            )
        )
        before = workers.ordered
        wanted = max(1, min(MAX_WORKERS, policy(history)))
        if wanted != before:
            changes.append((now, wanted - before))
        if wanted < workers.here:
            since_change = 0
        workers.want(wanted, now)
        trace.append((now, wanted, now - oldest))
        started, ended = max(now, started + WINDOW_SECS), now
    workers.want(workers.ordered, ended)
    return _outcome(world, workers.paid, ages, changes, trace)


def _outcome(
    world: World,
    paid: float,
    ages: Sequence[tuple[float, float]],
    changes: Sequence[tuple[float, int]],
    trace: Sequence[tuple[float, int, float]],
) -> Outcome:
    broken = sum(max(0.0, last - max(first, SLO_SECS)) for first, last in ages)
    sampled = np.concatenate([np.arange(first, last, 5.0) for first, last in ages])
    by_minute = world.rows_per_sec[:: int(60 / STEP_SECS)]
    jump = 60.0 * float(np.argmax(np.abs(np.diff(by_minute)))) if len(by_minute) > 1 else 0.0
    reversals = sum(one[1] * before[1] < 0 and one[0] - before[0] < 600 for before, one in pairwise(changes))
    return Outcome(
        worker_secs=paid,
        broken_secs=broken,
        p99_lag_secs=float(np.quantile(sampled, 0.99)),
        secs=trace[-1][0],
        changes=len(changes),
        reversals=reversals,
        settle_steps=sum(jump <= at < jump + 3600 for at, _ in changes),
        trace=trace,
    )
