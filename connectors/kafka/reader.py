"""Reading ranges in a worker: one consumer per partition, kept from batch to batch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import is_
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import pyarrow as pa
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaError, Message, TopicPartition

from gluepot.connectors.kafka.client import with_callbacks
from gluepot.connectors.kafka.counted import Keeping, counted, is_counted
from gluepot.connectors.kafka.errors import from_kafka
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.shape import HEADER_TYPE, HEADERS
from gluepot.connectors.streams.shape import TIMESTAMP_TYPE
from gluepot.connectors.values import OriginalRecord, RawBatch, SourceRange
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import DataLoss, TransientError
from gluepot.frames.magic import RECORD_TIMESTAMP

# A confluent_kafka.Message. Its type stubs make every field optional; a message without an error has all fields.
Record = Any
# Functions for `map`, which calls them without executing bytecode.
_error: Callable[[Record], Any] = Message.error
_offset: Callable[[Record], Any] = Message.offset
_value: Callable[[Record], Any] = Message.value

# The approximate number of payload bytes per RawBatch. It bounds a task's memory whatever the size of the records.
TARGET_BATCH_BYTES = 4 * 1024 * 1024
FIRST_BATCH_RECORDS = 64
# So few records are still in the processor's cache when the code goes over them again.
MAX_BATCH_RECORDS = 4_096
# One record in so many is asked for its size and its offset, if the values of the others follow from these.
_LOOKED_AT = 16
# A process keeps this many consumers open to read, and as many to peek. Each has its own threads and prefetch queue.
KEPT_CONSUMERS = 8
POLL_SECS = 0.1

CONSUMER_DEFAULTS: Mapping[str, Any] = {
    "group.id": "gluepot",  # The client demands a group. It is never joined, because partitions are assigned.
    "enable.auto.commit": False,
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
    "enable.partition.eof": True,  # After trailing aborted records, nothing else shows that the broker answers.
    "fetch.wait.max.ms": 100,
    # A broker cuts its answer off at this many bytes, 1 MB by default, and sends the producer batch that was cut once
    # more. Producers make batches of up to 1 MB, so with the default half of all bytes went over the wire twice.
    "fetch.message.max.bytes": 4 * 1024 * 1024,
    # Records fetched for a later batch are of use only if that batch's task comes to the same worker.
    "queued.max.messages.kbytes": 4 * 1024,
    # A full queue pauses fetching for this long, 1 s by default, and a seek to another offset waits for the pause too.
    "fetch.queue.backoff.ms": 5,
    "log_level": 0,
}


class PartitionReader:
    """One consumer on one partition. If the next range starts at its position, it reads on without a seek."""

    def __init__(
        self, client: Mapping[str, Any], topic: str, partition: int, most_records: int = MAX_BATCH_RECORDS
    ) -> None:
        self._most_records = most_records
        self._consumer = Consumer({**CONSUMER_DEFAULTS, **with_callbacks(client)})
        self._topic = topic
        self._partition = partition
        self._position = -1
        self._log_end = -1
        self._held: list[Record] = []
        self._record_bytes = TARGET_BATCH_BYTES // FIRST_BATCH_RECORDS

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()

    def turn_to(self, partition: int) -> None:
        """Switch to another partition of the topic and keep the connections."""
        self.rest()
        self._partition = partition

    def begin(self, start: int) -> None:
        """Let the broker send the records from a position on, unless it already does."""
        if start != self._position:
            self._consumer.assign([TopicPartition(self._topic, self._partition, start)])
            self._position = start
            self._held = []
            self._log_end = -1

    def rest(self) -> None:
        """Stop fetching. The next read starts fetching again, whatever its start is."""
        self._consumer.unassign()
        self._position = -1

    def read(self, start: int, end: int, deadline_secs: float, clock: Clock, bootstrap: str) -> Iterator[list[Record]]:
        """Yield the records of `[start, end)` in bounded lists; the iterator must be drained or the reader closed.

        Raises:
            DataLoss: the broker no longer has `start`.
            TransientError: no answer came for `deadline_secs`.
        """
        self.begin(start)
        # The client reports the end of the log once. Offsets before it that were not delivered by then hold no record.
        self._position = start if self._held else max(start, self._log_end)
        last_sign = clock.monotonic()
        while self._position < end:
            good, notices = _parted(self._take(end - self._position))
            for notice in notices:
                error = notice.error()
                if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
                    self._give_up_if_final(error, bootstrap)
                elif notice.partition() == self._partition:
                    # The notice gives the end of the log at its time. After aborted records or transaction markers this
                    # end lies beyond the last record we saw; that of an older notice still in the queue does not. The
                    # end of a partition that was read before says nothing about this one.
                    self._log_end = notice.offset()
                    self._position = max(self._position, self._log_end)
                    last_sign = clock.monotonic()
            if good:
                last_sign = clock.monotonic()
                self._position = max(self._position, good[-1].offset() + 1)
                wanted, self._held = _cut(good, end)
                if wanted:
                    looked_at = wanted[::_LOOKED_AT]
                    self._record_bytes = max(1, sum(map(len, looked_at)) // len(looked_at))
                    yield wanted
            elif clock.monotonic() - last_sign > deadline_secs:
                raise TransientError(
                    f"Kafka at {bootstrap} sent nothing for {deadline_secs:.0f} s while reading"
                    f" {self._topic}-{self._partition} at offset {self._position}; is the broker running?",
                )
        # Records beyond `end` are held here or have yet to arrive, so the next range continues from here.
        self._position = end

    def _take(self, wanted: int) -> list[Record]:
        if self._held:
            held, self._held = self._held, []
            return held
        most = min(wanted, self._most_records, max(1, TARGET_BATCH_BYTES // self._record_bytes))
        # Asks for no more records than there are: consume() waits until it has that many, or until its time-out.
        taken: list[Record] = self._consumer.consume(most, POLL_SECS)
        return taken

    def _give_up_if_final(self, error: KafkaError, bootstrap: str) -> None:
        ours = from_kafka(error, f"reading {self._topic}-{self._partition} at offset {self._position}", bootstrap)
        if not isinstance(ours, TransientError):
            self._position = -1
            raise ours


def _parted(messages: list[Record]) -> tuple[list[Record], list[Record]]:
    """Separate a consumer's messages into records and notices, which are errors and ends of the log."""
    errors = list(map(_error, messages))
    if all(map(is_, errors, repeat(None))):  # This is nearly always so, and the lists below take three times as long.
        return messages, []
    told = list(zip(messages, errors, strict=True))
    return [one for one, error in told if error is None], [one for one, error in told if error is not None]


