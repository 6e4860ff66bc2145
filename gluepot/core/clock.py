"""Clocks. Code takes a `Clock` as an argument and never calls the system's time functions itself."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol


class Clock(Protocol):
    """The time functions that code may use."""

    def monotonic(self) -> float:
        """Return seconds that never go back; for durations."""

    def epoch(self) -> float:
        """Return seconds since 1970 UTC; for time stamps."""

    def sleep(self, secs: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's clock."""

    def monotonic(self) -> float:  # noqa: D102
        return time.monotonic()

    def epoch(self) -> float:  # noqa: D102
        return time.time()  # noqa: TID251  the one place

    def sleep(self, secs: float) -> None:  # noqa: D102
        time.sleep(secs)  # noqa: TID251  the one place


@dataclass(slots=True)
class FakeClock:
    """A clock for tests: `sleep` returns at once, advances the time and records the wait."""

    now: float = 0.0
    waits: list[float] = field(default_factory=list)

    def monotonic(self) -> float:  # noqa: D102
        return self.now

    def epoch(self) -> float:  # noqa: D102
        return self.now

    def sleep(self, secs: float) -> None:  # noqa: D102
        self.waits.append(secs)
        self.now += secs
