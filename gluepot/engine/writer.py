"""The writes of one micro-batch: each gets a commit key, runs, and is published once.

Writes of batch jobs work the same way, see `gluepot.bookmarks.run_writer`. In a rehearsal, a batch function writes
through `gluepot.engine.rehearsing_writer`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from gluepot import commit
from gluepot.commit.own_purges import PURGED
from gluepot.commit.recorded_columns import TableColumns
from gluepot.connectors.contracts import RecordSink, Sink
from gluepot.connectors.documents.sink import DocumentSink, DocumentTarget, UnrecordedSink
from gluepot.connectors.jdbc.databases import table_database
from gluepot.connectors.jdbc.publishing import TableName
from gluepot.connectors.jdbc.target import JdbcWriteSettings, Mode
from gluepot.connectors.values import CommitKey, Committed, Manifest, ManifestPart, SourceRange, write_label
from gluepot.core.datasets import folder_dataset, table_dataset
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger
from gluepot.core.storage import canonical_url, place_of
from gluepot.engine import catalog_update, execute
from gluepot.engine.file_target import FileTarget
from gluepot.engine.jdbc_output import take_back_table, write_table
from gluepot.engine.lake_output import LakeAppend, input_digest, takes_back
from gluepot.engine.measuring import WaitingMeasures
from gluepot.engine.missing_notes import NOTES
from gluepot.engine.on_driver import is_own_work
from gluepot.engine.pipeline import Pipeline, unique_work, work_of
from gluepot.engine.readings import READINGS
from gluepot.engine.rejects import Rejects
from gluepot.engine.suspicion import Suspicion, SuspiciousData, missing_fields, suspicions
from gluepot.engine.task import source_names
from gluepot.engine.write_totals import WriteTotals
from gluepot.frames.transforms import Step

if TYPE_CHECKING:
    from gluepot.connectors.lake.tables import LakeTable

log = get_logger(__name__)

_MOST_ERROR_CHARS = 500
_CAUGHT = "the script caught the error, and its records are not read again; use --strict to fail instead"


@dataclass(frozen=True, slots=True)
class Writing:
    """Identifies the batch or run that writes.

    Args:
        query_id: Spark's id of the query, which changes when the checkpoint is deleted; for a run, the id of its job.
        batch_id: number of the micro-batch; for a run, the run's number.
        token: token of the driver's lease; 0 if no other driver can write under the same ids.
        origin: where the query comes from; None outside of a stream, where we cannot check what a table should hold.
    """

    query_id: str
    batch_id: int
    token: int = 0
    origin: commit.Origin | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """The input of the writes.

    Args:
        ranges: the ranges of the batch; empty if the source has no ranges.
        digest: if there are no ranges, text that is equal for equal input.
    """

    ranges: tuple[SourceRange, ...] = ()
    digest: str = ""


@dataclass(slots=True)
class KnownTargets:
    """What a driver knows about the targets of a query, from batch to batch.

    Args:
        tables: what the query has written to its tables.
        columns: what the tables have recorded about their columns.
        checked: record sinks whose check has passed.
        warned: what a warning was given of.
    """

    tables: commit.QueryWrites
    columns: TableColumns = field(default_factory=TableColumns)
    checked: set[str] = field(default_factory=set)
    warned: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A write of files that is about to run.

    Args:
        pipeline: gives the records.
        settings: the target as the script gave it.
        ctx: the script's `transformation_ctx`.
        place: the one spelling of the target.
        planned: the manifest without parts.
        sink: stages the files.
        target: the sink's storages.
        table: what the query has written to the target.
    """

    pipeline: Pipeline
    settings: FileTarget
    ctx: str
    place: str
    planned: Manifest
    sink: Sink
    target: commit.Target
    table: commit.OpenTable


@dataclass(frozen=True, slots=True)
class RepeatedWrite:
    """A write that the next batch may repeat.

    Args:
        steps: the transforms between the batch and the write.
        spark: the session.
        settings: the target.
        ctx: the script's `transformation_ctx`.
    """

    steps: tuple[Step, ...]
    spark: SparkSession
    settings: FileTarget
    ctx: str


