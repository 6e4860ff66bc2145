"""What follows from the runs: how well the model fits, and the settings for a goal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from gluepot.bench.measured import Measured, in_turns, models
from gluepot.streaming.advisor.causes import ROUND_SECS
from gluepot.streaming.advisor.digits import seconds
from gluepot.streaming.advisor.forecast import Forecast
from gluepot.streaming.advisor.history import Observation
from gluepot.streaming.advisor.model import CLOSE, BatchModel, fit
from gluepot.streaming.advisor.settings import AdvisorSettings
from gluepot.streaming.advisor.sizing import size, window_is_too_short

RESAMPLES = 200
CONFIDENCE = 0.9
LEAST_RUNS = 3
"""Of batch sizes on as many cores: two fix a line through them, and the third shows whether it is one."""
FARTHEST = 1.5
"""Beyond this multiple of the largest batch that was run, batches tell nothing about the spread of their times."""
ARRIVALS = 200
"""Moments of a window at which a record may arrive, evenly."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How near the model is to one run.

    Args:
        measured: the run.
        secs: median batch time by the model.
        left_out_secs: likewise, by a model that did not see this run; None where too few others are left.
        is_checked: whether there are enough runs on as many cores to check a model with them.
    """

    measured: Measured
    secs: float
    left_out_secs: float | None
    is_checked: bool

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
    """A number with the bounds of its 90 % interval, in seconds; without bounds if too little was measured."""

    value: float
    low: float | None
    high: float | None


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
        keeps_sla: whether the upper end of p99 is below the SLA; None without an SLA or without that end.
        not_measured: what of this is extrapolated, as clauses; empty if all of it was measured.
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
    not_measured: tuple[str, ...] = ()


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
        secs = known[one.run.cores].batch_secs(rows, one.run.cores)
        found.append(Fit(one, secs, without, is_checked=len(others) + 1 >= LEAST_RUNS))
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
            f"{seconds(widest.fixed_secs)} of every batch are fixed cost and a window may be {seconds(window)}; no"
            f" number of cores changes that. Make the batch function cheaper, or allow an SLA of {seconds(enough)} or"
            " more."
        )
    rate = goal.rate or widest.rows_within(use * window, max(known)) / window
    cores = _cores(rate, window, known, advisor)
    measured = max(one for one in known if one <= cores)
    runs = [one for one in done if one.run.cores == measured]
    rows = rate * window
    model = known[measured]
    p50, p99 = _latencies(in_turns([one.batches for one in runs]), rows, cores, window, chance)
    sizes = [one.run.limit_rows / measured for one in runs]
    if len(runs) < LEAST_RUNS or cores not in known or rows / cores > FARTHEST * max(sizes):
        p50, p99 = (Between(one.value, None, None) for one in (p50, p99))
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
        keeps_sla=None if goal.sla_secs is None or p99.high is None else p99.high <= goal.sla_secs,
        not_measured=tuple(not_measured(cores, measured, rows / cores, sizes)),
    )


def not_measured(cores: int, measured: int, rows: float, sizes: Sequence[float]) -> Iterator[str]:
    """Yield what is extrapolated.

    Args:
        cores: that the settings have.
        measured: cores of the runs that they follow from.
        rows: of a batch, for each core.
        sizes: likewise, of these runs.
    """
    noun = "core" if measured == 1 else "cores"
    if len(sizes) < LEAST_RUNS:
        runs = "1 run" if len(sizes) == 1 else f"{len(sizes)} runs"
        yield f"only {runs} on {measured} {noun} of the {LEAST_RUNS} that an interval needs"
    if cores != measured:
        yield f"{cores} cores, in a straight line from {measured} {noun}"
    if rows > max(sizes):
        yield f"batches of {rows:,.0f} rows for each core; the largest that was run had {max(sizes):,.0f}"
    elif rows < min(sizes):
        yield f"batches of {rows:,.0f} rows for each core; the smallest that was run had {min(sizes):,.0f}"


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
