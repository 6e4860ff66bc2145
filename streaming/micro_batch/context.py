"""One micro-batch: what the user's function is given, and what its writes add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from gluepot.commit import Origin, QueryWrites, Target, place_digest
from gluepot.commit.recorded_columns import TableColumns
from gluepot.connectors.ports import (
    AlreadyCommitted,
    CommitKey,
    Committed,
    Manifest,
    ManifestPart,
    SourceRange,
    StagedFile,
    write_label,
)
from gluepot.connectors.streams.rejects import put_aside, rejects_root
from gluepot.core.datasets import Dataset
from gluepot.core.errors import PermanentError
from gluepot.core.failpoints import reach
from gluepot.engine.cached_records import KeptRecords
from gluepot.engine.pipeline import FrameInput, Pipeline, RangeInput
from gluepot.frames.schema import merge_schemas
from gluepot.streaming.count_ahead.foresight import Foresight
from gluepot.streaming.count_ahead.habit import Habit
from gluepot.streaming.micro_batch import scopes
from gluepot.streaming.micro_batch.frames import BatchFrame, StreamFrame
from gluepot.streaming.progress import Output, WrittenFile
from gluepot.streaming.schema_changes import ColumnChange, column_changes
from gluepot.streaming.settings import StreamSettings

RELEASE = "release_rows"
"""The side task of letting go of rows that were kept for the function."""

BatchFunction = Callable[[Any, int], Any]


def _at_once(_: str, action: Callable[[], object]) -> object:
    return action()


@dataclass(slots=True)
class StreamSchema:
    """What is known of a stream's records, from batch to batch; sticky, so that parsing does not start from nothing."""

    known: pa.Schema | None = None

    def learn(self, parts: Sequence[ManifestPart]) -> list[ColumnChange]:
        """Take in what the tasks of a write have seen; return what that changed: nothing the first time."""
        before = self.known
        for part in parts:
            if part.source_schema is not None:
                seen = pa.ipc.read_schema(pa.py_buffer(part.source_schema))
                self.known = seen if self.known is None else merge_schemas(self.known, seen)
        return [] if before is None or self.known is None else column_changes(before, self.known)


@dataclass(slots=True)
class BatchContext:
    """The running micro-batch, reachable from the user's function through Glue's own signatures only.

    Args:
        query_id: Spark's id of the query; changes when the checkpoint is deleted.
        batch_id: number of the micro-batch.
        token: of the driver's lease.
        ranges: what the batch holds; empty for a stream of a foreign source.
        offsets_digest: tells the batch from others of its number where it has no ranges.
        schema: of the stream.
        rejects_path: of the stream's options; None: below each table.
        origin: of the query; None outside of a stream, where nothing says what a table should hold already.
        rows_aside: records of the batch that the function is not given, because they are dead letters.
        in_any_order: whether tasks could share the records of a range.
        rows_in_table: by URL, what the query has in each table written to, over all of its runs.
        rehearsed: while the function is only tried, the writes it reached; None when writes are to be published.
        storage_level: where records are kept that are used again and again; None to read them each time.
        foresight: what is done for the function before it asks.
        tables: what this driver knows of the tables the query writes to.
        columns: of these tables.
        scope: which threads write as part of the batch.
        beside: does what is no part of the batch, by the name of a side task; in a query it raises nothing.

    A function may write from several threads, so the methods that change something are safe to call from any.
    """

    query_id: str
    batch_id: int
    token: int = 0
    ranges: tuple[SourceRange, ...] = ()
    offsets_digest: str = ""
    schema: StreamSchema = field(default_factory=StreamSchema)
    rejects_path: str | None = None
    origin: Origin | None = None
    rows_in: int = 0
    rows_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    files: int = 0
    file_sizes_bytes: list[int] = field(default_factory=list)
    column_changes: list[ColumnChange] = field(default_factory=list)
    written: list[WrittenFile] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    phase_secs: Counter[str] = field(default_factory=Counter)
    newest_epoch_ms: dict[str, int] = field(default_factory=dict)
    rows_aside: int = 0
    in_any_order: bool = False
    rows_in_table: dict[str, int] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)
    rehearsed: dict[tuple[str, CommitKey], Target] | None = None
    storage_level: StorageLevel | None = None
    foresight: Foresight = field(default_factory=lambda: Foresight(Habit()))
    tables: QueryWrites = field(default_factory=lambda: QueryWrites(""))
    columns: TableColumns = field(default_factory=TableColumns)
    scope: scopes.Scope = field(default_factory=scopes.Scope)
    beside: Callable[[str, Callable[[], object]], object] = _at_once
    _writes: Counter[tuple[str, str]] = field(default_factory=Counter)
    _kept: list[KeptRecords] = field(default_factory=list)
    _changing: RLock = field(default_factory=RLock)

    def __post_init__(self) -> None:
        if not self.tables.query_id:
            self.tables = QueryWrites(self.query_id, self.token)

    def next_write(self, place: str, transformation_ctx: str) -> Manifest:
        """Return what is known of the next write before it runs.

        Args:
            place: the one spelling of the target. Writes are counted for each target by itself, so that a retry may
                come to its targets in another order.
            transformation_ctx: as the script gives it.
        """
        with self._changing:
            planned = self.upcoming(place, transformation_ctx)
            self._writes[place, transformation_ctx] += 1
            return planned

    def upcoming(self, place: str, transformation_ctx: str) -> Manifest:
        """Return what `next_write` would."""
        label = write_label(transformation_ctx, self._writes[place, transformation_ctx] + 1)
        key = CommitKey(self.query_id, self.batch_id, label, place_digest(place))
        return Manifest(key, (), self.ranges, self.offsets_digest, self.token)

    @property
    def writes(self) -> int:
        """How many writes the function has begun."""
        return self._writes.total()

    def count(self, given: Pipeline) -> int | None:
        """Count the records of the batch by what the function is expected to do with them, see `Foresight.count`."""
        return self.foresight.count(given, self)

    def pipeline(self, given: FrameInput) -> Pipeline:
        """Return a pipeline over rows whose documents are decoded once, as long as the batch lasts."""
        if self.storage_level is None:
            return Pipeline(given)
        kept = KeptRecords(given.frame.sparkSession, given, self.storage_level)
        self._kept.append(kept)
        return Pipeline(given, kept=kept)

    def release(self) -> None:
        """Let go of what was kept for the function."""
        while self._kept:
            self._kept.pop().release()

    def record(
        self,
        outcome: Committed | AlreadyCommitted,
        parts: Sequence[ManifestPart],
        target: Target | None = None,
        dataset: Dataset | None = None,
    ) -> None:
        """Add up what a write did. Input is counted once, however many writes read it.

        What an earlier attempt of the batch published counts as if this one had: only one attempt is ever reported.

        Args:
            outcome: of publishing.
            parts: what the tasks did.
            target: where the files lie; None for a write of none.
            dataset: what was written to, for lineage; None for what has no name there.
        """
        with self._changing:
            self._add(outcome, parts, target, dataset)

    def _add(
        self,
        outcome: Committed | AlreadyCommitted,
        parts: Sequence[ManifestPart],
        target: Target | None,
        dataset: Dataset | None,
    ) -> None:
        self.rows_in = max(self.rows_in, sum(part.rows_in for part in parts))
        self.bytes_in = max(self.bytes_in, sum(part.bytes_in for part in parts))
        self.rows_out += sum(part.rows_out for part in parts)
        self.files += len(outcome.files)
        files = [file for part in parts for file in part.files]
        self.bytes_out += sum(file.size_bytes for file in files)
        self.file_sizes_bytes += [file.size_bytes for file in files if not file.rejects]
        for part in parts:
            self.rejected.update(part.rejected)
            self.phase_secs.update(part.phase_secs)
            for shard, newest in part.newest_epoch_ms.items():
                self.newest_epoch_ms[shard] = max(self.newest_epoch_ms.get(shard, 0), newest)
        self.column_changes += self.schema.learn(parts)
        if target is not None:
            self.in_any_order |= any(part.ranges for part in parts)
            self.written += _written(target, outcome, files)
        if dataset is not None:
            schemas = tuple(dict.fromkeys(part.schema for part in parts if part.schema is not None))
            size_bytes = sum(file.size_bytes for file in files if not file.rejects)
            self.outputs.append(Output(dataset, outcome.rows, size_bytes, len(outcome.files), schemas))


