"""What a metric should be, going by its earlier values: the rule DetectAnomalies (docs/glue 12.3).

AWS's model is its own. Ours is a straight line through the newest values where they have a trend, else their mean. The
limits are three standard deviations of the distances from it, and at least one per cent of the expected value.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 3
"""The number of earlier values below which nothing is expected."""
MOST = 30
"""The number of newest values that count."""
_LEAST_FOR_TREND = 6
_DEVIATIONS = 3.0
_LEAST_SHARE = 0.01
_SIGNIFICANT = 3.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a value should be.

    Args:
        expected: the forecast.
        lower: the lower limit.
        upper: the upper limit.
        values: how many earlier values it was made from.
        is_trend: whether it is the next point of a line, rather than a mean.
    """

    expected: float
    lower: float
    upper: float
    values: int
    is_trend: bool = False

    def contains(self, value: float) -> bool:
        """Return whether a value is within the limits."""
        return self.lower <= value <= self.upper


def forecast(earlier: Sequence[float]) -> Forecast | None:
    """Return what the next value should be; None if there are too few earlier ones.

    Args:
        earlier: the newest first.
    """
    values = [value for value in reversed(earlier[:MOST]) if math.isfinite(value)]
    if len(values) < LEAST:
        return None
    line = _line(values)
    expected, apart = line or (statistics.fmean(values), statistics.stdev(values))
    margin = max(_DEVIATIONS * apart, _LEAST_SHARE * abs(expected))
    return Forecast(expected, expected - margin, expected + margin, len(values), line is not None)


def _line(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the next value of the line through the values, and their standard deviation from it.

    None if there are too few values, or if the slope could be chance.
    """
    count = len(values)
    if count < _LEAST_FOR_TREND:
        return None
    slope, intercept = statistics.linear_regression(range(count), values)
    squares = math.fsum((value - intercept - slope * at) ** 2 for at, value in enumerate(values))
    apart = math.sqrt(squares / (count - 2))
    width = math.sqrt(count * (count * count - 1) / 12)
    if abs(slope) * width <= _SIGNIFICANT * apart or not slope:
        return None
    return intercept + slope * count, apart
