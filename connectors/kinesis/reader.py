"""Reads ranges in a worker: from the spool if it lies on this machine, else from the stream by the same positions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.aws.errors import Throttled
from gluepot.connectors.documents.bulk import Refused
from gluepot.connectors.kinesis import spool
from gluepot.connectors.kinesis.aggregation import MAGIC, taken_apart
from gluepot.connectors.kinesis.blocks import total_of
from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.cursor import At, AtHorizon, Cursor
from gluepot.connectors.kinesis.errors import NoSuchStream
from gluepot.connectors.kinesis.pacing import Read, wait_secs
from gluepot.connectors.kinesis.positions import FINGERPRINT_MODULUS, Note, position, sequence_before
from gluepot.connectors.kinesis.settings import KinesisReadSettings, StreamAddress
from gluepot.connectors.streams.shape import TIMESTAMP_TYPE
from gluepot.connectors.values import OriginalRecord, RawBatch, SourceRange
from gluepot.core.backoff import backoff_secs
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import DataLoss, TransientError
from gluepot.core.logging import configure_once, get_logger
from gluepot.frames.magic import RECORD_TIMESTAMP
from gluepot.frames.payloads import payloads
from gluepot.frames.sizes import memory_bytes

MAX_BATCH_RECORDS = 20_000
TIP_ANSWERS = 3
"""A record counts as gone after this many empty answers in a row that each report the end of the shard."""

_chance = random.Random()  # noqa: S311  jitter
_clients: dict[StreamAddress, KinesisClient] = {}


def client_of(address: StreamAddress) -> KinesisClient:
    """Return this process's shared client for a stream."""
    return _clients.get(address) or _clients.setdefault(address, KinesisClient(address))


def read_range(settings: KinesisReadSettings, folder: Path | None, wanted: SourceRange) -> Iterator[RawBatch]:
    """Yield every record of a range in order, with aggregates unpacked.

    Args:
        settings: settings of the read.
        folder: folder of the spool on the driver's machine; None if there is none.
        wanted: the range.

    Raises:
        DataLoss: the stream no longer has the records, or has others in their place.
        TransientError: the service did not answer for the deadline of the settings.
    """
    for block in _blocks(settings, folder, wanted):
        yield from _raw_batches(block, settings, wanted)


def originals(settings: KinesisReadSettings, folder: Path | None, wanted: SourceRange) -> Iterator[OriginalRecord]:
    """Yield the records of a range with everything that the stream keeps for them; raises as `read_range` does."""
    for block in _blocks(settings, folder, wanted):
        for row in block.to_pylist():
            for at, key, data in _apart(row["sequence"], row["key"], row["data"]):
                if wanted.start <= at < wanted.end:
                    epoch_ms = row["arrived_epoch_ms"]
                    yield OriginalRecord(data, wanted.stream, wanted.shard, at, epoch_ms, key.encode())


def _blocks(settings: KinesisReadSettings, folder: Path | None, wanted: SourceRange) -> Iterator[pa.RecordBatch]:
    if wanted.start >= wanted.end:
        return
    note = Note.parse(wanted.proof)
    files = spool.find(folder, wanted.shard, wanted.start, wanted.end) if folder else None
    if files and note.records:
        held = sum(extent.records for _, extent in files), _sum(extent.total for _, extent in files)
        files = files if held == (note.records, note.total) else None
    if files is None:
        begin = note.first or wanted.start // position(1)
        yield from _fetched(settings, wanted, begin, sequence_before(wanted.end), (note.records, note.total))
        return
    for path, extent in files:
        try:
            block = spool.load(path, extent)
        except spool.TornFile as torn:
            configure_once()  # a worker is a process of its own
            get_logger(__name__).warning("spool_file_torn", reason=str(torn), hint="its records are fetched again")
            yield from _fetched(settings, wanted, extent.first, extent.last, (extent.records, extent.total))
        else:
            yield block


def _sum(totals: Iterator[int]) -> int:
    return sum(totals) % FINGERPRINT_MODULUS


def _fetched(
    settings: KinesisReadSettings, wanted: SourceRange, first: int, last: int, proof: tuple[int, int]
) -> Iterator[pa.RecordBatch]:
    """Yield the stream's records from `first` to `last`, after comparing them with count and sum if those are known.

    The records are held back until the comparison is done, so a task never writes records that were not planned.
    """
    blocks = list(_until(settings, wanted, first, last, SystemClock()))
    found = sum(block.num_rows for block in blocks), _sum(total_of(block) for block in blocks)
    if proof[0] and found != proof:
        raise DataLoss(
            f"Shard {wanted.shard} of Kinesis stream {wanted.stream} gave {found[0]} records from {first} to {last}"
            f" where {proof[0]} were planned; some have expired, or the stream was created again.",
        )
    yield from blocks


