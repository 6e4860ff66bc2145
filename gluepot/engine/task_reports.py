"""Brings the events that workers have counted to the driver, with the results of their tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pyspark import Accumulator, SparkContext, TaskContext

from gluepot.core.task_events import EVENTS, RETRIED_TASKS
from gluepot.engine.accumulators import Accumulators

T = TypeVar("T")
_Counts = dict[str, int]


def _sum(counts: _Counts, more: _Counts) -> _Counts:
    return dict(Counter(counts) + Counter(more))


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
        self._accumulators = Accumulators(_sum)

    def of(self, context: SparkContext) -> TaskReport:
        """Return what tasks of a context report with."""
        return TaskReport(self._accumulators.of(context))

    def counts(self) -> Mapping[str, int]:
        """Return what happened so far, in tasks and in the driver, where small batches run."""
        return sum(map(Counter, self._accumulators.values()), Counter(EVENTS.counts()))


REPORTS = TaskReports()
"""Those of this process."""
