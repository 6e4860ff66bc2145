"""Splits and merges while a job is killed: a share of them with each of its starts, at moments of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random
from types import TracebackType
from typing import Self

from tests.crash.driver import NotInTime

PAUSE_SECS = 4.0
FINISH_SECS = 120.0


class Resharder:
    """Reshards from a thread, so often as it was told to.

    Args:
        reshard: does it once, at random.
        chance: of the splits, merges and pauses.
    """

    def __init__(self, reshard: Callable[[Random], None], chance: Random) -> None:
        self._reshard = reshard
        self._chance = chance
        self._changed = threading.Condition()
        self._wanted = 0
        self._closed = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.done = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def add(self, times: int) -> None:
        """Reshard so often more, from now on."""
        with self._changed:
            self._wanted += times
            self._changed.notify_all()

    def finish(self) -> None:
        """Wait until all of them are done; raises what made one fail."""
        with self._changed:
            in_time = self._changed.wait_for(lambda: self._error or self.done == self._wanted, FINISH_SECS)
        if self._error is not None:
            raise self._error
        if not in_time:
            raise NotInTime(f"{self._wanted} reshards: only {self.done} within {FINISH_SECS:.0f} s")

    def _run(self) -> None:
        try:
            while self._next():
                self._reshard(self._chance)
                with self._changed:
                    self.done += 1
                    self._changed.notify_all()
        except BaseException as error:  # noqa: BLE001  raised by `finish`
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _next(self) -> bool:
        """Wait for the moment of the next one; False for the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self.done < self._wanted)
            return not self._changed.wait_for(lambda: self._closed, self._chance.uniform(0.0, PAUSE_SECS))
