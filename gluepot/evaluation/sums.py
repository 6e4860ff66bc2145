"""Sums over the values of a column, from which its frequencies follow."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gluepot.quality.measures import TOP, Frequencies


@dataclass(frozen=True, slots=True)
class Sums:
    """What was counted of some values.

    Args:
        filled: rows in which not all columns are NULL.
        distinct: different values.
        once: values that occur once.
        weighted: the sum of n log n over all values, where n tells how often one occurs.
        top: the most frequent values as texts, and how often each occurs; empty where only hashes were counted.
    """

    filled: int = 0
    distinct: int = 0
    once: int = 0
    weighted: float = 0.0
    top: tuple[tuple[str, int], ...] = ()

    def plus(self, other: Sums) -> Sums:
        """Return the sums over these and other values; none may be among both."""
        return Sums(
            self.filled + other.filled,
            self.distinct + other.distinct,
            self.once + other.once,
            self.weighted + other.weighted,
            tuple(sorted((*self.top, *other.top), key=lambda one: (-one[1], one[0]))[:TOP]),
        )

    def summary(self, rows: int) -> Frequencies:
        """Return the summary of a column or of several.

        Args:
            rows: the number of rows, with those that are NULL in all columns.
        """
        # The sum of -p log p, with p = n / filled.
        entropy = max(0.0, math.log(self.filled) - self.weighted / self.filled) if self.filled else 0.0
        return Frequencies(rows, self.filled, self.distinct, self.once, entropy, self.top)
