"""Pauses of queries: somebody outside requests a pause, and the query waits between two batches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from gluepot.core.clock import Clock

LOOK_SECS = 0.1


@dataclass(slots=True)
class Pauses:
    """The queries of a job that are asked to pause. Safe to use from any thread, without waiting.

    A query first ends its running batch. It keeps its lease, so that no other driver takes over a paused query.
    """

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _asked: set[str] = field(default_factory=set)

    def ask(self, query: str) -> None:
        """Let no further batch of a query begin."""
        with self._lock:
            self._asked.add(query)

    def resume(self, query: str) -> None:
        """Let a query continue; this has no effect on a query that is not paused."""
        with self._lock:
            self._asked.discard(query)

    def hold(self, query: str) -> bool:
        """Tell whether a query is asked to pause, so that it may not begin a batch."""
        with self._lock:
            return query in self._asked


def rest(paused: Callable[[], bool], ending: Callable[[], bool], clock: Clock) -> float:
    """Wait until the pause or the query ends; return how long that took, in seconds.

    Args:
        paused: tells whether the pause continues.
        ending: tells whether the query has to end; a pause does not delay that.
        clock: measures the time and waits.
    """
    began = clock.monotonic()
    while paused() and not ending():
        clock.sleep(LOOK_SECS)
    return clock.monotonic() - began
