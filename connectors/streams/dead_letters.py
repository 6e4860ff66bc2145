"""Dead letters: records kept as the source holds them, with everything that is needed to send them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from gluepot.connectors.ports import dump_errors
from gluepot.frames.chunk import Coordinates, ErrorRecord

HEADERS_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
TIMESTAMP_TYPE = pa.timestamp("ms", tz="UTC")


@dataclass(frozen=True, slots=True)
class OriginalRecord:
    """A record as its source holds it.

    Args:
        value: the payload; None where the source has a key and no value.
        stream: topic or stream.
        shard: partition or shard.
        position: its offset.
        epoch_ms: its time stamp; None where the source has none.
        key: its key, if it has one.
        headers: in order; names may repeat.
    """

    value: bytes | None
    stream: str
    shard: str
    position: int
    epoch_ms: int | None = None
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record with the reason why it was set aside; `ErrorRecord` explains the fields."""

    record: OriginalRecord
    reason: str
    message: str

    @property
    def error(self) -> ErrorRecord:
        """The fields that every rejected record has."""
        held = self.record
        return ErrorRecord(
            held.value, self.reason, self.message, Coordinates(held.stream, held.shard, str(held.position))
        )


def dump_dead_letters(letters: Sequence[DeadLetter]) -> pa.RecordBatch:
    """Return dead letters as a table with the columns of `dump_errors`, then timestamp, binary key, and headers.

    A header has a key and a value.
    """
    records = [letter.record for letter in letters]
    headers = [[{"key": name, "value": value} for name, value in held.headers] for held in records]
    return (
        dump_errors([letter.error for letter in letters])
        .append_column("timestamp", pa.array([held.epoch_ms for held in records], TIMESTAMP_TYPE))
        .append_column("key", pa.array([held.key for held in records], pa.binary()))
        .append_column("headers", pa.array(headers, HEADERS_TYPE))
    )