class PreparedWrites(Protocol):
    """Writes that were staged before the script requested them."""

    def staged(self, pipeline: Pipeline, sink: Sink) -> execute.Staged | None:
        """Return the write if exactly this one was staged, else None. The caller must publish or discard it."""
        ...

    def wrote(self, write: RepeatedWrite) -> None:
        """Remember a write that the next batch may repeat."""
        ...


class NothingPrepared:
    """Stands for `PreparedWrites` if no write is staged ahead."""

    def staged(self, _: Pipeline, __: Sink) -> execute.Staged | None:
        """Return None."""
        return None

    def wrote(self, _: RepeatedWrite) -> None:
        """Do nothing."""


class TableWriter:
    """Runs the writes of one batch or run. A batch function may write from several threads.

    Args:
        by: identifies the batch or run.
        targets: what is known about the targets.
        given: the input of the writes; may be replaced while no write is running.
        totals: the sums of the writes.
        rejects_path: `rejectsPath` of the stream's options; None: below each table.
        documents_path: folder of the manifests and refused records of writes to stores of documents; None for a job
            without a checkpoint, which has a place for them only if the script names one.
        prepared: writes that were staged ahead.
        rejects: keeps rejected records that no table keeps; None: they are left out with a warning.
        during: makes a context manager that is entered for the time of each write.
    """

    is_rehearsal = False
    """Whether what is written will be removed instead of being published."""

    looks_again = False
    """Whether each further write to a table looks whether the table was removed; see `QueryWrites.open`."""

    def __init__(
        self,
        by: Writing,
        targets: KnownTargets | None = None,
        *,
        given: Given | None = None,
        totals: WriteTotals | None = None,
        rejects_path: str | None = None,
        documents_path: str | None = None,
        prepared: PreparedWrites | None = None,
        rejects: Rejects | None = None,
        during: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.by = by
        self.targets = targets or KnownTargets(commit.QueryWrites(by.query_id, by.token))
        self.given = given or Given()
        self.totals = totals or WriteTotals()
        self.rejects_path = rejects_path
        self.documents_path = documents_path
        self._prepared = prepared or NothingPrepared()
        self.rejects = rejects or Rejects(None, by.query_id, by.batch_id)
        self.during = during
        self.measures = WaitingMeasures()
        self._at_end: list[Callable[[], None]] = []
        self._suspicions: list[Suspicion] = []
        self._failed: dict[str, str] = {}
        self._named: Counter[str] = Counter()
        self._purges_before: Mapping[str, int] = {}
        self._writes: Counter[tuple[str, str]] = Counter()
        self._changing = RLock()

    @property
    def writes(self) -> int:
        """How many writes have begun."""
        return self._writes.total()

    @property
    def scope(self) -> str:
        """The scope of the reads of the batch in `READINGS`."""
        return f"{self.by.query_id}/{self.by.batch_id}"

    @property
    def scopes(self) -> Sequence[str]:
        """The scopes that end with the batch or run."""
        return (self.scope,)

    def begin_attempt(self) -> None:
        """Begin an attempt of the batch, and forget what an earlier one has left for its end.

        What an earlier attempt wrote and this one does not will be taken back.
        """
        takes_back(self.targets.tables, self.by.token)
        self.targets.tables.begin_attempt(self.by.batch_id)
        self.measures.clear()
        self.rejects.begin_attempt()
        READINGS.forget(self.scope)
        NOTES.take(self.scope)
        self._at_end.clear()
        self._suspicions.clear()
        self._failed.clear()
        self._named.clear()
        self._purges_before = PURGED.by_table()

    def settle(self) -> None:
        """End the batch: take back what only earlier attempts wrote."""
        self.targets.tables.settle()

    def at_end(self, action: Callable[[], None]) -> None:
        """Have something done when the function or script has made all its writes."""
        self._at_end.append(action)

    def finish(self, *, is_strict: bool = False) -> None:
        """Do what has to wait until all writes were made. If that fails, the batch or run fails.

        Args:
            is_strict: whether what looks like a mistake fails the batch or run.
        """
        while self._at_end:
            self._at_end.pop(0)()
        for scope in dict.fromkeys(self.scopes):
            self.keep_rejected(scope)
            self.judge_sources(scope)
        self.rejects.count(self.totals)
        while self._failed:
            target, error = self._failed.popitem()
            hint = f"{error}; without --strict, the bookmark or checkpoint advances past its records"
            self._suspicions.append(Suspicion("write_failed", target, hint))
            log.warning("write_failed", target=target, error=error, hint=_CAUGHT)
        for one in self._suspicions if is_strict else ():
            raise SuspiciousData(
                f"{one.sentence}. The batch or run fails because of --strict, after its writes; without --strict, this"
                " is a warning."
            )

    def judge_sources(self, scope: str) -> None:
        """Warn of files without records, and of fields without values in DataFrames, once for each source."""
        for source, option in READINGS.nothing_found(scope):
            hint = f"check {option}, unless the files contain only empty lists"
            self._warn_once(Suspicion("no_records_found", option, hint), f"source {source}", source=source)
        for frame in NOTES.take(scope):
            for one in missing_fields(frame.of_tasks, frame.names):
                self._warn_once(one, f"source {frame.source}", source=frame.source)

    def keep_rejected(self, scope: str) -> None:
        """Store the rejected records of sources that the script has only counted or shown."""
        if self.rejects.root is not None:
            for keep in READINGS.unkept(scope):
                keep(self.rejects.of_frame())

    def next_name(self, base: str) -> str:
        """Return a name that this batch or run has not used yet, and that a repetition of it uses again."""
        with self._changing:
            self._named[base] += 1
            return f"{self.by.query_id}/{self.by.batch_id}/{base}/{self._named[base]}"

    def next_write(self, place: str, transformation_ctx: str) -> Manifest:
        """Return the manifest of the next write, without parts, and count the write.

        Args:
            place: the one spelling of the target. Writes are counted for each target separately, so that a retry may
                write to its targets in another order.
            transformation_ctx: as the script gives it.
        """
        with self._changing:
            planned = self.upcoming(place, transformation_ctx)
            self._writes[place, transformation_ctx] += 1
            return planned

    def upcoming(self, place: str, transformation_ctx: str) -> Manifest:
        """Return what `next_write` would return, without counting a write."""
        label = write_label(transformation_ctx, self._writes[place, transformation_ctx] + 1)
        key = CommitKey(self.by.query_id, self.by.batch_id, label, commit.place_digest(place))
        rejects = self.rejects.root if self.rejects.is_used else None
        return Manifest(key, (), self.given.ranges, self.given.digest, self.by.token, rejects_root=rejects or "")

    def write(
        self,
        spark: SparkSession,
        pipeline: Pipeline,
        target: FileTarget | JdbcWriteSettings | DocumentTarget | RecordSink,
        transformation_ctx: str,
    ) -> None:
        """Run a pipeline into a target and make it visible, once.

        Records that are sent to a stream cannot be taken back; a retry sends them again. Documents are in their store
        before the write is complete; a retry overwrites each with itself.

        Raises:
            ConfigError: the target cannot be written, or does not fit the rows.
            CheckpointError: the batch does not continue from what the table holds.
            Exception: a task or publishing failed. Nothing of the write is visible, except for records that were sent
                and documents that were put.
        """
        with self.during(), self._noting_failure(_shown(target)):
            match target:
                case FileTarget():
                    self._write_files(spark, pipeline, target, transformation_ctx)
                case JdbcWriteSettings():
                    self._write_table(spark, pipeline, target, transformation_ctx)
                case DocumentTarget():
                    self._write_documents(spark, pipeline, target, transformation_ctx)
                case _:
                    self._write_records(spark, pipeline, target, transformation_ctx)

    @contextmanager
    def _noting_failure(self, target: str) -> Iterator[None]:
        """Note that a write has failed; a later write to the target that succeeds makes up for it."""
        try:
            yield
        except Exception as error:
            lines = str(error).splitlines() or [""]
            self._failed[target] = f"{type(error).__name__}: {lines[0]}"[:_MOST_ERROR_CHARS]
            raise
        self._failed.pop(target, None)

    def append(self, frame: DataFrame, table: LakeTable, options: Mapping[str, Any], transformation_ctx: str) -> None:
        """Append rows to a lake table. Rows of a batch that a table of Delta or Iceberg holds are not appended again.

        If an earlier attempt of the batch has appended other rows with this write, they are replaced.

        Args:
            frame: the rows.
            table: the table.
            options: Spark's options for the table.
            transformation_ctx: as the script gives it.

        Raises:
            CheckpointError: the table holds the batch with other records, or later batches of the query.
            LeaseHeld: a later driver has taken over.
            PermanentError: rows of an earlier attempt cannot be replaced.
            Exception: the Spark job failed. The table is unchanged.
        """
        with self.during(), self._noting_failure(table.name):
            planned = self.next_write(table.name, transformation_ctx)
            self._append_rows(frame, table, options, planned, transformation_ctx)
            self.totals.by_spark[table.name] = None

    def stage(self, write: RepeatedWrite, pipeline: Pipeline) -> execute.Staged:
        """Stage a pipeline, without publishing it, for the target to which an earlier batch wrote."""
        settings, ctx = write.settings, write.ctx
        planned = self.upcoming(place_of(settings.path), ctx)
        sink = settings.sink(planned.key, ctx, self.rejects_path)
        target = commit.open_target(sink)
        sink = sink.knowing(self.targets.columns.before(target, planned.key))
        return execute.stage_write(write.spark, pipeline, sink, target, planned)

    def _write_files(self, spark: SparkSession, pipeline: Pipeline, settings: FileTarget, ctx: str) -> None:
        place = place_of(settings.path)
        planned = self.next_write(place, ctx)
        sink = settings.sink(planned.key, ctx, self.rejects_path)
        target = commit.open_target(sink)
        planned = replace(planned, work=self._work(pipeline, sink, target.table.url))
        if settings.catalog is not None:
            catalog_update.check(settings.catalog.open(), settings.catalog.table)
        rejects = "" if sink.rejects_root == sink.root else sink.rejects_root
        columns = self.targets.columns

        def begin(published: commit.Published) -> None:
            sink.check()
            columns.begin(target, planned.key, published)

        write = commit.Write(commit.FILES, place, planned.key.ctx, rejects)
        table = self.targets.tables.open(target, planned, write, begin, looks_again=self.looks_again)
        columns.refresh(target, planned.key)
        planned = table.linked(planned)
        # A batch with dead letters lacks these records on purpose, even if an earlier try published them. The dead
        # letters lie in the checkpoint, which shows that the batch is the query's own, so it needs no check.
        if self.by.origin is not None and not self.totals.rows_aside:
            table.check(planned, self.by.origin)
        sink = sink.knowing(columns.before(target, planned.key))
        self._publish_files(spark, FileWrite(pipeline, settings, ctx, place, planned, sink, target, table))

    def _work(self, pipeline: Pipeline, sink: Sink, table: str) -> str:
        """Return the work of a write to a table.

        If this attempt has purged the table, it may have deleted what an earlier attempt published with this write. So
        the write must not be skipped.
        """
        has_purged = PURGED.times(table) > self._purges_before.get(table, 0)
        return unique_work() if has_purged else work_of(pipeline, sink)

    def _publish_files(self, spark: SparkSession, write: FileWrite) -> None:
        planned, sink, target = write.planned, write.sink, write.target
        pipeline, taken = self.measures.taken_along(write.pipeline)
        staged = self._prepared.staged(pipeline, sink)
        check = (
            partial(_refuse_suspicious, write.settings, partial(source_names, pipeline.input))
            if write.settings.is_strict
            else None
        )
        outcome, parts = execute.write(spark, pipeline, sink, write.table, planned, staged, check)
        self.measures.measured(taken, parts)
        # Running a script's function twice could have visible effects. A check that depends on the time measures
        # something else in the next batch.
        if is_own_work(pipeline.steps) and all(one.repeats for one in taken):
            self._prepared.wrote(RepeatedWrite(pipeline.steps, spark, write.settings, write.ctx))
        if (entry := write.settings.catalog) is not None:
            catalog_update.update(entry.open(), entry.table, outcome.files, parts)
        self.targets.columns.learn(target, planned.key, parts)
        self._warn(write.place, write.settings.path, pipeline, parts, write.settings.partition_keys)
        self.totals.add(outcome, parts, target, folder_dataset(target.table.url))
        self.totals.rows_in_table[target.table.url] = write.table.count(planned.key, outcome.rows)
        self._published(planned.key, write.settings.path, outcome.rows, len(outcome.files))

    def _warn(
        self,
        place: str,
        target: str,
        pipeline: Pipeline,
        parts: Sequence[ManifestPart],
        partition_keys: Sequence[str] = (),
    ) -> None:
        """Warn of what looks like a mistake, once for each target."""
        for one in suspicions(parts, _names(parts), partition_keys, partial(source_names, pipeline.input)):
            self._warn_once(one, place, target=target)

    def _warn_once(self, one: Suspicion, place: str, **where: str) -> None:
        self._suspicions.append(one)
        if (known := f"{place} {one.event} {one.of}") not in self.targets.warned:
            self.targets.warned.add(known)
            records = {"records": one.records} if one.records else {}
            log.warning(one.event, of=one.of, hint=one.hint, **where, **records)

    def _write_documents(self, spark: SparkSession, pipeline: Pipeline, target: DocumentTarget, ctx: str) -> None:
        store, rejects_path = target.store, target.rejects_path or self.rejects_path
        if store.place not in self.targets.checked:
            store.check()
            self.targets.checked.add(store.place)
        folder = self.documents_path or rejects_path
        if folder is None:
            key = self.next_write(store.place, ctx).key
            self._put_documents(spark, pipeline, UnrecordedSink(store, key, self.rejects.of_frame()))
            return
        root = place_of(f"{folder}/{commit.place_digest(store.place)}")
        planned = self.next_write(root, ctx)
        rejects_root = root if rejects_path is None else canonical_url(rejects_path)
        sink = DocumentSink(store, planned.key, root, rejects_root, ctx)
        opened = commit.open_target(sink)
        planned = replace(planned, work=self._work(pipeline, sink, root))
        write = commit.Write(commit.FILES, root, planned.key.ctx, "" if rejects_root == root else rejects_root)
        table = self.targets.tables.open(opened, planned, write, lambda _: None)
        planned = table.linked(planned)
        if self.by.origin is not None and not self.totals.rows_aside:
            table.check(planned, self.by.origin)
        self._publish_documents(spark, pipeline, sink, table, planned)

    def _publish_documents(
        self, spark: SparkSession, pipeline: Pipeline, sink: DocumentSink, table: commit.OpenTable, planned: Manifest
    ) -> None:
        pipeline, taken = self.measures.taken_along(pipeline)
        outcome, parts = execute.write(spark, pipeline, sink, table, planned)
        self.measures.measured(taken, parts)
        self._warn(sink.store.place, sink.store.place, pipeline, parts)
        self.totals.add(outcome, parts, table.target, sink.store.dataset)
        self._published(planned.key, sink.store.place, outcome.rows, 0)

    def _put_documents(self, spark: SparkSession, pipeline: Pipeline, sink: UnrecordedSink) -> None:
        pipeline, taken = self.measures.taken_along(pipeline)
        parts = execute.stage(spark, pipeline, sink, str(self.by.token))
        self.measures.measured(taken, parts)
        rows = sum(part.rows_out for part in parts)
        self._warn(sink.store.place, sink.store.place, pipeline, parts)
        self.totals.add(Committed((), rows), parts, dataset=sink.store.dataset)
        self._published(sink.key, sink.store.place, rows, 0)

    def _write_records(self, spark: SparkSession, pipeline: Pipeline, sink: RecordSink, ctx: str) -> None:
        kind = repr(sink)
        self.next_write(kind, ctx)
        if kind not in self.targets.checked:
            sink.check()
            self.targets.checked.add(kind)
        self._send_records(spark, pipeline, sink)

    def _send_records(self, spark: SparkSession, pipeline: Pipeline, sink: RecordSink) -> None:
        pipeline, taken = self.measures.taken_along(pipeline)
        parts = execute.send(spark, pipeline, sink, self.rejects.of_frame())
        self.measures.measured(taken, parts)
        self._warn(repr(sink), type(sink).__name__, pipeline, parts)
        self.totals.add(Committed((), sum(part.rows_out for part in parts)), parts)

    def _write_table(self, spark: SparkSession, pipeline: Pipeline, settings: JdbcWriteSettings, ctx: str) -> None:
        name = table_database(settings).find()
        planned = self.next_write(f"{settings.endpoint.shown} {name.qualified}", ctx)
        self._publish_table(spark, pipeline, settings, name, planned)

    def _publish_table(
        self,
        spark: SparkSession,
        pipeline: Pipeline,
        settings: JdbcWriteSettings,
        name: TableName,
        planned: Manifest,
    ) -> None:
        database = f"{settings.endpoint.shown} "
        place = database + name.qualified

        def undo(write: commit.Write, key: CommitKey) -> bool:
            if not write.place.startswith(database):
                return False
            mode = Mode(write.mode) if write.mode else settings.mode
            theirs = replace(settings, table=write.place.removeprefix(database), mode=mode)
            try:
                take_back_table(theirs, table_database(theirs).find(), key, planned.token)
            except ConfigError:
                if write.place == place:
                    raise
                return False  # this write's database user lacks the right, or the table no longer exists
            return True

        write = commit.Write(settings.endpoint.vendor, place, planned.key.ctx, mode=settings.mode.value)
        self.targets.tables.announce(write, planned.key.batch_id, undo)
        how = (settings.table, settings.mode.value, settings.keys, settings.preactions, settings.postactions)
        planned = replace(planned, work=work_of(pipeline, how))
        pipeline, taken = self.measures.taken_along(pipeline)
        outcome, parts = write_table(spark, pipeline, settings, name, planned)
        self.measures.measured(taken, parts)
        self._warn(place, place, pipeline, parts)
        self.totals.add(outcome, parts, dataset=table_dataset(settings.endpoint.url, settings.table))
        self._published(planned.key, f"{settings.endpoint.shown} {settings.table}", outcome.rows, 0)

    def _append_rows(
        self, frame: DataFrame, table: LakeTable, options: Mapping[str, Any], planned: Manifest, ctx: str
    ) -> None:
        LakeAppend(frame, table, options, planned, ctx, input_digest(planned), self.targets.tables).run()

    def _published(self, key: CommitKey, target: str, rows: int, files: int) -> None:
        """Record that a write is visible now. A bookmarked run overrides this and notes the write in the ledger."""


def _names(parts: Sequence[ManifestPart]) -> list[str]:
    """Return the names of the columns that were written."""
    return [name for part in parts if part.schema for name in pa.ipc.read_schema(pa.py_buffer(part.schema)).names]


def _shown(target: FileTarget | JdbcWriteSettings | DocumentTarget | RecordSink) -> str:
    match target:
        case FileTarget():
            return target.path
        case JdbcWriteSettings():
            return f"{target.endpoint.shown} {target.table}"
        case DocumentTarget():
            return target.store.place
        case _:
            return type(target).__name__


def _refuse_suspicious(
    settings: FileTarget, known_names: Callable[[], Sequence[str]], parts: Sequence[ManifestPart]
) -> None:
    """Make sure that nothing looks like a mistake.

    Raises:
        PermanentError: something does.
    """
    for one in suspicions(parts, _names(parts), settings.partition_keys, known_names):
        raise SuspiciousData(
            f"{one.sentence}. Nothing was written to {settings.path} because of --strict; without --strict, this is a"
            " warning."
        )
