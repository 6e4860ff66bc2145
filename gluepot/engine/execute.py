"""Runs a pipeline, mostly as one Spark job: writes it, counts it, finds its schema, or makes a DataFrame of it."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import StructType

from gluepot import commit
from gluepot.commit.record import CommitRecord
from gluepot.connectors.contracts import RecordSink, Sink, TaskSink
from gluepot.connectors.streams.rejects import NOWHERE, RejectsOfFrame
from gluepot.connectors.values import (
    AlreadyCommitted,
    CommitKey,
    Committed,
    Manifest,
    ManifestPart,
    MissingFields,
    SourceRange,
)
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.core.on_malformed import OnMalformed
from gluepot.core.task_errors import marked
from gluepot.engine import on_driver, task
from gluepot.engine.account import Reading, SourceName
from gluepot.engine.missing_notes import NOTES, Note, no_note
from gluepot.engine.native import run as native
from gluepot.engine.pipeline import FrameInput, PackedInput, Pipeline, RangeInput, SplitInput, names_of
from gluepot.engine.readings import READINGS, Count, no_count
from gluepot.engine.spark_types import in_spark_types, refuse_unread, spark_schema
from gluepot.engine.task_reports import REPORTS
from gluepot.frames.chunk import Chunk
from gluepot.frames.rows import rows as plain_rows
from gluepot.frames.schema import align, merge_schemas, observed, unmarked, without_nulls
from gluepot.frames.transforms import Step, run_steps
from gluepot.frames.transforms.sought import seeking
from gluepot.quality.measures import Measure, Measured
from gluepot.quality.measures import measure as measure_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# Slots that are busy while a query starts: one with the JVM, one with the process that plans.
_SLOTS_TO_PLAN = 2

PART_SCHEMA = "part binary"
_MISREAD = frozenset(".`")

log = get_logger(__name__)

PieceT = TypeVar("PieceT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """The numbers of error records, which could not continue.

    Args:
        stage: how many failed in one transform.
        total: how many failed in that transform or before it.
    """

    stage: int
    total: int


@dataclass(frozen=True, slots=True)
class Staged:
    """A write whose tasks have staged their files, and which is not published yet.

    Args:
        pipeline: gave the records.
        sink: staged the files.
        target: the sink's storages.
        key: the commit key of the write.
        attempt: unique to this try.
        parts: what each task reported.
    """

    pipeline: Pipeline
    sink: Sink
    target: commit.Target
    key: CommitKey
    attempt: str
    parts: Sequence[ManifestPart]

    def discard(self) -> None:
        """Remove what the tasks staged."""
        commit.abort(self.target, self.key, self.attempt)


def stage_write(
    spark: SparkSession,
    pipeline: Pipeline,
    sink: Sink,
    target: commit.Target,
    planned: Manifest,
    *,
    counted: bool = True,
) -> Staged:
    """Run the tasks of a write, as the first half of `write` does, without looking for an earlier publication.

    Args:
        spark: the session.
        pipeline: gives the records.
        sink: writes them.
        target: the sink's storages.
        planned: the manifest without parts.
        counted: whether the totals of the run count what the tasks read; False if they have counted it before.

    Raises:
        Exception: the Spark job failed. What the tasks staged has been removed.
    """
    attempt = f"{planned.token}/{uuid4().hex}"
    try:
        parts = _run(spark, pipeline, _staging(sink, attempt), in_order=False, counted=counted, keeps=True)
    except BaseException:
        commit.abort(target, planned.key, attempt)
        raise
    return Staged(pipeline, sink, target, planned.key, attempt, parts)


def write(
    spark: SparkSession,
    pipeline: Pipeline,
    sink: Sink,
    table: commit.OpenTable,
    planned: Manifest,
    staged: Staged | None = None,
    check: Callable[[Sequence[ManifestPart]], None] | None = None,
) -> tuple[Committed | AlreadyCommitted, Sequence[ManifestPart]]:
    """Run a pipeline into a sink and publish it: everything or nothing.

    Args:
        spark: the session.
        pipeline: gives the records.
        sink: writes them.
        table: has the sink's storages, and was opened for this write.
        planned: the manifest without parts. If its input is known and was published already, no task runs.
        staged: the result of `stage_write` for the same pipeline, sink and key, if that has run already.
        check: called with what the tasks report, before it is published; an error that it raises ends the write.

    Raises:
        LeaseHeld: a later driver has taken over.
        Exception: the Spark job or publishing failed. What the tasks staged has been removed.
    """
    if (planned.ranges or planned.offsets_digest) and (record := table.adopted(planned)):
        if staged is not None:
            staged.discard()
        _count_earlier(pipeline, record)
        return AlreadyCommitted(record.data_paths, record.rows_out, record.rejects_paths), [record.as_part()]
    staged = staged or stage_write(spark, pipeline, sink, table.target, planned)
    while True:
        try:
            agreed = sink.again(staged.parts)
            if agreed is None:
                if check is not None:
                    check(staged.parts)
                warn_untyped(sum((Counter(part.untyped_values) for part in staged.parts), Counter[str]()))
                reach("batch.staged")
                return table.publish(replace(planned, parts=staged.parts)), staged.parts
        except BaseException:
            staged.discard()
            raise
        staged.discard()
        sink = agreed
        staged = stage_write(spark, pipeline, sink, table.target, planned, counted=False)


def _count_earlier(pipeline: Pipeline, record: CommitRecord) -> None:
    """Count what an earlier attempt has read for a write that is not done again."""
    if (name := None if isinstance(pipeline.input, PackedInput) else pipeline.input.name) is not None:
        rejected, left_out = record.rejected_in_read, record.left_out_in_read
        delivered = record.rows_in - rejected - left_out
        READINGS.in_driver(name)(0, Reading(record.rows_in, delivered, rejected, left_out, kept=rejected))


def warn_untyped(nulls_by_field: Mapping[str, int]) -> None:
    """Warn of values that became null because nothing says their type; log nothing if there are none."""
    if nulls_by_field:
        hint = "no record and no earlier write has a type for them; declare one, for example with ApplyMapping"
        log.warning("values_without_type", nulls_by_field=dict(nulls_by_field), hint=hint)


def send(
    spark: SparkSession, pipeline: Pipeline, sink: RecordSink, rejects: RejectsOfFrame = NOWHERE
) -> list[ManifestPart]:
    """Run a pipeline and send its good rows.

    Args:
        spark: the session.
        pipeline: gives the records.
        sink: sends them.
        rejects: where error records are kept.

    Raises:
        Exception: the Spark job failed. Other tasks of it may have sent their rows.
    """

    def send_all(work: task.Work) -> Iterator[ManifestPart]:
        yield task.send(work, sink, rejects.of_task(work.place.task))

    return _run(spark, pipeline, send_all, keeps=True)


def rehearse(spark: SparkSession, pipeline: Pipeline, sink: Sink, target: commit.Target, planned: Manifest) -> None:
    """Run a pipeline into a sink as `write` does, but remove what was staged instead of publishing it.

    Raises:
        Exception: the Spark job failed.
    """
    stage_write(spark, pipeline, sink, target, planned).discard()


def stage(spark: SparkSession, pipeline: Pipeline, sink: TaskSink, attempt: str) -> list[ManifestPart]:
    """Run a pipeline into a sink and publish nothing; return what each task staged.

    Raises:
        Exception: the Spark job failed.
    """
    return _run(spark, pipeline, _staging(sink, attempt), keeps=True)


def _staging(sink: TaskSink, attempt: str) -> TaskBody:
    def stage(work: task.Work) -> Iterator[ManifestPart]:
        yield task.write(work, sink, f"{attempt}/{work.place.attempt}")

    return stage


def schema_of(spark: SparkSession, pipeline: Pipeline) -> pa.Schema:
    """Return the merged schema of all records that the pipeline gives. This reads all of them."""

    def schemas(work: task.Work) -> Iterator[bytes]:
        merged = pa.schema([])
        for chunk in work.chunks:
            merged = merge_schemas(merged, observed(chunk.batch))
        yield merged.serialize().to_pybytes()

    merged = pa.schema([])
    for found in _run(spark, pipeline, schemas, in_order=False):
        merged = merge_schemas(merged, pa.ipc.read_schema(pa.py_buffer(found)))
    return unmarked(merged)


def measure(spark: SparkSession, pipeline: Pipeline, measures: Sequence[Measure]) -> Measured:
    """Return what is measured of the good records of a pipeline."""

    def measure_all(work: task.Work) -> Iterator[Measured]:
        whole = Measured()
        for chunk in work.chunks:
            whole = whole.merged(measure_batch(chunk.batch, measures, whole))
        yield whole

    whole = Measured()
    for one in _run(spark, pipeline, measure_all, in_order=False):
        whole = whole.merged(one)
    return whole


def start_workers(spark: SparkSession) -> None:
    """Start the Python workers in the background, so that they are ready when the first batch has been planned.

    Planning keeps two slots busy. If Spark has no more than two, the workers start with the first batch that is too
    large for the driver.
    """
    if _slots(spark) <= _SLOTS_TO_PLAN:
        return

    def start() -> None:
        with suppress(Exception):  # if workers or the cluster are broken, the first batch fails with the error
            _over_pieces(spark, range(_slots(spark)), lambda held, _: iter(held))

    threading.Thread(target=start, name="gluepot-start-workers", daemon=True).start()


def count(spark: SparkSession, pipeline: Pipeline) -> int:
    """Return the number of good records."""

    def count_rows(work: task.Work) -> Iterator[int]:
        yield sum(chunk.batch.num_rows for chunk in work.chunks)

    return sum(_run(spark, pipeline, count_rows, in_order=False))


def count_raw(spark: SparkSession, given: RangeInput) -> int:
    """Return the number of records in the ranges, including broken ones, without decoding any."""
    reading = given.reading

    def count_records(loads: Iterable[Sequence[SourceRange]], _: task.Place) -> Iterator[int]:
        for wanted in loads:
            yield sum(map(reading.reader.count, task.begun(reading, reading.remaining(wanted))))

    loads = task.range_loads(given, _slots(spark), in_order=False)
    return sum(on_driver.run(loads, count_records) if given.on_driver else _over_pieces(spark, loads, count_records))


def take(spark: SparkSession, pipeline: Pipeline, most: int) -> list[dict[str, Any]]:
    """Return up to `most` good records as plain dicts."""

    def first(work: task.Work) -> Iterator[list[dict[str, Any]]]:
        yield list(islice((row for chunk in work.chunks for row in plain_rows(chunk)), most))

    return [row for found in _run(spark, pipeline, first) for row in found][:most]


def storable(schema: pa.Schema) -> pa.Schema:
    """Return the schema as rows of Spark have it, without the fields whose types cannot be stored."""
    return in_spark_types(without_nulls(pa.RecordBatch.from_pylist([], schema=schema)).schema)


def over_tasks(
    spark: SparkSession,
    pipeline: Pipeline,
    body: Callable[[task.Work], ResultT],
    *,
    counted: bool = True,
    keeps: bool = False,
    source: SourceName | None = None,
) -> list[ResultT]:
    """Call `body` once per task; return the results in the order of the records.

    Args:
        spark: the session.
        pipeline: gives the chunks.
        body: called in the tasks.
        counted: whether the totals of the run count what the tasks read; False if they have counted it before.
        keeps: whether `body` stores the error records of its chunks.
        source: the source of the records, if fields without values that steps ask for shall be named.
    """

    def over_work(work: task.Work) -> Iterator[tuple[ResultT, MissingFields | None]]:
        yield body(work), work.tally.missing

    results = _run(spark, pipeline, over_work, counted=counted, keeps=keeps)
    if source is not None:
        NOTES.add(source, [missing for _, missing in results], partial(task.source_names, pipeline.input))
    return [result for result, _ in results]


def count_errors(spark: SparkSession, pipeline: Pipeline, own_steps: int | None) -> ErrorCounts:
    """Count the error records of a pipeline.

    Args:
        spark: the session.
        pipeline: runs as a whole.
        own_steps: how many of its last steps belong to the stage in question. None if reading the input belongs to the
            stage, too.
    """
    first = 0 if own_steps is None else len(pipeline.steps) - own_steps
    before, own = pipeline.steps[:first], pipeline.steps[first:]

    def count_both(work: task.Work) -> Iterator[ErrorCounts]:
        earlier = total = 0
        for chunk in work.chunks:
            earlier += 0 if own_steps is None else len(chunk.errors)
            total += len(run_steps(own, chunk).errors)
        yield ErrorCounts(total - earlier, total)

    found = _run(spark, replace(pipeline, steps=before), count_both, in_order=False)
    return ErrorCounts(sum(counts.stage for counts in found), sum(counts.total for counts in found))


def to_frame(
    spark: SparkSession, pipeline: Pipeline, schema: pa.Schema, rejects: RejectsOfFrame = NOWHERE
) -> DataFrame:
    """Return a DataFrame of the good records.

    Args:
        spark: the session.
        pipeline: runs when the DataFrame is evaluated.
        schema: from `schema_of`, or known beforehand; every chunk is aligned to it.
        rejects: where error records are kept.
    """
    stored = storable(schema)

    def aligned(chunks: Iterator[Chunk]) -> Iterator[pa.RecordBatch]:
        for rows in task.good_rows(chunks, rejects.of_task(_place().task)):
            # First the types that other rows have: an empty list without one would be dropped.
            yield align(without_nulls(align(rows, schema)), stored)

    return through_spark(spark, pipeline, aligned, spark_schema(stored), keeps=rejects.root is not None)


def through_spark(
    spark: SparkSession,
    pipeline: Pipeline,
    body: Callable[[Iterator[Chunk]], Iterator[pa.RecordBatch]],
    schema: StructType | str,
    *,
    keeps: bool = False,
) -> DataFrame:
    """Return a DataFrame of the record batches that `body` makes from the chunks of each task.

    Args:
        spark: the session.
        pipeline: runs when the DataFrame is evaluated.
        body: called once per task, in the worker.
        schema: the schema of the record batches that `body` yields.
        keeps: whether `body` stores the error records of the chunks, or passes them on to where they are stored.
    """
    steps = pipeline.steps
    match pipeline.input:
        case RangeInput() | SplitInput() as whole:
            given = task.projected(whole, steps)
            loads, count = task_loads(spark, given), READINGS.in_tasks(spark.sparkContext, given.name)
            count_other = READINGS.in_tasks(spark.sparkContext, None)
            name: SourceName | None = whole.name
            note: Note = no_note
            if name is not None and any(seeking(step) is not None for step in steps):
                note = NOTES.in_tasks(spark.sparkContext, name, len(loads), partial(task.source_names, whole))
            if not keeps:
                READINGS.keeps_nothing(whole.name, partial(keep_rejected, spark, whole))

            def read(tasks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
                tally = task.Tally()
                ordinals = [ordinal for batch in tasks for ordinal in batch.column(0).to_pylist()]
                chunks = task.load_chunks(given, [one for ordinal in ordinals for one in loads[ordinal]], tally)
                try:
                    yield from body(task.through(chunks, steps, tally, whole.on_malformed))
                    for ordinal in ordinals:
                        note(ordinal, tally.missing)
                finally:
                    for ordinal in ordinals:  # one for each partition, which Spark counts as a record
                        count(ordinal, tally.reading(keeps=keeps))
                        count_other(0, Reading(records=-1))

            return _arrow(spark.range(0, len(loads), 1, max(1, len(loads))), read, schema)
        case framed:
            chunks_of, on_malformed = _chunk_reader(framed), _on_malformed(framed)
            if keeps:
                READINGS.stored(names_of(framed))

            def convert(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
                tally = task.Tally()
                yield from body(task.through(chunks_of(batches, tally), steps, tally, on_malformed))

            return _arrow(framed.frame, convert, schema)


def _chunk_reader(given: FrameInput | PackedInput) -> Callable[[Iterable[pa.RecordBatch], task.Tally], Iterator[Chunk]]:
    """Return the function that turns the record batches of the input's DataFrame into chunks."""
    if isinstance(given, PackedInput):
        return task.packed_chunks
    refuse_unread(given.frame.schema)
    # The tasks get these; a DataFrame cannot be sent to them.
    json_column, sticky, distinct = given.json_column, given.sticky, given.distinct

    def frame_chunks(batches: Iterable[pa.RecordBatch], tally: task.Tally) -> Iterator[Chunk]:
        return task.frame_chunks(batches, json_column, tally, sticky, distinct)

    return frame_chunks


