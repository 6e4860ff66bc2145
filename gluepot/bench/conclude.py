"""What follows from the runs: how well the model fits, and the settings for a goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from gluepot.bench.measured import Measured, in_turns, models
from gluepot.streaming.advisor.causes import ROUND_SECS
from gluepot.streaming.advisor.forecast import Forecast
from gluepot.streaming.advisor.history import Observation
from gluepot.streaming.advisor.model import CLOSE, BatchModel, fit
from gluepot.streaming.advisor.settings import AdvisorSettings
from gluepot.streaming.advisor.sizing import size, window_is_too_short

RESAMPLES = 200
CONFIDENCE = 0.9
ARRIVALS = 200
"""Moments of a window at which a record may arrive, evenly."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How near the model is to one run.

    Args:
        measured: the run.
        secs: median batch time by the model.
        left_out_secs: likewise, by a model that did not see this run; None where too few others are left.
    """

    measured: Measured
    secs: float
    left_out_secs: float | None

    @property
    def error(self) -> float:
        """Of the model, relative to what was measured."""
        return self.secs / self.measured.p50_secs - 1

    @property
    def is_close(self) -> bool:
        """Whether it is within 15 %."""
        return abs(self.error) <= CLOSE


@dataclass(frozen=True, slots=True)
class Goal:
    """What is wanted.

    Args:
        sla_secs: age that no record should reach; None for the highest rate instead.
        rate: records a second; None for what the measured cores can take.
    """

    sla_secs: float | None = None
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Between:
    """A number with the bounds of its 90 % interval, in seconds."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Settings:
    """What the job should have.

    Args:
        rate: records a second that it is for.
        cores: tasks at a time.
        partitions: partitions of the topic; each core reads one.
        window_secs: `windowSize`.
        limit_rows: `maxOffsetsPerTrigger`.
        batch_secs: expected time of a batch.
        p50: expected latency, from a record's arrival to its commit.
        p99: likewise.
        measured: whether so many cores were run; otherwise they are extrapolated in a straight line.
        keeps_sla: whether the upper end of p99 is below the SLA; None without one.
    """

    rate: float
    cores: int
    partitions: int
    window_secs: float
    limit_rows: int
    batch_secs: float
    p50: Between
    p99: Between
    measured: bool
    keeps_sla: bool | None


@dataclass(frozen=True, slots=True)
class Impossible:
    """No number of cores reaches the goal; `sentence` says why and what would help."""

    sentence: str


def fits(done: Sequence[Measured]) -> list[Fit]:
    """Return how near the models are to each run."""
    known = models(done)
    found = []
    for one in done:
        others = [other for other in done if other is not one and other.run.cores == one.run.cores]
        unseen = fit(in_turns([other.batches for other in others])) if len(others) > 1 else None
        rows = median(batch.rows for batch in one.batches)
        without = None if unseen is None else unseen.batch_secs(rows, one.run.cores)
        found.append(Fit(one, known[one.run.cores].batch_secs(rows, one.run.cores), without))
    return found


def scaling(known: Mapping[int, BatchModel]) -> Mapping[int, float]:
    """Return what a core does beside others, relative to one alone, by the number of cores."""
    alone = known[min(known)].worker_rate
    return {cores: model.worker_rate / alone for cores, model in known.items()}


def settings_for(goal: Goal, done: Sequence[Measured], chance: np.random.Generator) -> Settings | Impossible:
    """Return the settings for a goal.

    Args:
        goal: what is wanted.
        done: runs, those on one core among them.
        chance: for the intervals, which come from batches drawn anew.
    """
    known = models(done)
    advisor = AdvisorSettings(sla_secs=goal.sla_secs, worker_start_secs=0)
    window = _window(goal, known, done)
    use = advisor.use_of(window)
    widest = known[max(known)]
    if window_is_too_short(widest, window, use):
        enough = 4 * widest.fixed_secs / use  # half of a window of half of it is left for rows
        return Impossible(
            f"{widest.fixed_secs:.1f} s of every batch are fixed cost and a window may be {window:g} s; no number of"
            f" cores changes that. Make the batch function cheaper, or allow an SLA of {enough:.0f} s or more."
        )
    rate = goal.rate or widest.rows_within(use * window, max(known)) / window
    cores = _cores(rate, window, known, advisor)
    measured = max(one for one in known if one <= cores)
    batches = in_turns([one.batches for one in done if one.run.cores == measured])
    rows = rate * window
    model = known[measured]
    p50, p99 = _latencies(batches, rows, cores, window, chance)
    most = goal.sla_secs / 2 if goal.sla_secs else window
    return Settings(
        rate=rate,
        cores=cores,
        partitions=cores,
        window_secs=window,
        limit_rows=_two_digits(max(rows, model.rows_within(most, cores))),
        batch_secs=model.batch_secs(rows, cores),
        p50=p50,
        p99=p99,
        measured=cores in known,
        keeps_sla=None if goal.sla_secs is None else p99.high <= goal.sla_secs,
    )


def _window(goal: Goal, known: Mapping[int, BatchModel], done: Sequence[Measured]) -> float:
    """Return the longest round window within half of the SLA; without one, the shortest for the best rate measured."""
    if goal.sla_secs is not None:
        half = goal.sla_secs / 2
        return float(max((one for one in ROUND_SECS if one <= half), default=half))
    best = max((one for one in done if one.run.cores == max(known)), key=lambda one: one.rate)
    needed = best.p50_secs / AdvisorSettings().use_of(best.p50_secs)
    return float(next((one for one in ROUND_SECS if one >= needed), ROUND_SECS[-1]))


def _cores(rate: float, window: float, known: Mapping[int, BatchModel], advisor: AdvisorSettings) -> int:
    """Return the fewest cores that keep up: of those measured if one is enough, else by the rule of the advisor."""
    for cores, model in known.items():
        if model.batch_secs(rate * window, cores) <= advisor.use_of(window) * window:
            return cores
    widest = max(known)
    last = Observation(0.0, window, window, int(rate * window), widest, widest)
    return size(last, known[widest], Forecast(rate, rate, rate), advisor, 0).needed


def _latencies(
    batches: Sequence[Observation], rows: float, cores: int, window: float, chance: np.random.Generator
) -> tuple[Between, Between]:
    """Return p50 and p99 of the latency: a record waits for the end of its window, then for its batch."""
    drawn = [_quantiles(batches, rows, cores, window)]
    for _ in range(RESAMPLES):
        again = [batches[at] for at in chance.integers(len(batches), size=len(batches))]
        drawn.append(_quantiles(again, rows, cores, window))
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    p50, p99 = (
        Between(drawn[0][at], min(float(low[at]), drawn[0][at]), max(float(high[at]), drawn[0][at])) for at in (0, 1)
    )
    return p50, p99


def _quantiles(batches: Sequence[Observation], rows: float, cores: int, window: float) -> tuple[float, float]:
    model = fit(batches)
    assert model is not None  # batches of a run have rows
    noise = np.array([one.secs / model.batch_secs(one.rows, one.workers) for one in batches])
    waits = np.linspace(0, window, ARRIVALS)
    latencies = waits[:, None] + model.batch_secs(rows, cores) * noise[None, :]
    p50, p99 = np.quantile(latencies, [0.5, 0.99])
    return float(p50), float(p99)


def _two_digits(rows: float) -> int:
    return int(float(f"{rows:.2g}"))
