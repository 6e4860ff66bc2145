"""Counts what the tasks of a run read, if somebody asks for it: Spark counts only what its own readers read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from pyspark import Accumulator, AccumulatorParam, SparkContext

Count = Callable[[int, int], None]
"""Adds records and bytes that were read. A task calls it once, at its end."""


class _Pairs(AccumulatorParam[tuple[int, int]]):
    def zero(self, value: tuple[int, int]) -> tuple[int, int]:  # noqa: ARG002  the signature is Spark's
        return (0, 0)

    def addInPlace(self, value1: tuple[int, int], value2: tuple[int, int]) -> tuple[int, int]:  # noqa: N802  as above
        return (value1[0] + value2[0], value1[1] + value2[1])


@dataclass(frozen=True, slots=True)
class _InTasks:
    """Counts in tasks; Spark brings the numbers back with the results of each task."""

    sums: Accumulator[tuple[int, int]]

    def __call__(self, records: int, size_bytes: int) -> None:
        self.sums.add((records, size_bytes))


class ReadTotals:
    """What all tasks have read so far, together. A task that is tried twice counts twice, as in Spark's own numbers."""

    def __init__(self) -> None:
        self._wanted = False
        self._in_driver = (0, 0)
        self._accumulators: dict[SparkContext, Accumulator[tuple[int, int]]] = {}
        self._turn = threading.Lock()

    def begin(self) -> None:
        """Count from now on."""
        self._wanted = True

    def records_and_bytes(self) -> tuple[int, int]:
        """Return how many records were read, and the size of their payloads."""
        with self._turn:
            pairs = [self._in_driver, *(one.value for one in self._accumulators.values())]
        return sum(records for records, _ in pairs), sum(size_bytes for _, size_bytes in pairs)

    def in_driver(self) -> Count:
        """Return what counts for tasks that run in the driver's threads."""
        return self._add if self._wanted else no_count

    def in_tasks(self, context: SparkContext) -> Count:
        """Return what counts for the tasks of a context, which take it along."""
        if not self._wanted:
            return no_count
        with self._turn:
            if context not in self._accumulators:
                self._accumulators[context] = context.accumulator((0, 0), _Pairs())
            return _InTasks(self._accumulators[context])

    def _add(self, records: int, size_bytes: int) -> None:
        with self._turn:
            before = self._in_driver
            self._in_driver = (before[0] + records, before[1] + size_bytes)


def no_count(records: int, size_bytes: int) -> None:
    """Count nothing, because nobody asks for it or because it was counted before."""


READ_TOTALS = ReadTotals()
"""Those of this process."""
