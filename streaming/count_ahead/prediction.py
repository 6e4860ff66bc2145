"""What a batch function is expected to do, from what it did with the batches before. Pure."""

from __future__ import annotations

from typing import Generic, TypeVar

WriteT = TypeVar("WriteT")

_MOST_MISSES = 10


class Prediction(Generic[WriteT]):
    """The write that a function is expected to make of its next batch.

    Most functions count their batch and then write it, the same way each time. Expecting that is worth the work of a
    count; expecting it in vain costs the work of a write. So a function that did otherwise is expected to do nothing
    for a while: two batches, and after each further time in a row twice as many, 1,024 at most.

    Attributes:
        writes: that the function made of its last batch.
    """

    def __init__(self) -> None:
        self.writes = 0
        self._last: WriteT | None = None
        self._misses = 0
        self._rest_batches = 0

    def expected(self) -> WriteT | None:
        """Return the write to prepare; None where none is expected."""
        return None if self._rest_batches else self._last

    def learn(self, seen: WriteT | None, came: bool | None, writes: int = 1) -> None:
        """Take note of what a function did with a batch.

        Args:
            seen: the write it made, if that is what may be expected next.
            came: whether the write that was prepared is the one it made; None where none was prepared.
            writes: all that it made.
        """
        self._last, self.writes = seen, writes
        if came is None:
            self._rest_batches = max(0, self._rest_batches - 1)
        elif came:
            self._misses = 0
        else:
            self._misses = min(_MOST_MISSES, self._misses + 1)
            self._rest_batches = 2**self._misses
