"""Which runs to do: rising batch sizes on one partition, then more partitions and cores; what they will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from gluepot.bench.measured import Measured, Run, models
from gluepot.streaming.advisor.model import BatchModel

WARM_UP_BATCHES = 3
"""At least."""
WARM_UP_SECS = 12.0
"""Of batch time: a fresh JVM compiles beside its first batches, however small they are; without this, batches of the
middle sizes were measured 40 % slower than the same job runs later."""
BATCHES = 10
"""That count; the guide's method asks for at least ten."""
SIZES = 5
FIRST_ROWS = 1000
GROWTH = 8
"""From the first size to the second: enough to tell fixed cost from rate roughly, and to choose the others."""
LARGEST_SECS = 3.0
"""Batches need not be longer to be understood, and each is run at least thirteen times."""
LEAST_STEP = 1.3
LEAST_BATCH_SECS = 0.1
"""Until one was measured; only decides how many records are there for the first run."""
START_SECS = 15.0
"""Of a run, until one was measured."""
ASSUMED = BatchModel(fixed_secs=0.5, worker_rate=20_000, confidence=0.0, batches=0)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far runs may go.

    Args:
        cores: most at a time.
        largest_secs: time that the largest batches should take.
        room_rows: preloaded records of one partition.
    """

    cores: int
    largest_secs: float
    room_rows: int

    @property
    def most_rows(self) -> int:
        """Rows of one batch in one partition: as many batches warm up as count."""
        return max(1, self.room_rows // (2 * BATCHES))

    def batches(self, run: Run, batch_secs: float) -> int:
        """Return how many batches a run needs, as far as there is room; `batch_secs` is the time of each."""
        wanted = max(WARM_UP_BATCHES, ceil(WARM_UP_SECS / batch_secs)) + BATCHES
        room = self.room_rows * run.cores // run.limit_rows
        return max(WARM_UP_BATCHES + BATCHES, min(wanted, room))


@dataclass(frozen=True, slots=True)
class Planned:
    """A run to come.

    Args:
        run: which.
        batches: how many it should need, warm-up included.
        most_batches: how many it may need.
        secs: what it should take, Spark's start included.
    """

    run: Run
    batches: int
    most_batches: int
    secs: float


def bounds(cores: int, sla_secs: float | None, room_bytes: int, payload_bytes: float) -> Bounds:
    """Return how far runs may go.

    Args:
        cores: most at a time.
        sla_secs: no batch needs to be longer than half of it.
        room_bytes: for the records of one partition.
        payload_bytes: mean size of a record.
    """
    largest = LARGEST_SECS if sla_secs is None else min(LARGEST_SECS, sla_secs / 2)
    return Bounds(cores, largest, int(room_bytes / payload_bytes))


def remaining(done: Sequence[Measured], limits: Bounds) -> list[Planned]:
    """Return the runs that are left, the next one first; an empty list when nothing more is to be learned.

    The plan is made anew after each run: sizes and times follow from what was measured so far.
    """
    known = models(done)
    start_secs = max((one.start_secs for one in done), default=START_SECS)
    widest = known[max(known)] if known else ASSUMED

    def planned(run: Run) -> Planned:
        batch_secs = known.get(run.cores, widest).batch_secs(run.limit_rows, run.cores)
        most = limits.batches(run, _least_secs(run, done))
        batches = min(limits.batches(run, batch_secs), most)
        return Planned(run, batches, most, start_secs + batches * batch_secs)

    sizes = [one.run.limit_rows for one in done if one.run.cores == 1]
    to_come = _sizes_to_come(sizes, known.get(1, ASSUMED), limits)
    runs = [Run(1, rows) for rows in to_come]
    of_one = [*sizes, *to_come]
    there = {one.run for one in done}
    cores = 2
    while cores <= limits.cores:
        several = (Run(cores, cores * rows) for rows in _spread(of_one))
        runs += [run for run in several if run not in there]
        cores *= 2
    return [planned(run) for run in runs]


def is_enough(batch_secs: Sequence[float]) -> bool:
    """Return whether a run can end: ten batches that count came after the warm-up.

    Args:
        batch_secs: times of its batches so far, in order.
    """
    warm_up = batch_secs[:-BATCHES]
    return len(warm_up) >= WARM_UP_BATCHES and sum(warm_up) >= WARM_UP_SECS


def within(plan: Sequence[Planned], left_secs: float) -> list[Planned]:
    """Return the runs of a plan that the time is enough for, in its order; those that tell most are kept.

    Those are the largest batches on one core, then the largest and the smallest on the most cores, then the others.
    """
    fewest = [one for one in plan if one.run.cores == 1][-1:]
    widest = [one for one in plan if one.run.cores == max(every.run.cores for every in plan)]
    wish = dict.fromkeys([*fewest, *widest[-1:], *widest[:1], *plan])
    kept = set()
    for one in wish:
        if one.secs <= left_secs:
            kept.add(one)
            left_secs -= one.secs
    return [one for one in plan if one in kept]


def _least_secs(run: Run, done: Sequence[Measured]) -> float:
    """Return what a batch takes at least: as long as one with fewer rows a core."""
    smaller = [one.p50_secs for one in done if one.run.limit_rows * run.cores <= run.limit_rows * one.run.cores]
    return max(smaller, default=LEAST_BATCH_SECS)


def _sizes_to_come(sizes: Sequence[int], model: BatchModel, limits: Bounds) -> list[int]:
    """Return the batch sizes of one partition that are left, rising in even ratios to the largest."""
    found = list(sizes)
    firsts = sorted({min(rows, limits.most_rows) for rows in (FIRST_ROWS, GROWTH * FIRST_ROWS)})
    found += firsts[len(found) :]
    largest = min(limits.most_rows, model.rows_within(limits.largest_secs, 1))
    while len(found) < SIZES and largest >= LEAST_STEP * found[-1]:
        ratio = (largest / found[-1]) ** (1 / (SIZES - len(found)))
        found.append(min(limits.most_rows, _two_digits(found[-1] * ratio)))
    return found[len(sizes) :]


def _spread(sizes: Sequence[int]) -> list[int]:
    """Return the smallest, the middle and the largest of the sizes, as far as they differ."""
    return sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})


def _two_digits(rows: float) -> int:
    return int(float(f"{rows:.2g}"))
