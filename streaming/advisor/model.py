"""The model of how long a batch takes, `T(n) = F + b / (n * mu)`, learned from finished batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gluepot.streaming.advisor.history import Observation

# The most batches to learn from; older ones say little about today's data.
MOST_BATCHES = 60
HALF_LIFE_BATCHES = 20.0
ROUNDS = 4
# Residuals of more than this many spreads get less weight: they come from stragglers and pauses of the JVM.
HUBER = 1.5
LEAST_SPREAD = 0.02
# The relative error up to which a prediction counts as good. The benchmark's check of the fit uses the same.
CLOSE = 0.15
# From this number of batches on, the confidence is not reduced: averages have then stabilised.
ENOUGH_BATCHES = 10
PRIOR_FIXED_SHARE = 0.1
# The prior: before any batch is seen, a tenth of a batch's time is assumed to be fixed, with this spread. It is
# needed because batches of a single size cannot tell fixed cost from rate.
PRIOR_SPREAD = 0.3
# The relative noise that is assumed before residuals are known.
FIRST_SPREAD = 0.1


@dataclass(frozen=True, slots=True)
class BatchModel:
    """The learned model of one query's batches.

    Args:
        fixed_secs: cost of a batch that does not depend on its size, `F`.
        worker_rate: rows a second that one worker processes, `mu`.
        confidence: share of the batches that it predicts within 15 %, reduced if there were fewer than ten; 0 to 1.
        batches: number of batches that it was learned from.
    """

    fixed_secs: float
    worker_rate: float
    confidence: float
    batches: int

    def batch_secs(self, rows: float, workers: int) -> float:
        """Return the expected time of a batch."""
        return self.fixed_secs + rows / (workers * self.worker_rate)

    def rows_within(self, secs: float, workers: int) -> float:
        """Return how many rows a batch may have to take at most `secs`; 0.0 if the fixed cost alone takes longer."""
        return max(0.0, secs - self.fixed_secs) * workers * self.worker_rate


def fit(batches: Sequence[Observation]) -> BatchModel | None:
    """Learn the model by robust regression (Huber weights on relative residuals; recent batches weigh more).

    Args:
        batches: the batches that count, oldest first.

    Returns:
        The model; None if no batch had rows.
    """
    used = [one for one in batches[-MOST_BATCHES:] if one.rows > 0 and one.secs > 0]
    if not used:
        return None
    secs = np.array([one.secs for one in used])
    per_worker = np.array([one.rows / one.workers for one in used])
    # Residuals are relative, so both columns are divided by the time: 1 = F/T + (1/mu) x/T.
    ones, rows = 1.0 / secs, per_worker / secs
    age = np.arange(len(used))[::-1]
    recent = 0.5 ** (age / HALF_LIFE_BATCHES)
    weights = recent
    middle = float(np.median(secs))
    prior = PRIOR_FIXED_SHARE * middle
    fixed = secs_per_row = 0.0
    spread = FIRST_SPREAD
    for _ in range(ROUNDS):
        pull = (spread / PRIOR_SPREAD / middle) ** 2  # the prior acts as one more residual, weighted by its spread
        fixed, secs_per_row = _least_squares(ones, rows, weights, prior, pull)
        residuals = np.abs(fixed * ones + secs_per_row * rows - 1.0)
        spread = max(LEAST_SPREAD, 1.4826 * float(np.median(residuals)))
        weights = recent * np.minimum(1.0, HUBER * spread / np.maximum(residuals, 1e-12))
    close = float(np.mean(np.abs(fixed * ones + secs_per_row * rows - 1.0) <= CLOSE))
    return BatchModel(fixed, 1.0 / secs_per_row, close * min(1.0, len(used) / ENOUGH_BATCHES), len(used))


def _least_squares(
    ones: np.ndarray, rows: np.ndarray, weights: np.ndarray, prior: float, pull: float
) -> tuple[float, float]:
    """Return the fixed seconds and the seconds per row that fit best, neither of them negative."""
    a = float(weights @ (ones * ones)) + pull
    b = float(weights @ (ones * rows))
    c = float(weights @ (rows * rows))
    y1 = float(weights @ ones) + pull * prior
    y2 = float(weights @ rows)
    determinant = a * c - b * b
    fixed = (y1 * c - y2 * b) / determinant
    slope = (a * y2 - b * y1) / determinant
    if fixed < 0:
        return 0.0, y2 / c
    if slope <= 0:  # larger batches were not slower, so all time is fixed and a row costs almost nothing
        return y1 / a, 1e-3 * y2 / c
    return fixed, slope
