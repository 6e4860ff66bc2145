"""One micro-batch: runs the batch function on it and holds the totals of its writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from gluepot.connectors.streams.rejects import discard, put_aside, rejects_root
from gluepot.connectors.values import SourceRange
from gluepot.core.errors import PermanentError
from gluepot.core.failpoints import reach
from gluepot.core.on_malformed import OnMalformed
from gluepot.engine.account import SourceName
from gluepot.engine.cached_records import KeptRecords
from gluepot.engine.pipeline import FrameInput, Pipeline, RangeInput, StickySchema
from gluepot.engine.write_totals import WriteTotals, WrittenFile
from gluepot.engine.writer import TableWriter
from gluepot.streaming.count_ahead.prediction import Prediction
from gluepot.streaming.count_ahead.speculation import Speculation
from gluepot.streaming.micro_batch import scopes
from gluepot.streaming.micro_batch.frames import BatchFrame, StreamFrame
from gluepot.streaming.settings import StreamSettings

# The side task that releases the rows cached for the function.
RELEASE = "release_rows"

BatchFunction = Callable[[Any, int], Any]


def _at_once(_: str, action: Callable[[], object]) -> object:
    return action()


@dataclass(slots=True)
class BatchContext:
    """The running micro-batch. The user's function reaches it through Glue's own signatures only.

    Args:
        writer: the table writer of the batch.
        storage_level: where Spark caches records that are used repeatedly; None to read them again for each use.
        speculation: the work that a count does ahead for the function.
        scope: which threads write as part of the batch.
        source: what the user knows the batch's stream by.
        on_malformed: what happens to records that cannot be read as rows.
        is_strict: whether what looks like a mistake in the data fails the batch.
        beside: runs a side task under its name; in a query it raises nothing.
        distinct: columns of the batch's streams whose names no field of a payload may have.
    """

    writer: TableWriter
    storage_level: StorageLevel | None = None
    speculation: Speculation = field(default_factory=lambda: Speculation(Prediction()))
    scope: scopes.Scope = field(default_factory=scopes.Scope)
    source: str = "stream"
    on_malformed: OnMalformed = OnMalformed.KEEP
    is_strict: bool = False
    beside: Callable[[str, Callable[[], object]], object] = _at_once
    distinct: tuple[str, ...] = ()
    _kept: list[KeptRecords] = field(default_factory=list)

    @property
    def batch_id(self) -> int:
        """Number of the micro-batch."""
        return self.writer.by.batch_id

    @property
    def source_name(self) -> SourceName:
        """The name of the batch's stream in the account of records."""
        return SourceName(self.writer.scope, 0, self.source)

    @property
    def totals(self) -> WriteTotals:
        """The totals of all writes of the batch."""
        return self.writer.totals

    def count(self, given: Pipeline) -> int | None:
        """Count the records by doing the work that the function is expected to do next; see `Speculation.count`."""
        return self.speculation.count(given, self.writer)

    def pipeline(self, given: FrameInput) -> Pipeline:
        """Return a pipeline over rows whose documents are decoded only once during the batch."""
        if self.storage_level is None:
            return Pipeline(given)
        kept = KeptRecords(given.frame.sparkSession, given, self.storage_level, self.writer.rejects)
        self._kept.append(kept)
        return Pipeline(given, kept=kept)

    def release(self) -> None:
        """Release the records that were cached for the function."""
        while self._kept:
            self._kept.pop().release()


def current_batch() -> BatchContext | None:
    """Return the micro-batch whose function runs in this thread or started it; None outside of a batch function.

    Raises:
        PermanentError: a batch function started this thread, and its query runs no batch any more.
    """
    scope = scopes.current()
    if scope is None:
        return None
    if scope.batch is None:
        scope.late = PermanentError(
            "A thread that a batch function started writes after the function has returned, when its batch is done"
            " already; wait for the thread in the function, for example with join()."
        )
        raise scope.late
    assert isinstance(scope.batch, BatchContext)  # only `run_known` and `run_rows` open a scope
    return scope.batch


def run_known(
    stream: StreamFrame,
    frame: DataFrame,
    ranges: Sequence[SourceRange],
    function: BatchFunction,
    context: BatchContext,
    settings: StreamSettings,
    rows: Callable[[], DataFrame] | None = None,
    counted: int | None = None,
) -> None:
    """Run the function on all ranges of a micro-batch, or on some of them.

    Args:
        stream: the stream that the batch comes from.
        frame: the DataFrame that Spark made for the batch.
        ranges: the ranges that the function gets.
        function: the batch function.
        context: the context of the batch.
        settings: the settings of the query.
        rows: makes the DataFrame of the ranges if they are only a part of the batch.
        counted: number of records of a small batch, which the driver reads itself; None if Spark's tasks read it.
    """
    is_small = counted is not None
    reading = stream.source.small_reading() if is_small else stream.source.reading()
    shape = stream.source.shape
    sticky = StickySchema(context.totals.schema.known)
    given = RangeInput(
        reading,
        tuple(ranges),
        sticky,
        stream.extras,
        shape.declared,
        is_small,
        shape.growing,
        context.source_name,
        shape.on_malformed,
        shape.record_columns,
    )
    batch = BatchFrame(
        frame,
        given,
        stream.json_column,
        context.storage_level,
        context.writer.rejects,
        rows,
        counted,
        context.count,
        answers_emptiness_checks=context.speculation.answers_emptiness_checks,
    )
    try:
        _call(function, batch, context)
        root = rejects_root(shape.rejects_path, settings.checkpoint_location)
        is_dropped = shape.on_malformed is OnMalformed.DROP
        is_counted = not context.totals.rejected or is_dropped
        if batch.rows_read and shape.declared is not None and root is not None and is_counted:
            for file in put_aside(root, given.ranges):
                if is_dropped:
                    context.totals.left_out += file.by_reason.total()
                    continue
                context.totals.rejected.update(file.by_reason)
                context.totals.written.append(
                    WrittenFile(root, file.path, file.size_bytes, file.by_reason.total(), rejects=True)
                )
            if context.totals.left_out:
                discard(root, given.ranges)
    finally:
        context.beside(RELEASE, batch.release)


def run_rows(frame: DataFrame, function: BatchFunction, context: BatchContext) -> bool:
    """Run the function, as Glue does, on a micro-batch whose ranges are unknown; return False if it is empty.

    With persistence this counts the rows; without it, this looks for one row. The function never gets an empty batch.
    """
    if context.storage_level is None:
        if not frame.take(1):
            return False
        _call(function, frame, context)
        return True
    frame.persist(context.storage_level)
    try:
        rows = frame.count()
        if rows:
            context.totals.rows_in = rows
            _call(function, frame, context)
        return rows > 0
    finally:
        context.beside(RELEASE, frame.unpersist)


def _call(function: BatchFunction, frame: DataFrame, context: BatchContext) -> None:
    reach("batch.entered")
    context.writer.begin_attempt()
    done = False
    try:
        with scopes.running(context.scope, context):
            function(frame, context.batch_id)
        context.writer.finish(is_strict=context.is_strict)
        done = True
    finally:
        context.beside("speculation", lambda: context.speculation.end(context.writer, done=done))
        context.beside(RELEASE, context.release)
