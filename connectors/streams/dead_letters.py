"""Dead letters: records kept as the source holds them, with everything that is needed to send them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from gluepot.connectors.values import OriginalRecord, dump_errors
from gluepot.frames.chunk import Coordinates, ErrorRecord

HEADERS_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
TIMESTAMP_TYPE = pa.timestamp("ms", tz="UTC")


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
