"""What a count does ahead of time: what the batch function did with the records after its last count.

A count reads every record, and so does what follows it. So the count does that, where it is known (decision 0021): it
stages the write that the last batch made, or decodes the records that the last batch used as rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock

from gluepot.connectors.ports import Sink
from gluepot.core.logging import get_logger
from gluepot.engine import execute
from gluepot.engine.pipeline import Pipeline
from gluepot.engine.writer import RepeatedWrite, TableWriter
from gluepot.streaming.count_ahead.prediction import Prediction

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Rows:
    """The records are used as rows of Spark."""


Use = RepeatedWrite | Rows


class Speculation:
    """What is done for one call of a batch function before it asks.

    Args:
        prediction: what the query's function does with its batches.
    """

    def __init__(self, prediction: Prediction[Use]) -> None:
        self._prediction = prediction
        self._counted: Pipeline | None = None
        self._write: RepeatedWrite | None = None
        self._ahead: Use | None = None
        self._staged: execute.Staged | None = None
        self._staging_came = False
        self._taking = Lock()

    def count(self, given: Pipeline, writer: TableWriter) -> int | None:
        """Count the records of a batch by what the function is expected to do with them.

        Args:
            given: the batch, without steps.
            writer: of the batch.

        Returns:
            the number of records; None where nothing is expected, and where that cannot be done.
        """
        self._counted = given
        if writer.writes:
            return None
        self._ahead = self._prediction.expected()
        try:
            match self._ahead:
                case RepeatedWrite():
                    self._staged = writer.stage(self._ahead, replace(given, steps=self._ahead.steps))
                    return sum(part.rows_in for part in self._staged.parts)
                case Rows() if given.kept is not None:
                    return given.kept.count()
        except Exception as failed:  # noqa: BLE001  the function has not asked for it; where it does, it will be told
            log.info("not_done_with_count", reason=str(failed))
        return None

    @property
    def answers_emptiness_checks(self) -> bool:
        """Whether it is as well if nothing is counted where only emptiness is asked for (decision 0026).

        A count keeps the records on this machine, which is of use where they are then read more than once.
        """
        return self._prediction.writes <= 1

    def staged(self, pipeline: Pipeline, sink: Sink) -> execute.Staged | None:
        """Return what `count` staged, if it is exactly this write; the caller publishes it or takes it back."""
        with self._taking:  # of two threads that write the same only one may publish it
            found = self._staged
            if found is None or (found.pipeline, found.sink) != (pipeline, sink):
                return None
            self._staged, self._staging_came = None, True
            return found

    def wrote(self, write: RepeatedWrite) -> None:
        """Take note of a write that the function may make of its next batch, too."""
        self._write = write

    def end(self, writer: TableWriter, *, done: bool) -> None:
        """Tell the query what its function did, and whether it came to its end; what it did not want goes."""
        kept = None if self._counted is None else self._counted.kept
        rows_came = kept is not None and kept.is_used
        seen: Use | None = None
        # After a count only: without one nothing is gained. One write only: others would have to read again what the
        # count keeps for them.
        if done and self._counted is not None:
            if self._write is not None and writer.writes == 1:
                seen = self._write
            elif rows_came:
                seen = Rows()
        came = {RepeatedWrite: self._staging_came, Rows: rows_came}.get(type(self._ahead))
        self._prediction.learn(seen, came, writer.writes)
        staged, self._staged = self._staged, None
        if staged is not None:
            staged.discard()
