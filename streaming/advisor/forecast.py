"""How many rows a second arrive, and how many will."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streaming.advisor.history import Observation

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
    for before, after in zip(history, history[1:], strict=False):
        secs = after.ended_epoch - before.ended_epoch
        if secs > 0:
            found.append((after.ended_epoch, max(0.0, (after.rows + after.waiting - before.waiting) / secs)))
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
    seen = arrivals(history)
    if not seen:
        return None
    rates = [rate for _, rate in seen]
    # A jump is believed at once when it goes up, and as soon as two batches say so when it goes down.
    level = max(rates[-1], float(np.median(rates[-LEVEL_BATCHES:])))
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
