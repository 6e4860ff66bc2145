"""What a count does ahead of time: what the batch function did with the records after its last count.

A count reads every record, and so does what follows it. So the count does that, where it is known (decision 0021): it
stages the write that the last batch made, or decodes the records that the last batch used as rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from gluepot.connectors.ports import Sink
from gluepot.core.logging import get_logger
from gluepot.engine import execute
from gluepot.engine.pipeline import Pipeline
from gluepot.frames.transforms import Step
from gluepot.streaming.count_ahead.habit import Habit

if TYPE_CHECKING:
    from gluepot.streaming.micro_batch.context import BatchContext

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A write that may come again with the next batch.

    Args:
        steps: on the way from the batch to what is written.
        stage: runs a pipeline into the target of the write as part of a batch, up to where it would publish.
    """

    steps: tuple[Step, ...]
    stage: Callable[[BatchContext, Pipeline], execute.Staged]


@dataclass(frozen=True, slots=True)
class Rows:
    """The records are used as rows of Spark."""


Use = Repeatable | Rows


class Foresight:
    """What is done for one call of a batch function before it asks.

    Args:
        habit: what the query's function does with its batches.
    """

    def __init__(self, habit: Habit[Use]) -> None:
        self._habit = habit
        self._counted: Pipeline | None = None
        self._write: Repeatable | None = None
        self._ahead: Use | None = None
        self._staged: execute.Staged | None = None
        self._staging_came = False
        self._taking = Lock()

    def count(self, given: Pipeline, context: BatchContext) -> int | None:
        """Count the records of a batch by what the function is expected to do with them.

        Args:
            given: the batch, without steps.
            context: of the batch.

        Returns:
            the number of records; None where nothing is expected, and where that cannot be done.
        """
        self._counted = given
        if context.writes:
            return None
        self._ahead = self._habit.expected()
        try:
            match self._ahead:
                case Repeatable(steps, stage):
                    self._staged = stage(context, replace(given, steps=steps))
                    return sum(part.rows_in for part in self._staged.parts)
                case Rows() if given.kept is not None:
                    return given.kept.count()
        except Exception as failed:  # noqa: BLE001  the function has not asked for it; where it does, it will be told
            log.info("not_done_with_count", reason=str(failed))
        return None

    @property
    def answers_guards(self) -> bool:
        """Whether it is as well if nothing is counted where only emptiness is asked for (decision 0026).

        A count keeps the records on this machine, which is of use where they are then read more than once.
        """
        return self._habit.writes <= 1

    def staged(self, pipeline: Pipeline, sink: Sink) -> execute.Staged | None:
        """Return what `count` staged, if it is exactly this write; the caller publishes it or takes it back."""
        with self._taking:  # of two threads that write the same only one may publish it
            found = self._staged
            if found is None or (found.pipeline, found.sink) != (pipeline, sink):
                return None
            self._staged, self._staging_came = None, True
            return found

    def wrote(self, write: Repeatable) -> None:
        """Take note of a write that the function may make of its next batch, too."""
        self._write = write

    def end(self, context: BatchContext, *, done: bool) -> None:
        """Tell the query what its function did, and whether it came to its end; what it did not want goes."""
        kept = None if self._counted is None else self._counted.kept
        rows_came = kept is not None and kept.is_used
        seen: Use | None = None
        # After a count only: without one nothing is gained. One write only: others would have to read again what the
        # count keeps for them.
        if done and self._counted is not None:
            if self._write is not None and context.writes == 1:
                seen = self._write
            elif rows_came:
                seen = Rows()
        came = {Repeatable: self._staging_came, Rows: rows_came}.get(type(self._ahead))
        self._habit.learn(seen, came, context.writes)
        staged, self._staged = self._staged, None
        if staged is not None:
            staged.discard()
