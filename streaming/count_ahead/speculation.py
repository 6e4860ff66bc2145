"""Count-ahead: a count that also does what the batch function did after counting its last batch.

A count reads every record, and the operation after it reads them all again. So the count does that operation at once
if it is predictable (decision 0021): it stages the same write as in the last batch, or it decodes the records if the
last batch used them as rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock

from gluepot.connectors.contracts import Sink
from gluepot.core.logging import get_logger
from gluepot.engine import execute
from gluepot.engine.pipeline import Pipeline
from gluepot.engine.writer import RepeatedWrite, TableWriter
from gluepot.streaming.count_ahead.prediction import Prediction

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Rows:
    """The function uses the records as Spark rows."""


Use = RepeatedWrite | Rows


class Speculation:
    """The count-ahead of one call of a batch function.

    Args:
        prediction: predicts what the query's function does with its batches.
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
        """Count the records of a batch by doing the work that the function is expected to do next.

        Args:
            given: the batch, without steps.
            writer: the table writer of the batch.

        Returns:
            The number of records; None if nothing is predicted, or if the predicted work fails.
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
        except Exception as failed:  # noqa: BLE001  if the function does ask for this work, it gets the error then
            log.info("not_done_with_count", reason=str(failed))
        return None

    @property
    def answers_emptiness_checks(self) -> bool:
        """Whether a count that only checks for emptiness may skip the counting (decision 0026).

        A count keeps the records on this machine. That pays only if the function then reads them more than once.
        """
        return self._prediction.writes <= 1

    def staged(self, pipeline: Pipeline, sink: Sink) -> execute.Staged | None:
        """Return what `count` staged if it is exactly this write; the caller then publishes or discards it."""
        with self._taking:  # if two threads make the same write, only one may publish the staged files
            found = self._staged
            if found is None or (found.pipeline, found.sink) != (pipeline, sink):
                return None
            self._staged, self._staging_came = None, True
            return found

    def wrote(self, write: RepeatedWrite) -> None:
        """Remember a write that the function may repeat for its next batch."""
        self._write = write

    def end(self, writer: TableWriter, *, done: bool) -> None:
        """Teach the prediction what the function did, and discard staged files that it did not use.

        Args:
            writer: the table writer of the batch.
            done: whether the function returned without an error.
        """
        kept = None if self._counted is None else self._counted.kept
        rows_came = kept is not None and kept.is_used
        seen: Use | None = None
        # Predict only after a count, because without a count nothing is gained. Predict only a single write: for
        # several, it is better that the count keeps the records, so that no write has to read them again.
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
