"""The loads, which of them no rule may be tuned on, and the goals: written down before the first run.

The rule, its constants and the knobs of the rivals were looked at on `TUNING` seeds of the families that are not in
`HELD_OUT_FAMILIES`. What the report judges is `JUDGED` seeds of every family, the held-out ones shown apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HELD_OUT_FAMILIES = ("flash crowd", "weekday and weekend")
"""One sudden, one seasonal; chosen before the rule was written."""
TUNING_SEEDS = (1, 2, 3)
JUDGED_SEEDS = (101, 102, 103)

SLO_SECS = 300.0
"""Age that no record may reach before it is committed: five windows. Less leaves no time to get a worker (up to 120 s)
after a step that nobody could foresee."""
WINDOW_SECS = 60.0
STEP_SECS = 5.0
"""Grid of the arrival rates."""

GOAL_OVER_ORACLE = 1.12
GOAL_BROKEN_SHARE = 0.005
GOAL_UNDER_DS2 = 0.85
GOAL_UNDER_FLINK = 0.85
GOAL_CHANGES_OF_HPA = 0.4

HOUR = 3600.0
Rates = NDArray[np.float64]
Shape = Callable[[NDArray[np.float64], np.random.Generator], Rates]


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of load.

    Args:
        name: as the report shows it.
        secs: how long a run is.
        shape: relative rate at the given seconds; 1.0 is the base rate of the run.
    """

    name: str
    secs: float
    shape: Shape


def constant(at: Rates, _: np.random.Generator) -> Rates:
    """Return the base rate."""
    return np.full_like(at, 2.0)


def step(at: Rates, rng: np.random.Generator) -> Rates:
    """Return four times the rate for a third of the time."""
    begins, length = rng.uniform(0.2, 0.35) * at[-1], at[-1] / 3
    return np.where((at >= begins) & (at < begins + length), 4.0, 1.0)


def ramp(at: Rates, rng: np.random.Generator) -> Rates:
    """Return a rise from 1 to 4 over an hour or two, and a fall as slow."""
    peak, climb = at[-1] / 2, rng.uniform(1.0, 2.0) * HOUR
    return 1.0 + 3.0 * np.clip(1.0 - np.abs(at - peak) / climb, 0.0, 1.0)


def _sine(peak_over_mean: float) -> Shape:
    def shape(at: Rates, rng: np.random.Generator) -> Rates:
        """A sine raised to the power that makes its peak so many times its mean."""
        wave = 0.5 + 0.5 * np.sin(2 * np.pi * (at / (3 * HOUR) + rng.uniform()))
        power = 1.0 if peak_over_mean <= 2 else 5.0  # mean of wave^5 is 0.246
        return 0.1 + 4.0 * wave**power

    return shape


def daily(at: Rates, rng: np.random.Generator) -> Rates:
    """Return a day with a morning and an evening peak, and noise that keeps for some minutes."""
    hour = (at / HOUR + rng.uniform(0, 24)) % 24
    smooth = 1.0 + 2.0 * np.exp(-(((hour - 10) / 2.5) ** 2)) + 2.5 * np.exp(-(((hour - 20) / 2.0) ** 2))
    return smooth * _slow_noise(len(at), rng, 0.08)


def flash_crowd(at: Rates, rng: np.random.Generator) -> Rates:
    """Return a rise to five times within two minutes that dies down over half an hour, twice."""
    rate = np.ones_like(at)
    for begins in (rng.uniform(0.1, 0.3) * at[-1], rng.uniform(0.5, 0.7) * at[-1]):
        since = at - begins
        rate += np.where(since > 0, 4.0 * np.clip(since / 120.0, 0, 1) * np.exp(-np.maximum(since, 0) / 1800.0), 0.0)
    return rate


def bursts(at: Rates, rng: np.random.Generator) -> Rates:
    """Return a Markov-modulated rate: quiet for 25 minutes on average, then twice or three times for 12."""
    rate, now = np.ones_like(at), 0.0
    while now < at[-1]:
        quiet, busy = rng.exponential(1500.0), rng.exponential(720.0)
        rate[(at >= now + quiet) & (at < now + quiet + busy)] = rng.uniform(2.0, 3.0)
        now += quiet + busy
    return rate * _slow_noise(len(at), rng, 0.05)


def weekdays(at: Rates, rng: np.random.Generator) -> Rates:
    """Return a Thursday to a Sunday, with days of six hours: harder than real ones."""
    day = at / (6 * HOUR)
    wave = 0.5 - 0.5 * np.cos(2 * np.pi * day)
    return (0.5 + np.where(day < 2, 3.5, 1.2) * wave**2) * _slow_noise(len(at), rng, 0.06)


def _slow_noise(count: int, rng: np.random.Generator, spread: float) -> Rates:
    """Return factors around 1 that drift with a memory of five minutes."""
    keep = float(np.exp(-STEP_SECS / 300.0))
    steps = rng.normal(0.0, spread * np.sqrt(1 - keep**2), count)
    state, path = 0.0, np.empty(count)
    for index, one in enumerate(steps):
        state = keep * state + one
        path[index] = state
    return np.exp(path)


FAMILIES: Sequence[Family] = (
    Family("constant", 4 * HOUR, constant),
    Family("step x4", 6 * HOUR, step),
    Family("ramp", 6 * HOUR, ramp),
    Family("sine, peak 2 x mean", 6 * HOUR, _sine(2)),
    Family("sine, peak 4 x mean", 6 * HOUR, _sine(4)),
    Family("daily", 24 * HOUR, daily),
    Family("flash crowd", 6 * HOUR, flash_crowd),
    Family("bursts", 6 * HOUR, bursts),
    Family("weekday and weekend", 24 * HOUR, weekdays),
)


def rates(family: Family, seed: int) -> Rates:
    """Return the relative arrival rate of every `STEP_SECS`, the same for the same seed."""
    rng = np.random.default_rng([seed, sum(family.name.encode())])
    return family.shape(np.arange(0.0, family.secs, STEP_SECS), rng)
