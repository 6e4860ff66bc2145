"""Tells whether something is seen for the first time, in a memory of limited size."""

from __future__ import annotations

from threading import Lock

MOST_REMEMBERED = 1_000


class FirstTimes:
    """Remembers the newest names. Safe to use from any thread.

    Args:
        most: how many names are remembered.
    """

    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self._most = most
        self._seen: dict[str, None] = {}  # dictionaries keep the order of insertion
        self._turn = Lock()

    def is_first(self, name: str) -> bool:
        """Return whether a name is not remembered, and remember it."""
        with self._turn:
            if name in self._seen:
                return False
            self._seen[name] = None
            if len(self._seen) > self._most:
                del self._seen[next(iter(self._seen))]
            return True
