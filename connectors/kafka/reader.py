"""Reading ranges in a worker: one consumer per partition, kept from batch to batch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from confluent_kafka import KafkaError

from gluepot.connectors.kafka.compiled import CompiledConsumer, can_serve
from gluepot.connectors.kafka.consumers import Consumer, Notice, Records, RecordsT
from gluepot.connectors.kafka.counted import Keeping, counted, is_counted
from gluepot.connectors.kafka.errors import from_kafka
from gluepot.connectors.kafka.messages import MessageConsumer, Messages
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.shape import HEADERS
from gluepot.connectors.streams.shape import TIMESTAMP_TYPE
from gluepot.connectors.values import RawBatch, SourceRange
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import DataLoss, TransientError
from gluepot.frames.magic import RECORD_TIMESTAMP

# The approximate number of payload bytes per RawBatch. It bounds a task's memory whatever the size of the records.
TARGET_BATCH_BYTES = 4 * 1024 * 1024
FIRST_BATCH_RECORDS = 64
# So few records are still in the processor's cache when the code goes over them again.
MAX_BATCH_RECORDS = 4_096
# A process keeps this many consumers open to read, and as many to peek. Each has its own threads and prefetch queue.
KEPT_CONSUMERS = 8
POLL_SECS = 0.1


class PartitionReader(Generic[RecordsT]):
    """One consumer on one partition. If the next range starts at its position, it reads on without a seek.

    Args:
        consumer: belongs to the reader from now on.
        topic: the topic.
        partition: the partition.
        most_records: the most that the consumer is asked for at once.
    """

    def __init__(
        self, consumer: Consumer[RecordsT], topic: str, partition: int, most_records: int = MAX_BATCH_RECORDS
    ) -> None:
        self._most_records = most_records
        self._consumer = consumer
        self._topic = topic
        self._partition = partition
        self._position = -1
        self._log_end = -1
        self._held: RecordsT | None = None
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
            self._consumer.assign(self._topic, self._partition, start)
            self._position = start
            self._held = None
            self._log_end = -1

    def rest(self) -> None:
        """Stop fetching. The next read starts fetching again, whatever its start is."""
        self._consumer.unassign()
        self._position = -1

    def read(self, start: int, end: int, deadline_secs: float, clock: Clock, bootstrap: str) -> Iterator[RecordsT]:
        """Yield the records of `[start, end)` in bounded parts; the iterator must be drained or the reader closed.

        Raises:
            DataLoss: the broker no longer has `start`.
            TransientError: no answer came for `deadline_secs`.
        """
        self.begin(start)
        # The client reports the end of the log once. Offsets before it that were not delivered by then hold no record.
        self._position = start if self._held is not None else max(start, self._log_end)
        last_sign = clock.monotonic()
        while self._position < end:
            good, notices = self._take(end - self._position)
            for notice in notices:
                if notice.error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
                    self._give_up_if_final(notice.error, bootstrap)
                elif notice.partition == self._partition:
                    # The notice gives the end of the log at its time. After aborted records or transaction markers this
                    # end lies beyond the last record we saw; that of an older notice still in the queue does not. The
                    # end of a partition that was read before says nothing about this one.
                    self._log_end = notice.offset
                    self._position = max(self._position, self._log_end)
                    last_sign = clock.monotonic()
            if good is not None:
                last_sign = clock.monotonic()
                self._position = max(self._position, good.last + 1)
                wanted, self._held = good.cut(end)
                if wanted is not None:
                    self._record_bytes = wanted.mean_bytes
                    yield wanted
            elif clock.monotonic() - last_sign > deadline_secs:
                raise TransientError(
                    f"Kafka at {bootstrap} sent nothing for {deadline_secs:.0f} s while reading"
                    f" {self._topic}-{self._partition} at offset {self._position}; check that the broker runs.",
                )
        # Records beyond `end` are held here or have yet to arrive, so the next range continues from here.
        self._position = end

    def _take(self, wanted: int) -> tuple[RecordsT | None, Sequence[Notice]]:
        if self._held is not None:
            held, self._held = self._held, None
            return held, ()
        most = min(wanted, self._most_records, max(1, TARGET_BATCH_BYTES // self._record_bytes))
        # Asks for no more records than there are: the consumer waits until it has that many, or until its time-out.
        return self._consumer.take(most, POLL_SECS)

    def _give_up_if_final(self, error: KafkaError, bootstrap: str) -> None:
        ours = from_kafka(error, f"reading {self._topic}-{self._partition} at offset {self._position}", bootstrap)
        if not isinstance(ours, TransientError):
            self._position = -1
            raise ours


PEEK_LIMITS: Mapping[str, Any] = {"fetch.message.max.bytes": 16 * 1024, "fetch.wait.max.ms": 10}

Key = tuple[str, str, str, bool, str]
"""Broker, topic, topic id, whether records are read with their keys and headers, and partition.