def _written(
    target: Target, outcome: Committed | AlreadyCommitted, files: Sequence[StagedFile]
) -> Iterator[WrittenFile]:
    """Yield the files under the names they were published by, which are those of the outcome, in the same order."""
    for storage, paths, rejects in ((target.table, outcome.files, False), (target.rejects, outcome.rejects, True)):
        of_kind = (file for file in files if file.rejects == rejects)
        for path, file in zip(paths, of_kind, strict=False):  # a sink other than of files names none
            yield WrittenFile(storage.url, path, file.size_bytes, file.rows, rejects)


def current_batch() -> BatchContext | None:
    """Return the micro-batch whose function this thread runs, or was started by; None outside of one.

    Raises:
        PermanentError: a function of a query has started this thread, and no batch of the query is running any more.
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
    """Run the function on the ranges of a micro-batch, or some of them.

    Args:
        stream: what the batch is of.
        frame: what Spark gave for the batch.
        ranges: what the function is given.
        function: the query's.
        context: of the batch.
        settings: of the query.
        rows: makes the DataFrame of the ranges if they are not all of the batch.
        counted: records of a batch that is small enough for the driver's process; None for Spark's.
    """
    is_small = counted is not None
    source = stream.source.lean() if is_small else stream.source
    given = RangeInput(source, tuple(ranges), context.schema.known, stream.extras, source.declared, is_small)
    batch = BatchFrame(
        frame,
        given,
        stream.json_column,
        context.storage_level,
        rows,
        counted,
        context.count,
        answers_guards=context.foresight.answers_guards,
    )
    try:
        _call(function, batch, context)
        root = rejects_root(source.rejects_path, settings.checkpoint_location)
        if batch.rows_read and source.declared is not None and root is not None and not context.rejected:
            for file in put_aside(root, given.ranges):
                context.rejected.update(file.by_reason)
                context.written.append(
                    WrittenFile(root, file.path, file.size_bytes, file.by_reason.total(), rejects=True)
                )
    finally:
        context.beside(RELEASE, batch.release)


def run_rows(frame: DataFrame, function: BatchFunction, context: BatchContext) -> bool:
    """Run the function on a micro-batch of any other stream, as Glue does it; False when it was empty.

    With persistence the rows are counted, without it one row is looked for: the function never sees an empty batch.
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
            context.rows_in = rows
            _call(function, frame, context)
        return rows > 0
    finally:
        context.beside(RELEASE, frame.unpersist)


def _call(function: BatchFunction, frame: DataFrame, context: BatchContext) -> None:
    reach("batch.entered")
    context.tables.begin_attempt(context.batch_id)
    done = False
    try:
        with scopes.running(context.scope, context):
            function(frame, context.batch_id)
        done = True
    finally:
        context.beside("foresight", lambda: context.foresight.end(context, done=done))
        context.beside(RELEASE, context.release)
