"""The code of a task: it reads records, passes chunks through the steps, and keeps a tally. It imports no Spark."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, pairwise
from typing import TypeVar, cast

import numpy as np
import pyarrow as pa

from gluepot.connectors.contracts import ColumnarSource, InputSplit, RecordSink, StreamReading, TaskSink
from gluepot.connectors.streams.compressed import as_they_came, plain_batches
from gluepot.connectors.streams.rejects import RejectsAside, malformed_error
from gluepot.connectors.values import ManifestPart, MissingFields, Outgoing, RawBatch, SourceRange
from gluepot.core.errors import PermanentError
from gluepot.core.logging import configure_once, get_logger
from gluepot.core.on_malformed import OnMalformed
from gluepot.engine.account import Reading
from gluepot.engine.pipeline import FrameInput, PackedInput, RangeInput, SplitInput, StickySchema
from gluepot.engine.task_ranges import cut, shares
from gluepot.frames.chunk import Chunk, Coordinates, Origin, with_columns
from gluepot.frames.declared import GrowingDecoder, RecordDecoder
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.packing import unpack
from gluepot.frames.payloads import total_bytes
from gluepot.frames.sizes import memory_bytes
from gluepot.frames.timestamps import in_utc
from gluepot.frames.transforms import Step, run_steps
from gluepot.frames.transforms.fields import DropFields
from gluepot.frames.transforms.needed_columns import needed_columns
from gluepot.frames.transforms.sought import Seeks, other_columns, seeking, without_values
from gluepot.frames.unreadable_texts import readable
from gluepot.quality.measure_rows import MeasureRows
from gluepot.quality.measures import Measured

T = TypeVar("T")
Piece = SourceRange | InputSplit

log = get_logger(__name__)

# While a task reads one range, it fetches this many of its next ranges ahead, if the source can do that.
AHEAD = 3

FETCH, PARSE, TRANSFORM, WRITE = "fetch", "parse", "transform", "write"


@dataclass(slots=True)
class Tally:
    """What a task has read so far. It grows while the task's chunks are consumed."""

    rows_in: int = 0
    delivered: int = 0
    rejected: int = 0
    rejected_as_rows: int = 0
    left_out: int = 0
    rows_dropped: int = 0
    bytes_in: int = 0
    newest_epoch_ms: dict[str, int] = field(default_factory=dict)
    phase_secs: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    source_schema: pa.Schema | None = None
    measured: dict[str, Measured] = field(default_factory=dict)
    misfits: Counter[str] = field(default_factory=Counter)
    missing_by_step: dict[int, MissingFields] = field(default_factory=dict)

    def reading(self, *, keeps: bool) -> Reading:
        """Return what the task has read of its source.

        Args:
            keeps: whether it has stored the rejected records.
        """
        kept = self.rejected if keeps else 0
        return Reading(self.rows_in, self.delivered, self.rejected, self.left_out, self.bytes_in, kept)

    @property
    def missing(self) -> MissingFields | None:
        """The fields without values that steps ask for; None if no step asks for a field, or there was no record."""
        of_steps = list(self.missing_by_step.values())
        return reduce(MissingFields.or_of, of_steps) if of_steps else None

    def timed(self, phase: str, items: Iterable[T]) -> Iterator[T]:
        """Pass items on, and add the time that their producer took to a phase."""
        iterator = iter(items)
        while True:
            began = time.perf_counter()
            item = next(iterator, None)
            self.phase_secs[phase] += time.perf_counter() - began
            if item is None:
                return
            yield item


@dataclass(frozen=True, slots=True)
class Place:
    """Identifies a task within its Spark job.

    Args:
        task: its ordinal.
        attempt: distinguishes this try from all others of the job. A task may be tried twice, even at the same time.
    """

    task: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Work:
    """One task's input.

    Args:
        chunks: can be consumed once.
        tally: filled while the chunks are consumed.
        place: identifies the task.
        ranges: the ranges that the chunks come from; empty if they come from a DataFrame.
    """

    chunks: Iterator[Chunk]
    tally: Tally
    place: Place
    ranges: tuple[SourceRange, ...] = ()


def projected(given: RangeInput | SplitInput, steps: Sequence[Step]) -> RangeInput | SplitInput:
    """Return the input without the columns that no step uses, if its source can leave out columns."""
    if not isinstance(given, SplitInput) or not isinstance(given.source, ColumnarSource):
        return given
    columns = needed_columns(steps)
    return given if columns is None else replace(given, source=given.source.only(columns))


