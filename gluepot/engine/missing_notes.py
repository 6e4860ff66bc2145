"""What the tasks of DataFrames report about fields without values; the tasks of a write report it in their parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from pyspark import Accumulator, SparkContext

from gluepot.connectors.values import MissingFields
from gluepot.engine.account import SourceName
from gluepot.engine.accumulators import Accumulators

_Notes = dict[tuple[int, int], MissingFields | None]
"""By the number of the frame, and the task."""

Note = Callable[[int, MissingFields | None], None]
"""Takes the ordinal of a task that has read its whole input, and what it has seen."""


def _updated(notes: _Notes, more: _Notes) -> _Notes:
    notes.update(more)
    return notes


@dataclass(frozen=True, slots=True)
class _TaskNotes:
    """Notes in tasks; Spark brings the notes back with the results of each task."""

    notes: Accumulator[_Notes]
    number: int

    def __call__(self, task: int, missing: MissingFields | None) -> None:
        self.notes.add({(self.number, task): missing})


@dataclass(frozen=True, slots=True)
class Frame:
    """What was seen of a DataFrame.

    Args:
        source: what the user knows its source by.
        of_tasks: what each task has seen; None for a task without records.
        names: returns the names of columns that the tasks may not have read.
    """

    source: str
    of_tasks: Sequence[MissingFields | None]
    names: Callable[[], Sequence[str]]


class MissingNotes:
    """What the tasks of the DataFrames of a process have seen so far."""

    def __init__(self) -> None:
        self._accumulators = Accumulators(_updated)
        self._frames: dict[int, tuple[SourceName, int, Callable[[], Sequence[str]]]] = {}
        self._whole: list[tuple[SourceName, Frame]] = []
        self._numbers = itertools.count(1)
        self._lock = Lock()

    def in_tasks(
        self, context: SparkContext, source: SourceName, tasks: int, names: Callable[[], Sequence[str]]
    ) -> Note:
        """Return a callback for the tasks of a DataFrame.

        Args:
            context: runs the tasks.
            source: what they read.
            tasks: their number. A frame of which Spark has read only a part is not judged.
            names: returns the names of columns that the tasks may not have read.
        """
        with self._lock:
            number = next(self._numbers)
            self._frames[number] = source, tasks, names
        return _TaskNotes(self._accumulators.of(context), number)

    def add(
        self, source: SourceName, of_tasks: Sequence[MissingFields | None], names: Callable[[], Sequence[str]]
    ) -> None:
        """Add what the tasks of a frame have seen that was read as a whole; arguments as in `Frame`."""
        with self._lock:
            self._whole.append((source, Frame(source.label, of_tasks, names)))

    def take(self, scope: str) -> Sequence[Frame]:
        """Return what was seen of the frames of a scope that were read as a whole, and forget all frames of it."""
        with self._lock:
            taken = [frame for source, frame in self._whole if source.scope == scope]
            self._whole = [one for one in self._whole if one[0].scope != scope]
            for number, (source, tasks, names) in list(self._frames.items()):
                if source.scope == scope:
                    del self._frames[number]
                    seen = [self._pop(number, task) for task in range(tasks)]
                    if all(is_known for is_known, _ in seen):
                        taken.append(Frame(source.label, [missing for _, missing in seen], names))
            return taken

    def _pop(self, number: int, task: int) -> tuple[bool, MissingFields | None]:
        for notes in self._accumulators.values():
            if (number, task) in notes:
                return True, notes.pop((number, task))
        return False, None


def no_note(task: int, missing: MissingFields | None) -> None:
    """Note nothing, because no step asks for a field."""


NOTES = MissingNotes()
"""Those of this process."""
