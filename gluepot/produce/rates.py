"""Rates over time. A shape says how many records are due by a moment; how fast that grows is its rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from gluepot.core.errors import ConfigError


class Shape(Protocol):
    """A rate over time."""

    def due_by(self, secs: float) -> float:
        """Return how many records are due so many seconds after the begin; never falls."""


@dataclass(frozen=True, slots=True)
class Unpaced:
    """As fast as they are taken."""

    def due_by(self, secs: float) -> float:  # noqa: ARG002
        """See `Shape`."""
        return math.inf


@dataclass(frozen=True, slots=True)
class Steady:
    """One rate, in records a second."""

    rate: float

    def due_by(self, secs: float) -> float:
        """See `Shape`."""
        return self.rate * secs


@dataclass(frozen=True, slots=True)
class Ramp:
    """From one rate to another in a straight line, which is then kept.

    Args:
        rate: at the begin, in records a second.
        peak: at the end.
        over_secs: how long it takes.
    """

    rate: float
    peak: float
    over_secs: float

    def due_by(self, secs: float) -> float:
        """See `Shape`."""
        rising = min(secs, self.over_secs)
        grown = (self.peak - self.rate) * rising**2 / (2 * self.over_secs)
        return self.rate * rising + grown + self.peak * (secs - rising)


@dataclass(frozen=True, slots=True)
class Sine:
    """Up and down between two rates, beginning at the lower one.

    Args:
        rate: the lower one, in records a second.
        peak: the higher one.
        period_secs: from one low to the next.
    """

    rate: float
    peak: float
    period_secs: float

    def due_by(self, secs: float) -> float:
        """See `Shape`."""
        turns = 2 * math.pi / self.period_secs
        return (self.rate + self.peak) / 2 * secs - (self.peak - self.rate) / 2 * math.sin(turns * secs) / turns


@dataclass(frozen=True, slots=True)
class Burst:
    """One rate, and another at the end of each period.

    Args:
        rate: in records a second.
        peak: in a burst.
        period_secs: from the end of a burst to the end of the next.
        burst_secs: how long one is; at most a period.
    """

    rate: float
    peak: float
    period_secs: float
    burst_secs: float

    def due_by(self, secs: float) -> float:
        """See `Shape`."""
        calm_secs = self.period_secs - self.burst_secs
        periods, rest = divmod(secs, self.period_secs)
        each = self.rate * calm_secs + self.peak * self.burst_secs
        return periods * each + self.rate * min(rest, calm_secs) + self.peak * max(0.0, rest - calm_secs)


def shape(name: str, rate: float, peak: float | None, period_secs: float, burst_secs: float) -> Shape:
    """Return a shape by its name.

    Args:
        name: steady, ramp, sine or burst.
        rate: in records a second; 0 with steady means as fast as they are taken.
        peak: the highest rate of the others; None for four times the rate.
        period_secs: period of sine and burst; for a ramp, the time in which it rises.
        burst_secs: how long a burst is.

    Raises:
        ConfigError: a number is out of range.
    """
    highest = 4 * rate if peak is None else peak
    if rate < 0 or highest < rate:
        raise ConfigError(f"--rate is {rate:g} and --peak {highest:g}; use 0 or more, and a peak not below the rate.")
    if period_secs <= 0 or (name == "burst" and not 0 < burst_secs <= period_secs):
        raise ConfigError(
            f"--period-secs is {period_secs:g} and --burst-secs {burst_secs:g}; use numbers above 0, and a burst not"
            " longer than its period."
        )
    match name:
        case "steady":
            return Steady(rate) if rate else Unpaced()
        case "ramp":
            return Ramp(rate, highest, period_secs)
        case "sine":
            return Sine(rate, highest, period_secs)
        case "burst":
            return Burst(rate, highest, period_secs, burst_secs)
        case _:
            raise ConfigError(f"--shape is {name!r}; use steady, ramp, sine or burst.")
