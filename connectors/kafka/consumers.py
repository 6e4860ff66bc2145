"""What readers need of a Kafka consumer. There are two: one of objects, and a compiled one without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import pyarrow as pa
from confluent_kafka import KafkaError

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


@dataclass(frozen=True, slots=True)
class Notice:
    """What a consumer reports beside records: an error, or the end of a partition.

    Args:
        error: librdkafka's code and text.
        partition: the partition, or -1.
        offset: the offset, at the end of a partition that of the next record.
    """

    error: KafkaError
    partition: int
    offset: int


class Records(Protocol):
    """One or more records that a consumer delivered at once, in order."""

    @property
    def first(self) -> int:
        """Offset of the first record."""

    @property
    def last(self) -> int:
        """Offset of the last record."""

    @property
    def partitions(self) -> frozenset[int]:
        """The partitions that the records are of; at least those of the first and the last one."""

    @property
    def is_ascending(self) -> bool:
        """Whether each offset is larger than the one before. Where none seems to be missing, not all are asked."""

    @property
    def mean_bytes(self) -> int:
        """The size of a payload on average, about, and at least 1."""

    @property
    def values(self) -> Sequence[bytes | None]:
        """The payloads; None where a record has only a key."""

    @property
    def positions(self) -> Sequence[int]:
        """The offsets."""

    @property
    def newest_epoch_ms(self) -> int:
        """The time stamp of the last record."""

    @property
    def epochs_ms(self) -> pa.Array:
        """All time stamps, int64."""

    def cut(self, end: int) -> tuple[Self | None, Self | None]:
        """Return the records before an offset, and the others."""

    def __len__(self) -> int: ...


RecordsT = TypeVar("RecordsT", bound=Records)
RecordsT_co = TypeVar("RecordsT_co", bound=Records, covariant=True)


class Consumer(Protocol[RecordsT_co]):
    """Reads one partition at a time."""

    def assign(self, topic: str, partition: int, start: int) -> None:
        """Read a partition from an offset on."""

    def unassign(self) -> None:
        """Read nothing."""

    def take(self, most: int, secs: float) -> tuple[RecordsT_co | None, Sequence[Notice]]:
        """Return at most so many records and notices, as soon as there are as many or the time is over."""

    def close(self) -> None:
        """Close the connections."""
