"""One write: its commit key, its run, its place in the micro-batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from awsglue.data_catalog import current_catalog
from gluepot import commit
from gluepot.bookmarks import jobrun
from gluepot.bookmarks.ledger import LedgerWrite
from gluepot.bookmarks.run_journal import RunJournal
from gluepot.commit.record import input_text
from gluepot.connectors.jdbc.endpoint import POSTGRESQL
from gluepot.connectors.jdbc.target import JdbcWriteSettings, Mode
from gluepot.connectors.lake.commits import LakeCommit
from gluepot.connectors.ports import CommitKey, Committed, RecordSink
from gluepot.core.datasets import folder_dataset, table_dataset
from gluepot.core.errors import ConfigError
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.core.storage import place_of
from gluepot.engine import catalog_update, execute
from gluepot.engine.on_driver import is_own_work
from gluepot.engine.pipeline import Pipeline, work_of
from gluepot.streaming.count_ahead.foresight import Repeatable
from gluepot.streaming.micro_batch.context import BatchContext, current_batch
from gluepot.streaming.progress import Output

if TYPE_CHECKING:
    from awsglue.dynamicframe import DynamicFrame
    from awsglue.lake_tables import LakeTarget
    from awsglue.sinks import SinkSettings

log = get_logger(__name__)

_NO_JOB = uuid4().hex
# Writes outside of a stream: one run of the process, its writes counted like those of a batch.
_run = BatchContext(query_id=_NO_JOB, batch_id=0, tables=commit.QueryWrites(_NO_JOB))
# With bookmarks: the run that the ledger knows, so that another attempt of it replaces what this one publishes.
_bookmarked: dict[str, BatchContext] = {}
_beginning = Lock()
_found: set[str] = set()


@contextmanager
def _write() -> Iterator[BatchContext]:
    """Give the batch, or the run outside of streams, that a write of this thread belongs to."""
    batch = current_batch() or _run_outside_of_streams()
    with batch.scope.write():
        yield batch


def publish(spark: SparkSession, frame: DynamicFrame, settings: SinkSettings, ctx: str) -> None:
    """Run the frame's pipeline into the target and make it visible, once.

    Raises:
        ConfigError: the target cannot be written.
        CheckpointError: the query does not go on from what the table holds.
        Exception: what failed in the tasks or in publishing; nothing of the write is visible then.
    """
    with _write() as batch:
        _publish(batch, spark, frame, settings, ctx)


def _publish(batch: BatchContext, spark: SparkSession, frame: DynamicFrame, settings: SinkSettings, ctx: str) -> None:
    place = place_of(settings.path)
    planned = batch.next_write(place, ctx)
    sink = settings.sink(planned.key, ctx, batch.rejects_path)
    planned = replace(planned, work=work_of(frame.pipeline, sink))
    target = commit.open_target(sink)
    if settings.catalog is not None:
        catalog_update.check(current_catalog(), settings.catalog)
    rejects = "" if sink.rejects_root == sink.root else sink.rejects_root
    columns = batch.columns

    def begin(published: commit.Published) -> None:
        sink.check()
        columns.begin(target, planned.key, published)

    write = commit.Write(commit.FILES, place, planned.key.ctx, rejects)
    table = batch.tables.open(target, planned, write, begin)
    planned = table.linked(planned)
    # A batch with dead letters lacks them on purpose, also where an earlier try published them; that they are in
    # the checkpoint shows that it is the query's own.
    if batch.origin is not None and batch.rehearsed is None and not batch.rows_aside:
        table.check(planned, batch.origin)
    sink = sink.knowing(columns.before(target, planned.key))
    if batch.rehearsed is not None:
        batch.rehearsed[place, planned.key] = target
        execute.rehearse(spark, frame.pipeline, sink, target, planned)
        return
    staged = batch.foresight.staged(frame.pipeline, sink)
    outcome, parts = execute.write(spark, frame.pipeline, sink, target, planned, staged)
    if is_own_work(frame.pipeline.steps):  # what a script's function does twice may be seen
        batch.foresight.wrote(Repeatable(frame.pipeline.steps, partial(_stage, spark, settings, ctx)))
    if settings.catalog is not None:
        catalog_update.update(current_catalog(), settings.catalog, outcome.files, parts)
    columns.learn(target, planned.key, parts)
    batch.record(outcome, parts, target, folder_dataset(target.table.url))
    batch.rows_in_table[target.table.url] = table.count(planned.key, outcome.rows)
    if batch.origin is None and (run := jobrun.current()) and run.bookmarks:
        run.bookmarks.wrote(LedgerWrite(planned.key.ctx, settings.path, outcome.rows, len(outcome.files)))


def _stage(
    spark: SparkSession, settings: SinkSettings, ctx: str, batch: BatchContext, pipeline: Pipeline
) -> execute.Staged:
    """Stage a pipeline in the target of an earlier write of the same run, which has recovered it, for another batch."""
    planned = batch.upcoming(place_of(settings.path), ctx)
    sink = settings.sink(planned.key, ctx, batch.rejects_path)
    target = commit.open_target(sink)
    sink = sink.knowing(batch.columns.before(target, planned.key))
    return execute.stage_write(spark, pipeline, sink, target, planned)


def send(spark: SparkSession, frame: DynamicFrame, sink: RecordSink, ctx: str) -> None:
    """Run the frame's pipeline and send its rows as records; what is sent cannot be taken back.

    Nothing is sent while a batch function is only tried on parts of its batch.

    Raises:
        ConfigError: the target is not there.
        Exception: what failed in the tasks; some records may have been sent then, and are sent again by a retry.
    """
    with _write() as batch:
        kind = repr(sink)
        batch.next_write(kind, ctx)
        if kind not in _found:
            sink.check()
            _found.add(kind)
        if batch.rehearsed is not None:
            execute.count(spark, frame.pipeline)
            return
        parts = execute.send(spark, frame.pipeline, sink)
        batch.record(Committed((), sum(part.rows_out for part in parts)), parts)


def publish_table(spark: SparkSession, frame: DynamicFrame, settings: JdbcWriteSettings, ctx: str) -> None:
    """Run the frame's pipeline into a table of a database, once.

    Raises:
        ConfigError: the table does not fit the rows, or the user may not write it.
        Exception: what failed in the tasks or in publishing; the table is as it was then.
    """
    settings.require_native()
    with _write() as batch:
        _publish_table(batch, spark, frame, settings, ctx)


def _publish_table(
    batch: BatchContext, spark: SparkSession, frame: DynamicFrame, settings: JdbcWriteSettings, ctx: str
) -> None:
    # The driver of the database takes its time to load.
    from gluepot.connectors.jdbc.postgresql.publish import find_table  # noqa: PLC0415
    from gluepot.engine.jdbc_output import rehearse_table, take_back_table, write_table  # noqa: PLC0415

    name = find_table(settings)
    database = f"{settings.endpoint.shown} "
    place = database + name.qualified
    planned = batch.next_write(place, ctx)
    if batch.rehearsed is not None:
        rehearse_table(spark, frame.pipeline, settings, name, planned)
        return

    def undo(write: commit.Write, key: CommitKey) -> bool:
        if not write.place.startswith(database):
            return False
        mode = Mode(write.mode) if write.mode else settings.mode
        theirs = replace(settings, table=write.place.removeprefix(database), mode=mode)
        try:
            take_back_table(theirs, find_table(theirs), key, planned.token)
        except ConfigError:
            if write.place == place:
                raise
            return False  # the user of this write may not do it, or the table is gone
        return True

    write = commit.Write(POSTGRESQL, place, planned.key.ctx, mode=settings.mode.value)
    batch.tables.announce(write, planned.key.batch_id, undo)
    outcome, parts = write_table(spark, frame.pipeline, settings, name, planned)
    batch.record(outcome, parts, dataset=table_dataset(settings.endpoint.url, settings.table))
    if batch.origin is None and (run := jobrun.current()) and run.bookmarks:
        target = f"{settings.endpoint.shown} {settings.table}"
        run.bookmarks.wrote(LedgerWrite(planned.key.ctx, target, outcome.rows, 0))


def append(frame: DataFrame, target: LakeTarget, ctx: str) -> None:
    """Append rows to a table of a lake; a micro-batch that the table holds already is left out.

    Raises:
        CheckpointError: the table holds the batch with other records, or later batches of the query.
        Exception: whatever failed the Spark job; the table is as it was then.
    """
    table = target.table
    if current_batch() is None:
        table.append(frame, None, target.options)
        return
    with _write() as batch:
        planned = batch.next_write(table.name, ctx)
        if batch.rehearsed is not None:
            frame.write.format("noop").mode("overwrite").save()
            return
        text = input_text(planned.input_ranges, planned.offsets_digest)
        marked = LakeCommit(planned.key, sha256(text.encode()).hexdigest())
        if table.append(frame, marked, target.options):
            reach("lake.appended")
        else:
            log.info("batch_already_in_table", table=table.name, write=planned.key.ctx)


def written_outside_of_streams() -> Sequence[Output]:
    """Return what this process wrote outside of batch functions, write by write; without records sent to streams."""
    return [output for run in (_run, *_bookmarked.values()) for output in run.outputs]


def _run_outside_of_streams() -> BatchContext:
    run = jobrun.current()
    marks = run.bookmarks if run else None
    if marks is None or not marks.run.saves:
        return _run
    job, token = marks.run.job, marks.run.token
    with _beginning:
        context = _bookmarked.get(f"{job.uid} {token}")
        if context is None:
            writes = commit.QueryWrites(job.uid, token, RunJournal(marks.ledger, marks.run))
            writes.begin_attempt(job.run)
            marks.before_commit(writes.settle)
            context = _bookmarked[f"{job.uid} {token}"] = BatchContext(job.uid, job.run, token, tables=writes)
    context.offsets_digest = marks.input_digest
    return context