def _until(
    settings: KinesisReadSettings, wanted: SourceRange, first: int, last: int, clock: Clock
) -> Iterator[pa.RecordBatch]:
    cursor = Cursor(client_of(settings.address), wanted.shard, At(first))
    where = f"Shard {wanted.shard} of Kinesis stream {wanted.stream}"
    failures = at_tip = 0
    progress_at = clock.monotonic()
    while True:
        began = clock.monotonic()
        try:
            fetched = cursor.fetch(settings.max_records_per_read)
        except Refused as unknown:
            if isinstance(cursor.place, AtHorizon):
                raise DataLoss(f"{where} refuses to be read ({unknown}).") from unknown
            # A piece of a range may begin at a number that belongs to no record.
            cursor = Cursor(client_of(settings.address), wanted.shard, AtHorizon())
            continue
        except NoSuchStream as gone:
            raise DataLoss(f"{where} no longer has the records from {first} to {last} ({gone}).") from gone
        except TransientError as away:
            failures += 1
            if began - progress_at > settings.retry_deadline_secs and not isinstance(away, Throttled):
                raise
            clock.sleep(backoff_secs(failures, settings.retry_base_secs, settings.retry_cap_secs, _chance.random()))
            continue
        failures, progress_at = 0, clock.monotonic()
        block = fetched.block
        if block.num_rows:
            at_tip = 0
            sequences = [int(number) for number in block.column("sequence").to_pylist()]
            since = next((n for n, number in enumerate(sequences) if number >= first), len(sequences))
            upto = next((n for n, number in enumerate(sequences) if number > last), len(sequences))
            if since < upto:
                yield block.slice(since, upto - since)
            if sequences[-1] >= last:
                if not wanted.proof or (upto and sequences[upto - 1] == last):
                    return
                break
        at_tip += fetched.behind_ms == 0 and not block.num_rows
        if fetched.closed or at_tip >= TIP_ANSWERS:
            break
        pause = wait_secs(Read(memory_bytes(block), at_tip=False)) - (clock.monotonic() - began)
        clock.sleep(max(0.0, pause))
    raise DataLoss(f"{where} no longer has record {last}; it has expired, or the stream was created again.")


def _apart(sequence: str, key: str, data: bytes) -> Iterator[tuple[int, str, bytes]]:
    number = int(sequence)
    subs = taken_apart(data)
    if subs is None:
        yield position(number), key, data
        return
    for n, sub in enumerate(subs):
        yield position(number, n), sub.key, sub.data


def _raw_batches(block: pa.RecordBatch, settings: KinesisReadSettings, wanted: SourceRange) -> Iterator[RawBatch]:
    positions: Sequence[int] = ShardPositions(block.column("sequence"))
    values: Sequence[bytes | None] = payloads(block.column("data"))
    beside = {name: block.column(name) for name in ("sequence", "key", "arrived_epoch_ms")}
    packed = pc.any(pc.starts_with(block.column("data"), MAGIC)).as_py()
    if packed or positions[0] < wanted.start or positions[-1] >= wanted.end:
        rows = [
            (at, data, sequence, key, epoch_ms)
            for sequence, whole_key, value, epoch_ms in zip(
                block.column("sequence").to_pylist(),
                block.column("key").to_pylist(),
                block.column("data").to_pylist(),
                block.column("arrived_epoch_ms").to_pylist(),
                strict=True,
            )
            for at, key, data in _apart(sequence, whole_key, value)
            if wanted.start <= at < wanted.end
        ]
        positions, values = [row[0] for row in rows], [row[1] for row in rows]
        beside = {name: pa.array([row[at] for row in rows], beside[name].type) for at, name in enumerate(beside, 2)}
    for at in range(0, len(values), MAX_BATCH_RECORDS):
        upto = min(at + MAX_BATCH_RECORDS, len(values))
        some = {name: column[at:upto] for name, column in beside.items()}
        newest = some["arrived_epoch_ms"][-1].as_py()
        columns = _columns(some, settings, wanted.stream)
        yield RawBatch(values[at:upto], positions[at:upto], wanted.stream, wanted.shard, newest, columns)


def _columns(beside: Mapping[str, pa.Array], settings: KinesisReadSettings, stream: str) -> dict[str, pa.Array]:
    found = {}
    if settings.add_record_timestamp or settings.record_columns:
        arrived = pc.multiply(beside["arrived_epoch_ms"], 1000).cast(TIMESTAMP_TYPE)
        found[RECORD_TIMESTAMP] = arrived
    for column in settings.record_columns:
        match column.of:
            case "streamName":
                found[column.name] = pa.repeat(stream, len(beside["key"]))
            case "partitionKey":
                found[column.name] = beside["key"]
            case "sequenceNumber":
                found[column.name] = beside["sequence"]
            case "approximateArrivalTimestamp":
                found[column.name] = found[RECORD_TIMESTAMP]
    return found


class ShardPositions(Sequence[int]):
    """Positions of records that are not aggregates. Each is computed on access, because most are never used.

    Args:
        sequences: text column of sequence numbers.
    """

    def __init__(self, sequences: pa.Array) -> None:
        self._sequences = sequences

    def __len__(self) -> int:
        return len(self._sequences)

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> ShardPositions: ...
    def __getitem__(self, at: int | slice) -> int | ShardPositions:
        if isinstance(at, slice):
            return ShardPositions(self._sequences[at])
        return position(int(self._sequences[at].as_py()))
