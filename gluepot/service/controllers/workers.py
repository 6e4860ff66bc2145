"""Threads of the service that work until they are told to end."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from gluepot.core.clock import Clock
from gluepot.core.errors import TransientError
from gluepot.core.logging import get_logger

log = get_logger(__name__)


class Worker(Protocol):
    """What works in a thread of its own."""

    def run(self) -> None:
        """Work until `end` is called."""

    def end(self) -> None:
        """Have `run` return soon."""


class Repeating(ABC):
    """Takes one step after the other. A step that fails is logged, and the next one tries again.

    Args:
        clock: tells the time.
        again_secs: how long to wait after a step that has found something to do.
        idle_secs: how long to wait after any other step.
    """

    def __init__(self, clock: Clock, again_secs: float, idle_secs: float) -> None:
        self._clock = clock
        self._again_secs = again_secs
        self._idle_secs = idle_secs
        self._changed = threading.Event()
        self._ends = threading.Event()

    @abstractmethod
    def step(self) -> bool:
        """Do what there is to do; return whether there may soon be more."""

    def database_was_away(self) -> None:  # noqa: B027  most do nothing
        """Note that a step failed because the database did not answer."""

    def wake(self) -> None:
        """Take the next step at once, because something has changed."""
        self._changed.set()

    def run(self) -> None:
        """Take steps until `end` is called. A database that is away is waited for."""
        while not self._ends.is_set():
            self._changed.clear()
            wait_secs = self._idle_secs
            try:
                if self.step():
                    wait_secs = self._again_secs
            except TransientError as error:
                log.warning("service_database_away", worker=type(self).__name__, error=str(error))
                self.database_was_away()
            except Exception:
                log.exception("service_step_failed", worker=type(self).__name__)
            self._changed.wait(wait_secs)

    def end(self) -> None:
        """End `run`. What is not done yet is done by the next service."""
        self._ends.set()
        self._changed.set()

    def _now_ms(self) -> int:
        return round(self._clock.epoch() * 1000)


@contextmanager
def working(workers: Mapping[str, Worker]) -> Iterator[None]:
    """Run workers in threads of their own, for as long as the context lasts.

    Args:
        workers: by the names of their threads.
    """
    threads = [threading.Thread(target=worker.run, name=name) for name, worker in workers.items()]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for worker in workers.values():
            worker.end()
        for thread in threads:
            thread.join()
