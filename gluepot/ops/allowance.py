"""Limits the processor time for answers to scrapes, so that the driver has time for its batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

# The share of one core for answering scrapes. Making the text has a limit of its own (`exposition`).
SHARE = 0.02
# The most processor time that may be spent at once after a rest, and the most that may be owed. So a storm of scrapes
# takes at most this much from one batch.
RESERVE_SECS = 0.03
# This many answers are given in any case, whatever the thread has spent, also on other pages. So a reader who asks
# now and then is never refused.
ANSWERS_PER_SEC = 20.0


@dataclass(slots=True)
class Allowance:
    """Tells whether there is processor time left for one more answer. It is for one thread, whose time it counts.

    Args:
        share: share of one core that may be spent in the long run.
        reserve_secs: processor time that may be spent at once; also the most that can ever be owed.
        monotonic: returns the seconds of a clock that only grows.
        spent: returns the processor time of the thread, in seconds.
        answers_per_sec: answers a second that are given in any case; after a rest, those of one second at once.
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
        """Tell whether another answer may be made now; if so, the caller must make it."""
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