def _cut(messages: list[Record], end: int) -> tuple[list[Record], list[Record]]:
    """Split messages at `end` into those of the range and those of the next range."""
    if messages[-1].offset() < end:
        return messages, []
    first_beyond = next(i for i, m in enumerate(messages) if m.offset() >= end)
    return messages[:first_beyond], messages[first_beyond:]


PEEK_LIMITS: Mapping[str, Any] = {"fetch.message.max.bytes": 16 * 1024, "fetch.wait.max.ms": 10}

Key = tuple[str, str, str, str]
"""Broker, topic, topic id and partition. The id ensures that no consumer outlives the topic for which it was opened."""
KeyT = TypeVar("KeyT")

_peekers: OrderedDict[tuple[object, ...], PartitionReader] = OrderedDict()
"""Peekers by broker, topic, topic id and client properties. One consumer switches to each partition in question."""
_handing_over = Lock()
"""Held while a peeker is taken out or put back, because the queries of a job run in different threads."""
_readers: OrderedDict[Key, PartitionReader] = OrderedDict()


def read_range(settings: KafkaReadSettings, wanted: SourceRange, folder: Path | None = None) -> Iterator[RawBatch]:
    """Yield every record of a range in order, from the file that `count_range` kept, or else from the broker.

    The client follows a topic's name and does not report it if another topic takes that name. When a task has read all
    its ranges, `StreamIdentity.confirm` checks that the topic is still the one of the time of planning.

    Raises:
        DataLoss: the broker no longer has the records.
        TransientError: the broker was silent for the deadline of the settings.
    """
    found = counted(folder, wanted)
    if found is not None:
        yield from found
        return
    for messages in _lists(settings, wanted):
        yield _raw_batch(messages, settings, wanted)


def count_range(settings: KafkaReadSettings, wanted: SourceRange, folder: Path | None = None) -> int:
    """Return the number of records in a range and keep them for `read_range`; raises as it does."""
    records = 0
    with Keeping(folder, wanted) as keeping:
        for messages in _lists(settings, wanted):
            records += len(messages)
            if keeping.is_open:
                keeping.add(_raw_batch(messages, settings, wanted))
    return records


def begin_range(settings: KafkaReadSettings, wanted: SourceRange, folder: Path | None = None) -> None:
    """Let the broker send a range that is read soon; a reader that switches to it waits for its last request, 0.1 s."""
    if not is_counted(folder, wanted):
        key, reader = _reader(settings, wanted)
        reader.begin(wanted.start)
        _keep(_readers, key, reader)


def _lists(settings: KafkaReadSettings, wanted: SourceRange) -> Iterator[list[Record]]:
    key, reader = _reader(settings, wanted)
    done = False
    try:
        yield from reader.read(
            wanted.start, wanted.end, settings.retry_deadline_secs, SystemClock(), settings.bootstrap
        )
        done = True
    finally:
        if done:
            _keep(_readers, key, reader)
        else:
            reader.close()


def _reader(settings: KafkaReadSettings, wanted: SourceRange) -> tuple[Key, PartitionReader]:
    """Return a reader for a partition: its own kept reader, or a kept one that can switch to it, or a new one."""
    key = (settings.bootstrap, wanted.stream, wanted.stream_id, wanted.shard)
    reader = _readers.pop(key, None) or _spare(key)
    return key, reader or PartitionReader(settings.client, wanted.stream, int(wanted.shard))


