"""Counts the reads that sources throttled; the counts are polled at intervals, whether or not a batch runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gluepot.core.clock import Clock

# The seconds between two polls, well below a usual scrape interval of metrics.
LOOK_SECS = 5.0


class Throttling:
    """The number of throttled reads over all planners of a query; each planner counts from 0.

    Args:
        counts: returns the planner's count of each source that has a limit.
        clock: measures the time between two polls.
    """

    def __init__(self, counts: Callable[[], Sequence[int]], clock: Clock) -> None:
        self._counts = counts
        self._clock = clock
        self._due = 0.0
        self._last: Sequence[int] = ()
        self._total: int | None = None

    def look(self, *, anew: bool = False) -> int | None:
        """Return the total; None if no source has a limit.

        Args:
            anew: poll the sources even if the last poll was less than `LOOK_SECS` ago.
        """
        now = self._clock.monotonic()
        if anew or now >= self._due:
            self._due = now + LOOK_SECS
            counts = self._counts()
            if counts:
                self._total = (self._total or 0) + sum(map(_added, self._last or [0] * len(counts), counts))
            self._last = counts
        return self._total


def _added(before: int, now: int) -> int:
    """Return the increase since the last poll; a count that went down comes from a new planner."""
    return now - before if now >= before else now
