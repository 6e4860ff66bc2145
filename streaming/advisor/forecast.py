"""Measures how many rows a second arrive, and forecasts how many will."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

from gluepot.streaming.advisor.history import Observation

TREND_BATCHES = 8
LEVEL_BATCHES = 3
# A slope of fewer standard errors than this is noise and ignored.
SURE = 3.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """Arrival rates in rows per second.

    Args:
        now: rate over the last batches.
        ahead: expected rate when a worker that is requested now has started; never below zero.
        highest: the largest of `now`, `ahead` and the rates during the hold time, taking falling trends into account.
    """

    now: float
    ahead: float
    highest: float


def arrivals(history: Sequence[Observation]) -> list[tuple[float, float]]:
    """Return `(epoch, rows per second)` for each pair of batch ends: rows read plus the change of the waiting rows."""
    found = []
    ends = [(one.ended_epoch, one.rows, one.waiting) for one in history]
    for (began, _, waited), (ended, rows, waiting) in pairwise(ends):
        if ended > began:
            found.append((ended, max(0.0, (rows + waiting - waited) / (ended - began))))
    return found


def forecast(history: Sequence[Observation], ahead_secs: float, hold_secs: float) -> Forecast | None:
    """Forecast the arrival rate from its level and, if it is clear, its trend.

    Args:
        history: batches, oldest first.
        ahead_secs: how far to look ahead.
        hold_secs: how far back a peak still counts.

    Returns:
        The forecast; None if there are fewer than two batches.
    """
    oldest = history[-1].ended_epoch - hold_secs
    few = TREND_BATCHES + 1
    seen = arrivals([one for one in history[:-few] if one.ended_epoch >= oldest] + list(history[-few:]))
    if not seen:
        return None
    rates = [rate for _, rate in seen]
    # A jump up counts at once; a jump down counts when two batches have shown it.
    level = max(rates[-1], median(rates[-LEVEL_BATCHES:]))
    slope = _slope(seen[-TREND_BATCHES:])
    ahead = max(0.0, level + slope * ahead_secs)
    since = seen[-1][0] - (hold_secs if slope >= 0 else hold_secs / 2)
    peak = max(rate for at, rate in seen if at >= since)
    return Forecast(level, ahead, max(ahead, level, peak))


def _slope(seen: Sequence[tuple[float, float]]) -> float:
    """Return the slope in rows per second per second; 0.0 if it is not clear, or comes from a single jump."""
    if len(seen) < TREND_BATCHES:
        return 0.0
    at = np.array([epoch for epoch, _ in seen])
    rates = np.array([rate for _, rate in seen])
    at = at - at.mean()
    across = float(at @ at)
    slope = float(at @ rates) / across
    residuals = rates - rates.mean() - slope * at
    error = float(np.sqrt(residuals @ residuals / (len(seen) - 2) / across))
    return slope if abs(slope) > SURE * error else 0.0
