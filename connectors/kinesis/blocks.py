"""The records that one read of a shard returned, as Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pybase64 import b64decode

from gluepot.connectors.kinesis.positions import behind, fingerprint
from gluepot.connectors.streams.shape import TIMESTAMP_TYPE

SCHEMA = pa.schema(
    [
        pa.field("sequence", pa.string(), nullable=False),
        pa.field("key", pa.string(), nullable=False),
        pa.field("data", pa.large_binary(), nullable=False),
        pa.field("arrived_epoch_ms", pa.int64(), nullable=False),
    ]
)


RECORD_COLUMNS = pa.schema(
    [
        pa.field("streamName", pa.string()),
        pa.field("partitionKey", pa.string()),
        pa.field("sequenceNumber", pa.string()),
        pa.field("approximateArrivalTimestamp", TIMESTAMP_TYPE),
    ]
)
"""What Spark's connectors for Kinesis tell of a record beside its data."""


@dataclass(frozen=True, order=True, slots=True)
class Extent:
    """Which records of the stream a block holds: one or more.

    Args:
        start: position directly after the record before the first; the position of the first if none before it is
            known.
        first: sequence number of the first record.
        last: sequence number of the last record.
        records: their number.
        total: sum of their fingerprints.
    """

    start: int
    first: int
    last: int
    records: int
    total: int

    @property
    def end(self) -> int:
        """Position directly after the last record."""
        return behind(self.last)


def to_arrow(records: Sequence[Mapping[str, Any]]) -> tuple[pa.RecordBatch, int]:
    """Return a service answer's `Records` in order, and the sum of their fingerprints."""
    sequences = [one["SequenceNumber"] for one in records]
    payloads = [b64decode(one["Data"], validate=True) for one in records]
    block = pa.RecordBatch.from_arrays(
        [
            pa.array(sequences, pa.string()),
            pa.array([one["PartitionKey"] for one in records], pa.string()),
            pa.array(payloads, pa.large_binary()),
            pa.array([int(one["ApproximateArrivalTimestamp"] * 1000) for one in records], pa.int64()),
        ],
        schema=SCHEMA,
    )
    return block, fingerprint(sequences, payloads)


def total_of(block: pa.RecordBatch) -> int:
    """Return the sum of the fingerprints of a block's records."""
    return fingerprint(block.column("sequence").to_pylist(), block.column("data").to_pylist())


def extent_of(block: pa.RecordBatch, start: int, total: int) -> Extent:
    """Return the extent of a block.

    Args:
        block: one record or more.
        start: position directly after the record before the block.
        total: sum of the fingerprints.
    """
    sequences = block.column("sequence")
    return Extent(start, int(sequences[0].as_py()), int(sequences[-1].as_py()), block.num_rows, total)