def source_names(given: RangeInput | SplitInput | FrameInput | PackedInput) -> Sequence[str]:
    """Return the names of columns that a task may not have read, because no step needs them; empty if it reads all."""
    if not isinstance(given, SplitInput) or not isinstance(given.source, ColumnarSource):
        return ()
    if given.schema is not None:
        return cast("Sequence[str]", given.schema.names)
    first = next(iter(given.source.read(given.splits[0])), None) if given.splits else None
    return () if first is None else cast("Sequence[str]", first.batch.schema.names)


def loads(given: RangeInput | SplitInput, slots: int, *, in_order: bool = True) -> Sequence[Sequence[Piece]]:
    """Return the pieces of an input that each task reads; see `range_loads`."""
    if isinstance(given, SplitInput):
        return [(one,) for one in given.splits]
    return range_loads(given, slots, in_order=in_order)


def range_loads(given: RangeInput, slots: int, *, in_order: bool) -> Sequence[tuple[SourceRange, ...]]:
    """Return the ranges that each task reads.

    A count and a write get the same pieces, so that the write can use the records that the count has kept.

    Args:
        given: the input.
        slots: tasks that run at a time.
        in_order: one task reads all pieces of a range, because its records must stay in order.
    """
    least_piece = given.reading.least_piece
    if least_piece is None:
        return shares(given.ranges, slots)
    pieces = cut(given.ranges, slots, least_piece)
    if not in_order:
        return shares(list(chain.from_iterable(pieces)), slots)
    of_range = dict(zip(given.ranges, pieces, strict=True))
    return [tuple(chain.from_iterable(of_range[one] for one in share)) for share in shares(given.ranges, slots)]


def load_chunks(given: RangeInput | SplitInput, load: Sequence[Piece], tally: Tally) -> Iterator[Chunk]:
    """Read and decode the pieces that a task was given."""
    if isinstance(given, SplitInput):
        for split in load:
            yield from split_chunks(given, cast("InputSplit", split), tally)
        return
    decoder = _decoder(given)
    ranges = given.reading.remaining(cast("Sequence[SourceRange]", load))
    for wanted in begun(given.reading, ranges):
        yield from _range_chunks(given, wanted, decoder, tally)
    given.reading.confirm(ranges)


def _decoder(given: RangeInput) -> RecordDecoder:
    if given.declared is not None:
        return given.declared.decoder()
    known = None if given.sticky is None else given.sticky.known
    return JsonDecoder(known) if given.growing is None else given.growing.decoder(known)


def begun(reading: StreamReading, load: Sequence[SourceRange]) -> Iterator[SourceRange]:
    """Yield ranges one after the other. Before each, the source begins to fetch the next ones, if it can."""
    for ordinal, wanted in enumerate(load):
        if reading.ahead is not None:
            for before, later in pairwise(load[ordinal : ordinal + 1 + AHEAD]):
                # The source is already fetching what follows in the same shard.
                if (before.stream, before.shard) != (later.stream, later.shard):
                    reading.ahead.begin(later)
        yield wanted


def _range_chunks(given: RangeInput, wanted: SourceRange, decoder: RecordDecoder, tally: Tally) -> Iterator[Chunk]:
    records = SourceRecords(given.reading, wanted)
    batches = chain.from_iterable(map(plain_batches, tally.timed(FETCH, given.reading.reader.read(wanted))))
    for raw, originals in batches:
        began = time.perf_counter()
        chunk = as_they_came(decoder.decode(raw.values, raw.positions, raw.stream, raw.shard), originals)
        if _records(chunk) != len(raw.values):
            raise PermanentError(
                f"{len(raw.values)} records of {raw.stream}-{raw.shard} became {_records(chunk)} rows and rejected"
                " records, which is a bug of the decoder; please report it."
            )
        if given.extras:
            chunk = with_columns(chunk, raw.positions, raw.beside(given.extras), given.distinct)
        chunk = replace(chunk, origin=_origin(raw, chunk, records))
        tally.phase_secs[PARSE] += time.perf_counter() - began
        tally.rows_in += len(raw.values)
        tally.bytes_in += total_bytes(raw.values)
        if given.sticky is not None and given.declared is None:
            tally.source_schema = cast("GrowingDecoder", decoder).schema
        if raw.newest_epoch_ms is not None:
            shard = f"{raw.stream}-{raw.shard}"
            tally.newest_epoch_ms[shard] = max(tally.newest_epoch_ms.get(shard, 0), raw.newest_epoch_ms)
        yield chunk


@dataclass(frozen=True, slots=True)
class SourceRecords:
    """Reads records of a range again. A record is needed again if its row is refused after it was decoded.

    Args:
        reading: how the range is read.
        wanted: the range.
    """

    reading: StreamReading
    wanted: SourceRange

    def again(self, first: int, last: int) -> Iterator[tuple[Sequence[int], Sequence[bytes | None]]]:
        """See `Records.again`."""
        is_divisible = self.reading.least_piece is not None
        for raw in self.reading.reader.read(self.wanted.piece(first, last + 1) if is_divisible else self.wanted):
            yield raw.positions, raw.values


