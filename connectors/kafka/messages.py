"""The consumer of confluent-kafka: each record is an object, with its key and its headers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from operator import is_
from typing import Any

import pyarrow as pa
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, Message, TopicPartition

from gluepot.connectors.kafka.client import with_callbacks
from gluepot.connectors.kafka.consumers import CONSUMER_DEFAULTS, Notice
from gluepot.connectors.kafka.shape import HEADER_TYPE
from gluepot.connectors.values import OriginalRecord

# A confluent_kafka.Message. Its type stubs make every field optional; a message without an error has all fields.
Record = Any
# Functions for `map`, which calls them without executing bytecode.
_error: Callable[[Record], Any] = Message.error
_offset: Callable[[Record], Any] = Message.offset
_value: Callable[[Record], Any] = Message.value
_key: Callable[[Record], Any] = Message.key

# One record in so many is asked for its size and its offset, if the values of the others follow from these.
_LOOKED_AT = 16


@dataclass(frozen=True)
class Messages:
    """`Records` that are objects.

    Args:
        messages: one or more, none of which is an error.
    """

    messages: Sequence[Record]

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def first(self) -> int:
        """See `Records`."""
        return int(self.messages[0].offset())

    @property
    def last(self) -> int:
        """See `Records`."""
        return int(self.messages[-1].offset())

    @property
    def partitions(self) -> frozenset[int]:
        """See `Records`."""
        return frozenset((self.messages[0].partition(), self.messages[-1].partition()))

    @property
    def is_ascending(self) -> bool:
        """See `Records`."""
        return isinstance(self.positions, range) or list(self.positions) == sorted(self.positions)

    @property
    def mean_bytes(self) -> int:
        """See `Records`."""
        looked_at = self.messages[::_LOOKED_AT]
        return max(1, sum(map(len, looked_at)) // len(looked_at))

    @property
    def values(self) -> Sequence[bytes | None]:
        """See `Records`."""
        return list(map(_value, self.messages))

    @cached_property
    def positions(self) -> Sequence[int]:
        """See `Records`."""
        dense = range(self.first, self.last + 1)
        looked_at = list(map(_offset, self.messages[::_LOOKED_AT]))
        if len(dense) == len(self.messages) and looked_at == list(dense[::_LOOKED_AT]):
            return dense
        return list(map(_offset, self.messages))

    @property
    def newest_epoch_ms(self) -> int:
        """See `Records`."""
        return int(self.messages[-1].timestamp()[1])

    @property
    def epochs_ms(self) -> pa.Array:
        """See `Records`."""
        return pa.array([message.timestamp()[1] for message in self.messages], pa.int64())

    def headers(self) -> pa.Array:
        """Return the headers of all records."""
        return pa.array(list(map(_headers, self.messages)), HEADER_TYPE)

    def keys(self) -> pa.Array:
        """Return the keys of all records."""
        return pa.array(list(map(_key, self.messages)), pa.binary())

    def cut(self, end: int) -> tuple[Messages | None, Messages | None]:
        """See `Records`."""
        if self.last < end:
            return self, None
        first_beyond = next(at for at, message in enumerate(self.messages) if message.offset() >= end)
        before = Messages(self.messages[:first_beyond]) if first_beyond else None
        return before, Messages(self.messages[first_beyond:])

    def originals(self) -> Iterator[OriginalRecord]:
        """Yield the records with everything that the broker keeps for them."""
        return map(_original, self.messages)


class MessageConsumer:
    """A `Consumer` of objects.

    Args:
        client: librdkafka's properties.
    """

    def __init__(self, client: Mapping[str, Any]) -> None:
        self._consumer = Consumer({**CONSUMER_DEFAULTS, **with_callbacks(client)})

    def assign(self, topic: str, partition: int, start: int) -> None:
        """See `Consumer`."""
        self._consumer.assign([TopicPartition(topic, partition, start)])

    def unassign(self) -> None:
        """See `Consumer`."""
        self._consumer.unassign()

    def take(self, most: int, secs: float) -> tuple[Messages | None, Sequence[Notice]]:
        """See `Consumer`."""
        taken: list[Record] = self._consumer.consume(most, secs)
        records, notices = _parted(taken)
        told = [Notice(one.error(), one.partition(), one.offset()) for one in notices]
        return Messages(records) if records else None, told

    def close(self) -> None:
        """See `Consumer`."""
        self._consumer.close()


def _parted(messages: list[Record]) -> tuple[list[Record], list[Record]]:
    """Separate a consumer's messages into records and notices, which are errors and ends of the log."""
    errors = list(map(_error, messages))
    if all(map(is_, errors, repeat(None))):  # This is nearly always so, and the lists below take three times as long.
        return messages, []
    told = list(zip(messages, errors, strict=True))
    return [one for one, error in told if error is None], [one for one, error in told if error is not None]


def _original(record: Record) -> OriginalRecord:
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


def _headers(message: Record) -> list[dict[str, str | None]] | None:
    headers = message.headers()
    if not headers:
        return None
    return [{"key": key, "value": None if v is None else v.decode("utf-8", "replace")} for key, v in headers]