def _keep(kept: OrderedDict[KeyT, PartitionReader], key: KeyT, reader: PartitionReader) -> None:
    replaced = kept.pop(key, None)
    if replaced is not None:
        replaced.close()
    kept[key] = reader
    while len(kept) > KEPT_CONSUMERS:
        kept.popitem(last=False)[1].close()


def _spare(wanted: Key) -> PartitionReader | None:
    """Return the least recently used reader, if it can switch to the partition and no further reader may be kept.

    Without this, a worker with more partitions than readers would open a connection for each partition in each batch. A
    reader of another topic stays where it is, and makes room when a new one is kept.
    """
    oldest = next(iter(_readers), None)
    if oldest is None or len(_readers) < KEPT_CONSUMERS or oldest[:-1] != wanted[:-1]:
        return None
    reader = _readers.pop(oldest, None)  # small batches are read by threads
    if reader is not None:
        reader.turn_to(int(wanted[-1]))
    return reader


def first_of(settings: KafkaReadSettings, wanted: SourceRange) -> list[Record]:
    """Return the first record of a range, if it has any. The call fetches little more than that record.

    A consumer has some four threads and eight file descriptors. So all partitions of a topic share one, which fetches
    nothing between two calls.
    """
    key = (settings.bootstrap, wanted.stream, wanted.stream_id, *sorted(settings.client.items()))
    with _handing_over:
        reader = _peekers.pop(key, None)
    if reader is None:
        client = {**settings.client, **PEEK_LIMITS}
        reader = PartitionReader(client, wanted.stream, int(wanted.shard), most_records=1)
    else:
        reader.turn_to(int(wanted.shard))
    try:
        found = _peeked(reader, settings, wanted)
    except BaseException:
        reader.close()
        raise
    with _handing_over:
        _keep(_peekers, key, reader)
    return found


def _peeked(reader: PartitionReader, settings: KafkaReadSettings, wanted: SourceRange) -> list[Record]:
    lists = reader.read(wanted.start, wanted.end, settings.retry_deadline_secs, SystemClock(), settings.bootstrap)
    found = next(lists, [])[:1]
    if found and (found[0].partition() != int(wanted.shard) or found[0].offset() < wanted.start):
        raise _other_records(wanted, found[0], found[0])
    reader.rest()
    return found


def original(record: Record) -> OriginalRecord:
    """Return a record with everything that the broker keeps for it."""
    kind, epoch_ms = record.timestamp()
    return OriginalRecord(
        value=record.value(),
        stream=record.topic(),
        shard=str(record.partition()),
        position=record.offset(),
        epoch_ms=None if kind == TIMESTAMP_NOT_AVAILABLE else epoch_ms,
        key=record.key(),
        headers=record.headers() or (),
    )


def _raw_batch(messages: list[Record], settings: KafkaReadSettings, wanted: SourceRange) -> RawBatch:
    first, last = messages[0], messages[-1]
    positions, strange = _positions(messages)
    strange = strange or {first.partition(), last.partition()} != {int(wanted.shard)}
    if strange or positions[0] < wanted.start:
        raise _other_records(wanted, first, last)
    columns: dict[str, pa.Array] = {}
    if settings.add_record_timestamp:
        columns[RECORD_TIMESTAMP] = pa.array([m.timestamp()[1] * 1000 for m in messages], pa.int64()).cast(
            TIMESTAMP_TYPE
        )
    if settings.include_headers:
        columns[HEADERS] = pa.array([_headers(m) for m in messages], HEADER_TYPE)
    return RawBatch(
        values=list(map(_value, messages)),
        positions=positions,
        stream=wanted.stream,
        shard=wanted.shard,
        newest_epoch_ms=messages[-1].timestamp()[1],
        columns=columns,
    )


def _other_records(wanted: SourceRange, first: Record, last: Record) -> DataLoss:
    return DataLoss(
        f"Kafka returned {wanted.stream}-{first.partition()} offset {first.offset()} to {wanted.stream}-"
        f"{last.partition()} offset {last.offset()} where {wanted.start} to {wanted.end} of"
        f" {wanted.stream}-{wanted.shard} were asked for; restart the job to read the range again.",
    )


def _positions(messages: list[Record]) -> tuple[Sequence[int], bool]:
    """Return the offsets, and whether they are out of order. If no offset seems missing, not every record is asked."""
    dense = range(messages[0].offset(), messages[-1].offset() + 1)
    if len(dense) == len(messages) and list(map(_offset, messages[::_LOOKED_AT])) == list(dense[::_LOOKED_AT]):
        return dense, False
    positions = list(map(_offset, messages))
    return positions, positions != sorted(positions)


def _headers(message: Record) -> list[dict[str, str | None]] | None:
    headers = message.headers()
    if not headers:
        return None
    return [{"key": key, "value": None if v is None else v.decode("utf-8", "replace")} for key, v in headers]