def _origin(raw: RawBatch, chunk: Chunk, records: SourceRecords) -> Origin | None:
    """Return the origin of the rows of a chunk; None if the records did not become one row each."""
    if chunk.batch.num_rows + len(chunk.errors) != len(raw.values):
        return None
    origin = Origin(records, raw.stream, raw.shard, raw.positions)
    if not chunk.errors:
        return origin
    bad = {error.at.position for error in chunk.errors}
    good = np.flatnonzero([str(position) not in bad for position in raw.positions])
    return origin.of(good) if len(good) == chunk.batch.num_rows else None


def split_chunks(given: SplitInput, wanted: InputSplit, tally: Tally) -> Iterator[Chunk]:
    """Read one split. The source also decodes it, so reading and parsing count as one phase."""
    for chunk in tally.timed(PARSE, given.source.read(wanted)):
        tally.rows_in += _records(chunk)
        tally.bytes_in += memory_bytes(chunk.batch)
        yield chunk


def frame_chunks(
    batches: Iterable[pa.RecordBatch],
    json_column: str | None,
    tally: Tally,
    sticky: StickySchema | None,
    distinct: Sequence[str] = (),
) -> Iterator[Chunk]:
    """Turn Spark's record batches into chunks, and expand a column of JSON texts if there is one."""
    decoder = JsonDecoder(None if sticky is None else sticky.known)
    for batch in tally.timed(FETCH, batches):
        began = time.perf_counter()
        utc = in_utc(batch)
        chunk = Chunk(utc) if json_column is None else _expanded(utc, json_column, decoder, distinct)
        tally.phase_secs[PARSE] += time.perf_counter() - began
        tally.rows_in += batch.num_rows
        tally.bytes_in += memory_bytes(batch)
        if sticky is not None and json_column is not None:
            tally.source_schema = decoder.schema
        yield chunk


def _expanded(batch: pa.RecordBatch, json_column: str, decoder: JsonDecoder, distinct: Sequence[str]) -> Chunk:
    at = batch.schema.get_field_index(json_column)
    # Take bytes: Spark does not promise valid UTF-8, and a record that the decoder rejects must be kept unchanged.
    values = batch.column(at).view(pa.binary()).to_pylist()
    rows = range(len(values))
    others = batch.remove_column(at)
    numbered = with_columns(
        decoder.decode(values, rows, "", ""), rows, others, [one for one in distinct if one in others.schema.names]
    )
    # The row numbers only served to match rows. The errors get no position, because a DataFrame's rows have none.
    return Chunk(numbered.batch, [replace(error, at=Coordinates()) for error in numbered.errors])


def packed_chunks(batches: Iterable[pa.RecordBatch], tally: Tally) -> Iterator[Chunk]:
    """Unpack the chunks that came through Spark as bytes."""
    for batch in tally.timed(FETCH, batches):
        for packed in batch.column(0):
            chunk = unpack(packed.as_buffer())
            tally.rows_in += _records(chunk)
            tally.bytes_in += memory_bytes(chunk.batch)
            yield chunk


def through(
    chunks: Iterable[Chunk], steps: Sequence[Step], tally: Tally, on_malformed: OnMalformed = OnMalformed.KEEP
) -> Iterator[Chunk]:
    """Pass chunks through the steps; errors of earlier steps stay with their chunk.

    Args:
        chunks: as they were read.
        steps: in order.
        tally: grows.
        on_malformed: what happens to records that could not be read as rows.

    Raises:
        PermanentError: there is such a record, and the job shall fail.
    """
    noting = any(isinstance(step, MeasureRows) or seeking(step) is not None for step in steps)
    for read in chunks:
        began = time.perf_counter()
        chunk = _sorted_out(read, tally, on_malformed) if read.errors else read
        tally.delivered += chunk.batch.num_rows
        if chunk.misfits:
            tally.misfits.update(chunk.misfits)
            chunk = replace(chunk, misfits={})
        if steps:
            chunk = readable(chunk)
        done = _noted_steps(steps, chunk, tally) if noting else run_steps(steps, chunk)
        tally.misfits.update(done.misfits)
        tally.rows_dropped += _records(chunk) - _records(done)
        if chunk.errors:  # `ErrorRows` makes rows of them
            tally.rejected_as_rows += _malformed(chunk) - _malformed(done)
        tally.phase_secs[TRANSFORM] += time.perf_counter() - began
        yield done
    if tally.misfits:
        configure_once()
        hint = "the script or its schema declares other types for these fields"
        log.warning("values_do_not_fit", nulls_by_field=dict(tally.misfits), hint=hint)


