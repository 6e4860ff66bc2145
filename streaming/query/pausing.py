"""Queries that are to begin no further batch for a while: asked for from outside, kept between two batches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from gluepot.core.clock import Clock

LOOK_SECS = 0.1


@dataclass(slots=True)
class Pauses:
    """Which queries of a job are asked to pause. Safe to use from any thread, without waiting.

    A query that runs a batch ends it first; it keeps its lease, so that no other driver takes over what only rests.
    """

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _asked: set[str] = field(default_factory=set)

    def ask(self, query: str) -> None:
        """Let no further batch of a query begin."""
        with self._lock:
            self._asked.add(query)

    def resume(self, query: str) -> None:
        """Let a query go on; one that does not pause goes on anyway."""
        with self._lock:
            self._asked.discard(query)

    def hold(self, query: str) -> bool:
        """Tell whether a query may begin no batch."""
        with self._lock:
            return query in self._asked


def rest(held: Callable[[], bool], ending: Callable[[], bool], clock: Clock) -> float:
    """Wait until a pause or the query ends; return how long that took, in seconds.

    Args:
        held: tells whether the pause goes on.
        ending: tells whether the query is to end, which no pause puts off.
        clock: waits.
    """
    began = clock.monotonic()
    while held() and not ending():
        clock.sleep(LOOK_SECS)
    return clock.monotonic() - began
