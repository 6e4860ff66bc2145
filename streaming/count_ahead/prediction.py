"""Predicts what a batch function will do from what it did with earlier batches. Pure."""

from __future__ import annotations

from typing import Generic, TypeVar

WriteT = TypeVar("WriteT")

_MOST_MISSES = 10


class Prediction(Generic[WriteT]):
    """The write that a function is expected to make of its next batch.

    Most functions count their batch and then write it, in the same way each time. A right prediction saves the work of
    a count; a wrong one costs the work of a write. So after a wrong prediction nothing is predicted for two batches,
    and after each further wrong prediction in a row for twice as many, at most 1,024.

    Attributes:
        writes: number of writes that the function made of its last batch.
    """

    def __init__(self) -> None:
        self.writes = 0
        self._last: WriteT | None = None
        self._misses = 0
        self._rest_batches = 0

    def expected(self) -> WriteT | None:
        """Return the write to prepare; None if no write is predicted."""
        return None if self._rest_batches else self._last

    def learn(self, seen: WriteT | None, came: bool | None, writes: int = 1) -> None:
        """Learn from what a function did with a batch.

        Args:
            seen: the write to predict for the next batch; None to predict none.
            came: whether the function made the write that was prepared; None if none was prepared.
            writes: number of all writes that the function made.
        """
        self._last, self.writes = seen, writes
        if came is None:
            self._rest_batches = max(0, self._rest_batches - 1)
        elif came:
            self._misses = 0
        else:
            self._misses = min(_MOST_MISSES, self._misses + 1)
            self._rest_batches = 2**self._misses
