"""Counts what happens to tasks apart from their records, such as a target that throttles them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock

RETRIED_TASKS = "retried_tasks"
THROTTLED_WRITES = "throttled_writes"


class TaskEvents:
    """The events of one process, by name."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._changing = Lock()

    def add(self, name: str, times: int = 1) -> None:
        """Count an event."""
        with self._changing:
            self._counts[name] += times

    def counts(self) -> Mapping[str, int]:
        """Return the counts so far."""
        with self._changing:
            return dict(self._counts)

    def take(self) -> Counter[str]:
        """Return the counts, and begin again at 0."""
        with self._changing:
            taken, self._counts = self._counts, Counter()
            return taken


EVENTS = TaskEvents()
"""Those of this process, a driver or a worker."""
