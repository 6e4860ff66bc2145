"""How often sources asked to be read less often: looked at now and then, also while a batch runs or none comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gluepot.core.clock import Clock

LOOK_SECS = 5.0
"""Well below the interval at which metrics are asked for."""


class Throttling:
    """A count over all planners of a query, each of which begins at 0.

    Args:
        counts: asks each source that has a limit for its planner's count.
        clock: for pacing.
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
            anew: ask the sources even if the last time is not long ago.
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
    """Return what came since; a count that is lower than before is another planner's."""
    return now - before if now >= before else now
