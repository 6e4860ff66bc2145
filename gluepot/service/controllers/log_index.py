"""Keeps the index of log streams up to date with the log files of runs."""

from __future__ import annotations

from gluepot.core.clock import Clock
from gluepot.service.controllers.workers import Repeating
from gluepot.service.run_logs import RunLogs

_AGAIN_SECS, _EVERY_SECS = 0.05, 2.0


class LogIndex(Repeating):
    """Looks at the log files of runs that are not wholly in the index.

    Args:
        logs: of runs at this place.
        clock: tells the time.
    """

    def __init__(self, logs: RunLogs, clock: Clock) -> None:
        super().__init__(clock, _AGAIN_SECS, _EVERY_SECS)
        self._logs = logs
        self._before: int | None = None

    def step(self) -> bool:
        """Look at some files; return whether there are more than one step looks at."""
        self._before = self._logs.catch_up(before=self._before)
        return self._before is not None
