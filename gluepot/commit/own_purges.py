"""Counts how often this process has purged each table, so that its writers know when what they know is out of date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock


class PurgeCounts:
    """Counts purges of tables by URL. Safe to use from several threads."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._changing = Lock()

    def note(self, url: str) -> None:
        """Count a purge of the table with a URL."""
        with self._changing:
            self._times[url] += 1

    def times(self, url: str) -> int:
        """Return how often a table was purged."""
        return self._times[url]

    def by_table(self) -> Mapping[str, int]:
        """Return how often each table was purged until now."""
        with self._changing:
            return dict(self._times)


PURGED = PurgeCounts()
"""The purges of tables by this process, whether they found files or not."""

EMPTIED = PurgeCounts()
"""The purges by this process that left a table without files."""
