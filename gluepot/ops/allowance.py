"""How much processor time the answers to scrapes may take: the driver has batches to run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

SHARE = 0.02
"""Of one core, for answering. How the text is made is a matter of its own (`exposition`)."""
RESERVE_SECS = 0.03
"""Processor time that may be spent at once after a rest, and owed at most: what one batch may lose to a storm."""
ANSWERS_PER_SEC = 20.0
"""Are given whatever the thread has spent, on other pages among it: who looks now and then is not refused."""


@dataclass(slots=True)
class Allowance:
    """Tells whether there is time left for one more answer. For one thread, whose time it counts.

    Args:
        share: share of one core that may be spent in the long run.
        reserve_secs: processor time that may be spent at once; no more than this is ever owed, either.
        monotonic: seconds that only grow.
        spent: processor time of the thread, in seconds.
        answers_per_sec: that are given all the same, those of one second at once after a rest.
    """

    share: float = SHARE
    reserve_secs: float = RESERVE_SECS
    monotonic: Callable[[], float] = time.monotonic
    spent: Callable[[], float] = time.thread_time
    answers_per_sec: float = ANSWERS_PER_SEC
    _left_secs: float = field(init=False)
    _left_answers: float = field(init=False)
    _seen: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        self._left_secs = self.reserve_secs
        self._left_answers = self.answers_per_sec

    def is_left(self) -> bool:
        """Tell whether another answer may be worked out now; it will be."""
        now, spent = self.monotonic(), self.spent()
        if self._seen is not None:
            passed_secs = now - self._seen[0]
            earned_secs = self.share * passed_secs - (spent - self._seen[1])
            self._left_secs = max(-self.reserve_secs, min(self.reserve_secs, self._left_secs + earned_secs))
            earned = self.answers_per_sec * passed_secs
            self._left_answers = min(self.answers_per_sec, self._left_answers + earned)
        self._seen = now, spent
        if self._left_secs > 0:
            return True
        if self._left_answers < 1:
            return False
        self._left_answers -= 1
        return True
