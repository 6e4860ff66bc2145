"""Brings the events that workers have counted to the driver, with the results of their tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from pyspark import Accumulator, AccumulatorParam, SparkContext, TaskContext

from gluepot.core.task_events import EVENTS, RETRIED_TASKS

T = TypeVar("T")
_Counts = dict[str, int]


class _SumParam(AccumulatorParam[_Counts]):
    def zero(self, value: _Counts) -> _Counts:  # noqa: ARG002  the signature is Spark's
        return {}

    def addInPlace(self, value1: _Counts, value2: _Counts) -> _Counts:  # noqa: N802  as above
        return dict(Counter(value1) + Counter(value2))


@dataclass(frozen=True, slots=True)
class TaskReport:
    """Reports the events of a task at its end; it is sent with the task."""

    counts: Accumulator[_Counts]

    def after(self, results: Iterable[T]) -> Iterator[T]:
        """Pass the results of a task on. A task that fails before their end reports nothing."""
        yield from results
        context = TaskContext.get()
        events = EVENTS.take()
        if context is not None and context.attemptNumber() > 0:
            events[RETRIED_TASKS] += 1
        if events:
            self.counts.add(dict(events))


class TaskReports:
    """The events of all tasks of a driver."""

    def __init__(self) -> None:
        self._accumulators: dict[SparkContext, Accumulator[_Counts]] = {}
        self._changing = Lock()

    def of(self, context: SparkContext) -> TaskReport:
        """Return what tasks of a context report with."""
        with self._changing:
            if context not in self._accumulators:
                self._accumulators[context] = context.accumulator({}, _SumParam())
            return TaskReport(self._accumulators[context])

    def counts(self) -> Mapping[str, int]:
        """Return what happened so far, in tasks and in the driver, where small batches run."""
        with self._changing:
            reported = [one.value for one in self._accumulators.values()]
        return sum(map(Counter, reported), Counter(EVENTS.counts()))


REPORTS: TaskReports = TaskReports()
"""Those of this process."""
