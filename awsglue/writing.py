"""One write: its commit key, its run, its place in the micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from awsglue.data_catalog import current_catalog
from batch import catalog_update, commit, execute, jobrun
from batch.commit.record import input_text
from batch.ledger import LedgerWrite
from batch.on_driver import is_own_work
from batch.pipeline import Pipeline
from batch.table_columns import TableColumns
from connectors.jdbc.target import JdbcWriteSettings
from connectors.lake.commits import LakeCommit
from connectors.ports import Committed, RecordSink
from etlcore.datasets import folder_dataset, table_dataset
from etlcore.failpoints import reach
from etlcore.logging import get_logger
from streaming.batch import BatchContext, current_batch
from streaming.foresight import Repeatable
from streaming.progress import Output

if TYPE_CHECKING:
    from awsglue.dynamicframe import DynamicFrame
    from awsglue.lake_tables import LakeTarget
    from awsglue.sinks import SinkSettings

log = get_logger(__name__)

# Writes outside of a stream: one run of the process, its writes counted like those of a batch.
_run = BatchContext(query_id=uuid4().hex, batch_id=0)
# With bookmarks: the run that the ledger knows, so that another attempt of it replaces what this one publishes.
_bookmarked: dict[str, BatchContext] = {}
_recovered: set[tuple[str, str, int]] = set()
_histories: dict[tuple[str, str, int], commit.History] = {}
_tallies: dict[tuple[str, str, int], commit.Tally] = {}
_recovering = Lock()
_found: set[str] = set()
_columns = TableColumns()


def publish(spark: SparkSession, frame: DynamicFrame, settings: SinkSettings, ctx: str) -> None:
    """Run the frame's pipeline into the target and make it visible, once.

    Raises:
        ConfigError: the target cannot be written.
        CheckpointError: the query does not go on from what the table holds.
        Exception: what failed in the tasks or in publishing; nothing of the write is visible then.
    """
    batch = current_batch() or _run_outside_of_streams()
    planned = batch.next_write(ctx)
    sink = settings.sink(planned.key, ctx, batch.rejects_path)
    target = commit.open_target(sink)
    if settings.catalog is not None:
        catalog_update.check(current_catalog(), settings.catalog)
    first = (settings.path, planned.key.query_id, planned.token)
    with _recovering:  # writes from threads of one function: none may stage before the folder is clean
        if first not in _recovered:
            sink.check()
            commit.recover(target, planned.key.query_id, planned.token)
            records = commit.live(target.table)
            _columns.begin(target, planned.key, records)
            _histories[first] = commit.History.of(records, planned.key.query_id)
            _tallies[first] = commit.Tally.of(records, planned.key)
            _recovered.add(first)
        # A batch with dead letters lacks them on purpose, also where an earlier try published them; that they are in
        # the checkpoint shows that it is the query's own.
        if batch.origin is not None and batch.rehearsed is None and not batch.rows_aside:
            commit.refuse_overlap(planned, _histories[first], batch.origin, target.table.url)
            _histories[first] = _histories[first].after(planned)
    sink = sink.knowing(_columns.before(target, planned.key))
    if batch.rehearsed is not None:
        batch.rehearsed[planned.key] = target
        execute.rehearse(spark, frame.pipeline, sink, target, planned)
        return
    staged = batch.foresight.staged(frame.pipeline, sink)
    outcome, parts = execute.write(spark, frame.pipeline, sink, target, planned, staged)
    if is_own_work(frame.pipeline.steps):  # what a script's function does twice may be seen
        batch.foresight.wrote(Repeatable(frame.pipeline.steps, partial(_stage, spark, settings, ctx)))
    if settings.catalog is not None:
        catalog_update.update(current_catalog(), settings.catalog, outcome.files, parts)
    _columns.learn(target, planned.key, parts)
    batch.record(outcome, parts, target, folder_dataset(target.table.url))
    with _recovering:
        _tallies[first] = _tallies[first].after(planned.key, outcome.rows)
        batch.rows_in_table[target.table.url] = _tallies[first].total
    if current_batch() is None and (run := jobrun.current()) and run.bookmarks:
        run.bookmarks.wrote(LedgerWrite(planned.key.ctx, settings.path, outcome.rows, len(outcome.files)))


def _stage(
    spark: SparkSession, settings: SinkSettings, ctx: str, batch: BatchContext, pipeline: Pipeline
) -> execute.Staged:
    """Stage a pipeline in the target of an earlier write of the same run, which has recovered it, for another batch."""
    planned = batch.upcoming(ctx)
    sink = settings.sink(planned.key, ctx, batch.rejects_path)
    target = commit.open_target(sink)
    return execute.stage_write(spark, pipeline, sink.knowing(_columns.before(target, planned.key)), target, planned)


def send(spark: SparkSession, frame: DynamicFrame, sink: RecordSink, ctx: str) -> None:
    """Run the frame's pipeline and send its rows as records; what is sent cannot be taken back.

    Nothing is sent while a batch function is only tried on parts of its batch.

    Raises:
        ConfigError: the target is not there.
        Exception: what failed in the tasks; some records may have been sent then, and are sent again by a retry.
    """
    batch = current_batch() or _run_outside_of_streams()
    batch.next_write(ctx)
    if (kind := repr(sink)) not in _found:
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
    from batch.jdbc_output import rehearse_table, write_table  # noqa: PLC0415  its driver takes its time to load

    settings.require_native()
    batch = current_batch() or _run_outside_of_streams()
    planned = batch.next_write(ctx)
    if batch.rehearsed is not None:
        rehearse_table(spark, frame.pipeline, settings, planned)
        return
    outcome, parts = write_table(spark, frame.pipeline, settings, planned)
    batch.record(outcome, parts, dataset=table_dataset(settings.endpoint.url, settings.table))
    target = f"{settings.endpoint.shown} {settings.table}"
    if current_batch() is None and (run := jobrun.current()) and run.bookmarks:
        run.bookmarks.wrote(LedgerWrite(planned.key.ctx, target, outcome.rows, 0))


def append(frame: DataFrame, target: LakeTarget, ctx: str) -> None:
    """Append rows to a table of a lake; a micro-batch that the table holds already is left out.

    Raises:
        CheckpointError: the table holds the batch with other records, or later batches of the query.
        Exception: whatever failed the Spark job; the table is as it was then.
    """
    batch = current_batch()
    table = target.table
    if batch is None:
        table.append(frame, None, target.options)
        return
    planned = batch.next_write(ctx)
    if batch.rehearsed is not None:
        frame.write.format("noop").mode("overwrite").save()
        return
    text = input_text(planned.input_ranges, planned.offsets_digest)
    commit = LakeCommit(planned.key, sha256(text.encode()).hexdigest())
    if table.append(frame, commit, target.options):
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
    context = _bookmarked.setdefault(f"{job.uid} {token}", BatchContext(job.uid, job.run, token))
    context.offsets_digest = marks.input_digest
    return context