def _on_malformed(given: FrameInput | PackedInput) -> OnMalformed:
    """Return what happens to records that cannot be read. Those of packed chunks were dealt with before."""
    return given.on_malformed if isinstance(given, FrameInput) else OnMalformed.KEEP


def keep_rejected(
    spark: SparkSession, given: RangeInput | SplitInput | FrameInput | PackedInput, rejects: RejectsOfFrame
) -> None:
    """Read an input again, and store the records that cannot be read as rows.

    Raises:
        Exception: the Spark job failed.
    """

    def keep(work: task.Work) -> Iterator[None]:
        with rejects.of_task(work.place.task) as files:
            for chunk in work.chunks:
                files.add(chunk.errors)
        yield None

    _run(spark, Pipeline(given), keep, in_order=False, keeps=True)


TaskBody = Callable[[task.Work], Iterator[Any]]


def _run(
    spark: SparkSession,
    pipeline: Pipeline,
    body: TaskBody,
    *,
    in_order: bool = True,
    counted: bool = True,
    keeps: bool = False,
) -> list[Any]:
    """Run `body` once per task over the pipeline's chunks; return what the tasks yield, in any order.

    One task gets all records of a range, in their order. If `in_order` is false, several tasks may share a range.
    """
    with native.computed(spark, pipeline) as given:
        name = None if isinstance(given, PackedInput) else given.name
        if counted and not keeps and name is not None:
            READINGS.keeps_nothing(name, partial(keep_rejected, spark, given))
        is_whole = False
        try:
            results = _run_over(spark, given, pipeline.steps, body, in_order=in_order, counted=counted, keeps=keeps)
            is_whole = True
            if keeps:
                READINGS.stored(names_of(given))
        finally:
            READINGS.ended(name, is_whole=is_whole)
        return results