The id ensures that no consumer outlives the topic for which it was opened.
"""
KeyT = TypeVar("KeyT")

_peekers: OrderedDict[tuple[object, ...], PartitionReader[Messages]] = OrderedDict()
"""Peekers by broker, topic, topic id and client properties. One consumer switches to each partition in question."""
_handing_over = Lock()
"""Held while a reader is taken out or put back: queries, and the ranges of small batches, run in different threads."""
_readers: OrderedDict[Key, PartitionReader[Any]] = OrderedDict()


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
    for records in _records(settings, wanted):
        yield _raw_batch(records, settings, wanted)


def count_range(settings: KafkaReadSettings, wanted: SourceRange, folder: Path | None = None) -> int:
    """Return the number of records in a range and keep them for `read_range`; raises as it does."""
    count = 0
    with Keeping(folder, wanted) as keeping:
        for records in _records(settings, wanted):
            count += len(records)
            if keeping.is_open:
                keeping.add(_raw_batch(records, settings, wanted))
    return count


def begin_range(settings: KafkaReadSettings, wanted: SourceRange, folder: Path | None = None) -> None:
    """Let the broker send a range that is read soon; a reader that switches to it waits for its last request, 0.1 s."""
    if not is_counted(folder, wanted):
        key, reader = _reader(settings, wanted)
        reader.begin(wanted.start)
        _keep(_readers, key, reader)


def _records(settings: KafkaReadSettings, wanted: SourceRange) -> Iterator[Records]:
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


def _reader(settings: KafkaReadSettings, wanted: SourceRange) -> tuple[Key, PartitionReader[Any]]:
    """Return a reader for a partition: its own kept reader, or a kept one that can switch to it, or a new one."""
    key = (settings.bootstrap, wanted.stream, wanted.stream_id, settings.needs_messages, wanted.shard)
    with _handing_over:
        reader = _readers.pop(key, None)
        spare = _spare(key) if reader is None else None
    if spare is not None:
        spare.turn_to(int(wanted.shard))
    return key, reader or spare or PartitionReader(_consumer(settings), wanted.stream, int(wanted.shard))


def _consumer(settings: KafkaReadSettings) -> Consumer[Any]:
    is_enough = can_serve(settings.client) and not settings.needs_messages
    return CompiledConsumer(settings.client) if is_enough else MessageConsumer(settings.client)


def _keep(kept: OrderedDict[KeyT, PartitionReader[Any]], key: KeyT, reader: PartitionReader[Any]) -> None:
    with _handing_over:
        left = [replaced] if (replaced := kept.pop(key, None)) is not None else []
        kept[key] = reader
        left += [kept.popitem(last=False)[1] for _ in range(len(kept) - KEPT_CONSUMERS)]
    for one in left:  # closing waits for the client's threads
        one.close()


def _spare(wanted: Key) -> PartitionReader[Any] | None:
    """Return the least recently used reader, if it can switch to the partition and no further reader may be kept.

    Without this, a worker with more partitions than readers would open a connection for each partition in each batch. A
    reader of another topic stays where it is, and makes room when a new one is kept.
    """
    oldest = next(iter(_readers), None)
    if oldest is None or len(_readers) < KEPT_CONSUMERS or oldest[:-1] != wanted[:-1]:
        return None
    return _readers.pop(oldest)


def first_of(settings: KafkaReadSettings, wanted: SourceRange) -> Messages | None:
    """Return the first record of a range; None if it has none. The call fetches little more than that record.

    A consumer has some four threads and eight file descriptors. So all partitions of a topic share one, which fetches
    nothing between two calls.
    """
    key = (settings.bootstrap, wanted.stream, wanted.stream_id, *sorted(settings.client.items()))
    with _handing_over:
        reader = _peekers.pop(key, None)
    if reader is None:
        client = {**settings.client, **PEEK_LIMITS}
        reader = PartitionReader(MessageConsumer(client), wanted.stream, int(wanted.shard), most_records=1)
    else:
        reader.turn_to(int(wanted.shard))
    try:
        found = _peeked(reader, settings, wanted)
    except BaseException:
        reader.close()
        raise
    _keep(_peekers, key, reader)
    return found


def _peeked(reader: PartitionReader[Messages], settings: KafkaReadSettings, wanted: SourceRange) -> Messages | None:
    found = next(
        reader.read(wanted.start, wanted.end, settings.retry_deadline_secs, SystemClock(), settings.bootstrap), None
    )
    first = None if found is None else Messages(found.messages[:1])
    if first is not None and (first.partitions != {int(wanted.shard)} or first.first < wanted.start):
        raise _other_records(wanted, first)
    reader.rest()
    return first


def _raw_batch(records: Records, settings: KafkaReadSettings, wanted: SourceRange) -> RawBatch:
    is_strange = not records.is_ascending or records.partitions != {int(wanted.shard)}
    if is_strange or records.first < wanted.start:
        raise _other_records(wanted, records)
    columns: dict[str, pa.Array] = {}
    if settings.add_record_timestamp:
        columns[RECORD_TIMESTAMP] = _timestamps(records)
    if isinstance(records, Messages) and settings.include_headers:
        columns[HEADERS] = records.headers()
    for column in settings.record_columns:
        columns[column.name] = _record_column(column.of, records, wanted)
    return RawBatch(
        values=records.values,
        positions=records.positions,
        stream=wanted.stream,
        shard=wanted.shard,
        newest_epoch_ms=records.newest_epoch_ms,
        columns=columns,
    )


def _record_column(of: str, records: Records, wanted: SourceRange) -> pa.Array:
    match of:
        case "topic":
            return pa.repeat(wanted.stream, len(records))
        case "partition":
            return pa.repeat(pa.scalar(int(wanted.shard), pa.int32()), len(records))
        case "offset":
            return pa.array(np.asarray(records.positions, np.int64))
        case "timestamp":
            return _timestamps(records)
    assert isinstance(records, Messages)  # `needs_messages` holds for the key
    return records.keys()


def _timestamps(records: Records) -> pa.Array:
    return pa.array(records.epochs_ms.to_numpy() * 1000).cast(TIMESTAMP_TYPE)


def _other_records(wanted: SourceRange, found: Records) -> DataLoss:
    partitions = " and ".join(map(str, sorted(found.partitions)))
    return DataLoss(
        f"Kafka returned offset {found.first} to {found.last} of partition {partitions} of {wanted.stream} where"
        f" {wanted.start} to {wanted.end} of partition {wanted.shard} were asked for; restart the job to read the range"
        " again.",
    )
