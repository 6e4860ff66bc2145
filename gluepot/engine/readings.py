"""Counts what tasks read of each source.

A source can be read more than once: by two writes, or by a DataFrame that Spark evaluates twice. Each read is counted
separately. If a task runs twice in one read, the run with more records counts. The count of a source is that of its
largest read.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark import Accumulator, SparkContext

from gluepot.connectors.streams.rejects import RejectsOfFrame
from gluepot.engine.account import Reading, SourceName
from gluepot.engine.accumulators import Accumulators

NOTHING = Reading()
_Task = tuple[SourceName | None, int, int]
"""The source, the number of the read, and the task. Inputs that are not sources share the key `_OTHERS`."""
_OTHERS: _Task = (None, 0, 0)
_Counts = dict[_Task, Reading]

Keep = Callable[[RejectsOfFrame], None]
"""Reads a source again and stores its rejected records."""

Count = Callable[[int, Reading], None]
"""Takes the ordinal of a task and what it has read. A task calls it once, at its end."""


def _merged(counts: _Counts, more: _Counts) -> _Counts:
    """Merge `more` into `counts`, and return these. If a task ran twice, the larger count is kept."""
    for task, reading in more.items():
        before = counts.get(task, NOTHING)
        counts[task] = before + reading if task == _OTHERS else max(before, reading)
    return counts


def _key(source: SourceName | None, number: int, task: int) -> _Task:
    return _OTHERS if source is None else (source, number, task)


@dataclass(frozen=True, slots=True)
class _TaskCounter:
    """Counts in tasks; Spark brings the numbers back with the results of each task."""

    counts: Accumulator[_Counts]
    source: SourceName | None
    number: int

    def __call__(self, task: int, reading: Reading) -> None:
        self.counts.add({_key(self.source, self.number, task): reading})


@dataclass(slots=True)
class _Notes:
    """What is known of a source apart from numbers.

    Args:
        keep: reads it again and stores its rejected records; None if no read has left that out.
        bookmark: the name of the bookmark that will say that it was read; empty if it has none.
        is_whole: whether a read of it has succeeded; None if none has ended.
        found_by: the option by which records are found in its files; empty if all text is records.
        is_stored: whether its rejected records were stored with a frame of all of its records.
    """

    keep: Keep | None = None
    bookmark: str = ""
    is_whole: bool | None = None
    found_by: str = ""
    is_stored: bool = False


class Readings:
    """What all tasks of a process have read so far."""

    def __init__(self) -> None:
        self._in_driver: _Counts = {}
        self._accumulators = Accumulators(_merged)
        self._forgotten = NOTHING
        self._notes: defaultdict[SourceName, _Notes] = defaultdict(_Notes)
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def named(self, scope: str, label: str) -> SourceName:
        """Return a name for a read that no other read has."""
        return SourceName(scope, next(self._numbers), label)

    def in_driver(self, source: SourceName | None) -> Count:
        """Return a callback that counts one read of a source by threads of the driver."""
        number = next(self._numbers)

        def count(task: int, reading: Reading) -> None:
            with self._lock:
                _merged(self._in_driver, {_key(source, number, task): reading})

        return count

    def in_tasks(self, context: SparkContext, source: SourceName | None) -> Count:
        """Return a callback that counts one read of a source in Spark's tasks. It is sent with the tasks."""
        return _TaskCounter(self._accumulators.of(context), source, next(self._numbers))

    def has_bookmark(self, source: SourceName, bookmark: str) -> None:
        """Note the name of the bookmark that will say that a source was read."""
        with self._lock:
            self._notes[source].bookmark = bookmark

    def found_by(self, source: SourceName, option: str) -> None:
        """Note the option by which records are found in the files of a source; empty if all text is records."""
        if option:
            with self._lock:
                self._notes[source].found_by = option

    def nothing_found(self, scope: str) -> Sequence[tuple[str, str]]:
        """Return the sources of a scope that were read as a whole and have no record, with their options."""
        counted: Counter[SourceName] = Counter()
        for (source, _), reading in self._of_readings(scope).items():
            counted[source] += reading.delivered
        return [
            (source.label, notes.found_by)
            for source, notes in self._of_sources(scope)
            if notes.found_by and notes.is_whole and not counted[source]
        ]

    def ended(self, source: SourceName | None, *, is_whole: bool) -> None:
        """Note that a read of a source has ended, and whether it has succeeded."""
        if source is not None:
            with self._lock:
                notes = self._notes[source]
                notes.is_whole = is_whole or bool(notes.is_whole)

    def failed(self, scope: str) -> Sequence[str]:
        """Return the bookmarks of the sources of a scope of which every read has failed."""
        return [notes.bookmark for _, notes in self._of_sources(scope) if notes.bookmark and notes.is_whole is False]

    def unused(self, scope: str) -> Sequence[str]:
        """Return the bookmarks of the sources of a scope that nothing has read."""
        counted = {source for source, _ in self._of_readings(scope)}
        return [
            notes.bookmark
            for source, notes in self._of_sources(scope)
            if notes.bookmark and notes.is_whole is None and source not in counted
        ]

    def keeps_nothing(self, source: SourceName | None, keep: Keep) -> None:
        """Note that a source is read without storing its rejected records, as `count()` and `show()` do.

        Args:
            source: the source.
            keep: reads it again; used at the end of the scope, unless another read has stored these records.
        """
        if source is not None:
            with self._lock:
                self._notes[source].keep = keep

    def stored(self, sources: Iterable[SourceName]) -> None:
        """Note that a frame of all records of some sources was written, with the records that were rejected."""
        with self._lock:
            for source in sources:
                self._notes[source].is_stored = True

    def unkept(self, scope: str) -> Sequence[Keep]:
        """Return what must be called so that all rejected records of a scope are stored."""
        of_sources: defaultdict[SourceName, list[Reading]] = defaultdict(list)
        for (source, _), reading in self._of_readings(scope).items():
            of_sources[source].append(reading)
        return [
            notes.keep
            for source, notes in self._of_sources(scope)
            if notes.keep is not None
            and not notes.is_stored
            and source in of_sources
            and max(of_sources[source]).rejected > max(one.kept for one in of_sources[source])
        ]

    def records_and_bytes(self) -> tuple[int, int]:
        """Return how many records were read, and the size of their payloads; each reading counts."""
        with self._lock:
            whole = sum((one for counts in self._all() for one in list(counts.values())), self._forgotten)
        return whole.records, whole.size_bytes

    def of_scope(self, scope: str) -> Mapping[str, Reading]:
        """Return what was read in a scope, by label. Of the readings of one source, the largest counts."""
        largest: dict[SourceName, Reading] = {}
        for (source, _), reading in self._of_readings(scope).items():
            largest[source] = max(largest.get(source, NOTHING), reading)
        by_label: dict[str, Reading] = {}
        for source, reading in sorted(largest.items()):
            by_label[source.label] = by_label.get(source.label, NOTHING) + reading
        return by_label

    def take(self, scope: str) -> Mapping[str, Reading]:
        """Return what `of_scope` returns, and forget the scope."""
        read = self.of_scope(scope)
        self.forget(scope)
        return read

    def forget(self, scope: str) -> None:
        """Forget a scope that has ended; `records_and_bytes` still counts what was read in it."""
        with self._lock:
            for counts in self._all():
                for task in [one for one in list(counts) if one[0] is not None and one[0].scope == scope]:
                    self._forgotten += counts.pop(task)
            for source in [one for one in self._notes if one.scope == scope]:
                del self._notes[source]

    def _of_sources(self, scope: str) -> list[tuple[SourceName, _Notes]]:
        with self._lock:
            return [(source, notes) for source, notes in self._notes.items() if source.scope == scope]

    def _of_readings(self, scope: str) -> Mapping[tuple[SourceName, int], Reading]:
        of_readings: defaultdict[tuple[SourceName, int], Reading] = defaultdict(Reading)
        with self._lock:
            for counts in self._all():
                for (source, number, _), reading in list(counts.items()):
                    if source is not None and source.scope == scope:
                        of_readings[source, number] += reading
        return of_readings

    def _all(self) -> list[_Counts]:
        return [self._in_driver, *self._accumulators.values()]


def no_count(task: int, reading: Reading) -> None:
    """Count nothing, because it was counted before."""


READINGS = Readings()
"""Those of this process."""