def _sorted_out(chunk: Chunk, tally: Tally, on_malformed: OnMalformed) -> Chunk:
    """Count the records that could not be read as rows; return the chunk with those that are kept."""
    of_steps = [error for error in chunk.errors if error.callsite is not None]
    malformed = _malformed(chunk)
    if malformed and on_malformed is OnMalformed.FAIL:
        raise malformed_error(next(error for error in chunk.errors if error.callsite is None))
    if on_malformed is OnMalformed.DROP:
        tally.left_out += malformed
        return replace(chunk, errors=of_steps)
    tally.rejected += malformed
    return chunk


def _malformed(chunk: Chunk) -> int:
    """Return how many records of a chunk could not be read as rows; the other errors are of steps."""
    return sum(error.callsite is None for error in chunk.errors)


def _noted_steps(steps: Iterable[Step], chunk: Chunk, tally: Tally) -> Chunk:
    """Return the chunk after all steps, and note what some of them measure or look for in vain."""
    for number, step in enumerate(steps):
        if chunk.batch.num_rows and (asking := seeking(step)) is not None:
            _note_missing(tally.missing_by_step, number, asking, chunk.batch)
        chunk = step(chunk)
        if isinstance(step, MeasureRows):
            before = tally.measured.get(step.name)
            found = step.of(chunk, before)
            tally.measured[step.name] = found if before is None else before.merged(found)
    return chunk


def _note_missing(missing: dict[int, MissingFields], number: int, step: Seeks, batch: pa.RecordBatch) -> None:
    """Note which fields of a step have no value so far. Fields that had one are not checked again."""
    before = missing.get(number)
    if before is not None and not before.wanted:
        return
    absent, null = without_values(step, batch, None if before is None else before.wanted)
    wanted = frozenset([*absent, *null])
    names = other_columns(step, batch) if wanted else frozenset()
    optional = wanted if isinstance(step, DropFields) else frozenset()
    seen = MissingFields(wanted, names, frozenset(null), batch.num_rows, optional)
    missing[number] = seen if before is None else before.and_in(seen)


def _records(chunk: Chunk) -> int:
    rows: int = chunk.batch.num_rows
    return rows + len(chunk.errors)


def good_rows(chunks: Iterable[Chunk], rejects: RejectsAside) -> Iterator[pa.RecordBatch]:
    """Yield the rows of chunks for a DataFrame, which cannot hold error records; these are put aside."""
    with rejects:
        for chunk in chunks:
            rejects.add(chunk.errors)
            yield chunk.batch


def write(work: Work, sink: TaskSink, attempt: str) -> ManifestPart:
    """Stage a task's chunks and return its part of the manifest, with the tally filled in.

    Args:
        work: the task's input.
        sink: stages the files.
        attempt: unique to this try.
    """
    began = time.perf_counter()
    return _with_tally(sink.write(work.chunks, work.place.task, attempt), work, began)


def send(work: Work, sink: RecordSink, rejects: RejectsAside) -> ManifestPart:
    """Send a task's good rows as records and return the task's part of the manifest, without files.

    Args:
        work: the task's input.
        sink: sends the records.
        rejects: keeps error records.
    """
    from gluepot.connectors.streams.records import outgoing  # noqa: PLC0415  every process of Spark imports this module

    began, kept_aside = time.perf_counter(), 0

    def good() -> Iterator[Outgoing]:
        nonlocal kept_aside
        for chunk in work.chunks:
            rejects.add(chunk.errors)
            kept_aside += len(chunk.errors)
            yield from outgoing(chunk, sink.shape)

    with rejects:
        rows = sink.send(good())
    return _with_tally(ManifestPart(rows_out=rows, kept_aside=kept_aside), work, began)


def _with_tally(part: ManifestPart, work: Work, began: float) -> ManifestPart:
    tally = work.tally
    drawing_secs = sum(tally.phase_secs.values())
    tally.phase_secs[WRITE] = max(0.0, time.perf_counter() - began - drawing_secs)
    return replace(
        part,
        ranges=work.ranges,
        rows_in=tally.rows_in,
        rows_dropped=tally.rows_dropped,
        rejected_in_read=tally.rejected,
        rejected_as_rows=tally.rejected_as_rows,
        left_out_in_read=tally.left_out,
        bytes_in=tally.bytes_in,
        phase_secs=dict(tally.phase_secs),
        measured=dict(tally.measured),
        misfits=dict(tally.misfits),
        missing=tally.missing,
        newest_epoch_ms=dict(tally.newest_epoch_ms),
        source_schema=None if tally.source_schema is None else tally.source_schema.serialize().to_pybytes(),
    )