def _run_over(
    spark: SparkSession,
    given: RangeInput | SplitInput | FrameInput | PackedInput,
    steps: Sequence[Step],
    body: TaskBody,
    *,
    in_order: bool,
    counted: bool,
    keeps: bool,
) -> list[Any]:
    match given:
        case RangeInput() | SplitInput() as whole:
            read = task.projected(whole, steps)
            in_driver = _is_small(read) and on_driver.is_own_work(steps)
            count = _count(spark, whole.name, in_driver=in_driver) if counted else no_count

            def over_loads(loads: Iterable[Sequence[task.Piece]], place: task.Place) -> Iterator[Any]:
                for load in loads:
                    tally = task.Tally()
                    chunks = task.through(task.load_chunks(read, load, tally), steps, tally, whole.on_malformed)
                    ranges = tuple(one for one in load if isinstance(one, SourceRange))
                    try:
                        yield from body(task.Work(chunks, tally, place, ranges))
                    finally:
                        count(place.task, tally.reading(keeps=keeps))

            loads = task.loads(read, _slots(spark), in_order=in_order)
            if in_driver:
                return on_driver.run(loads, over_loads)
            return _over_pieces(spark, loads, over_loads)
        case framed:
            chunks_of, on_malformed = _chunk_reader(framed), _on_malformed(framed)
            # Spark has counted the rows of the frame when it read them.
            name = framed.name if isinstance(framed, FrameInput) else None
            count = READINGS.in_tasks(spark.sparkContext, name) if name else no_count

            def over_frame(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
                tally, place = task.Tally(), _place()
                chunks = task.through(chunks_of(batches, tally), steps, tally, on_malformed)
                for result in body(task.Work(chunks, tally, place)):
                    yield pa.RecordBatch.from_pydict({"part": pa.array([pickle.dumps(result)], pa.binary())})
                count(place.task, tally.reading(keeps=keeps))

            # Unpickling is safe: our own tasks have made these bytes.
            return [pickle.loads(row.part) for row in _arrow(framed.frame, over_frame, PART_SCHEMA).collect()]  # noqa: S301


def _count(spark: SparkSession, source: SourceName | None, *, in_driver: bool) -> Count:
    return READINGS.in_driver(source) if in_driver else READINGS.in_tasks(spark.sparkContext, source)


def _is_small(given: RangeInput | SplitInput) -> bool:
    if isinstance(given, RangeInput):
        return given.on_driver
    return on_driver.is_small_input(one.size_bytes for one in given.splits)


def _over_pieces(
    spark: SparkSession,
    pieces: Sequence[PieceT],
    body: Callable[[Iterable[PieceT], task.Place], Iterator[Any]],
) -> list[Any]:
    if not pieces:
        return []
    held = spark.sparkContext.parallelize(pieces, len(pieces))
    report = REPORTS.of(spark.sparkContext)
    return held.mapPartitions(lambda one: report.after(marked(body(one, _place())))).collect()


def task_loads(spark: SparkSession, given: RangeInput | SplitInput) -> Sequence[Sequence[task.Piece]]:
    """Return the pieces of an input that each task reads in this session."""
    return task.loads(given, _slots(spark))


def _slots(spark: SparkSession) -> int:
    return int(spark.sparkContext.defaultParallelism)


def _place() -> task.Place:
    context = TaskContext.get()
    assert context is not None
    return task.Place(context.partitionId(), context.taskAttemptId())


def _arrow(
    frame: DataFrame,
    body: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: StructType | str,
) -> DataFrame:
    names, report = frame.columns, REPORTS.of(frame.sparkSession.sparkContext)
    is_ambiguous = len({name.lower() for name in names}) < len(names)
    if not is_ambiguous and not any(_MISREAD & set(name) for name in names):
        return frame.mapInArrow(lambda batches: report.after(marked(body(batches))), schema)
    # mapInArrow looks columns up by their unquoted names, whose case does not count, and reads a dot as access to a
    # field of a struct.
    numbered = frame.toDF(*map(str, range(len(names))))
    return numbered.mapInArrow(
        lambda batches: report.after(marked(body(batch.rename_columns(names) for batch in batches))), schema
    )
