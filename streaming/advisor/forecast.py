"""How many rows a second arrive, and how many will."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

from gluepot.streaming.advisor.history import Observation

TREND_BATCHES = 8
LEVEL_BATCHES = 3
SURE = 3.0
"""A slope of fewer standard errors is noise and not followed."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Arrival rates in rows per second.

    Args:
        now: of the last batches.
        ahead: expected when a worker asked for now is there; never below zero.
        highest: the largest of now, ahead, and what was seen during the hold time, falling trends taken into account.
    """

    now: float
    ahead: float
    highest: float


def arrivals(history: Sequence[Observation]) -> list[tuple[float, float]]:
    """Return `(epoch, rows per second)` between each two batch ends: rows read, and what more or less waits since."""
    found = []
    ends = [(one.ended_epoch, one.rows, one.waiting) for one in history]
    for (began, _, waited), (ended, rows, waiting) in pairwise(ends):
        if ended > began:
            found.append((ended, max(0.0, (rows + waiting - waited) / (ended - began))))
    return found


def forecast(history: Sequence[Observation], ahead_secs: float, hold_secs: float) -> Forecast | None:
    """Foresee the arrival rate from its level and, where it is clear, its trend.

    Args:
        history: oldest first.
        ahead_secs: how far to look.
        hold_secs: how far back a peak still counts.

    Returns:
        None with fewer than two batches.
    """
    oldest = history[-1].ended_epoch - hold_secs
    few = TREND_BATCHES + 1
    seen = arrivals([one for one in history[:-few] if one.ended_epoch >= oldest] + list(history[-few:]))
    if not seen:
        return None
    rates = [rate for _, rate in seen]
    # A jump is believed at once when it goes up, and as soon as two batches say so when it goes down.
    level = max(rates[-1], median(rates[-LEVEL_BATCHES:]))
    slope = _slope(seen[-TREND_BATCHES:])
    ahead = max(0.0, level + slope * ahead_secs)
    since = seen[-1][0] - (hold_secs if slope >= 0 else hold_secs / 2)
    peak = max(rate for at, rate in seen if at >= since)
    return Forecast(level, ahead, max(ahead, level, peak))


def _slope(seen: Sequence[tuple[float, float]]) -> float:
    """Return rows per second per second, 0.0 unless the line is clear and no single jump made it."""
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
