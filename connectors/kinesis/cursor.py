"""Sequential reading of one shard: this module takes, uses and renews shard iterators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from gluepot.connectors.aws.errors import Throttled
from gluepot.connectors.kinesis.blocks import to_arrow
from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.errors import IteratorExpired
from gluepot.core.errors import EtlError


@dataclass(frozen=True, slots=True)
class AtHorizon:
    """Begin with the oldest record."""


@dataclass(frozen=True, slots=True)
class AtTime:
    """Begin with the first record that arrived at a moment or later."""

    epoch_ms: int


@dataclass(frozen=True, slots=True)
class At:
    """Begin with a given record."""

    sequence: int


@dataclass(frozen=True, slots=True)
class After:
    """Begin after a given record."""

    sequence: int


Place = AtHorizon | AtTime | At | After


def iterator_parameters(place: Place) -> dict[str, Any]:
    """Return the parameters for GetShardIterator."""
    match place:
        case AtHorizon():
            return {"ShardIteratorType": "TRIM_HORIZON"}
        case AtTime(epoch_ms):
            return {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": epoch_ms / 1000}
        case At(sequence):
            return {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "StartingSequenceNumber": str(sequence)}
        case After(sequence):
            return {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": str(sequence)}


@dataclass(frozen=True, slots=True)
class Fetched:
    """One answer.

    Args:
        block: its records, perhaps none, in the columns of `blocks.SCHEMA`.
        total: sum of their fingerprints.
        behind_ms: how many milliseconds the answer's end lies behind the newest record of the shard.
        closed: True if the shard will never have further records.
        seen_epoch: the answer shows the shard at this time or later, in seconds since 1970 UTC; None for the time at
            which it was asked for.
    """

    block: pa.RecordBatch
    total: int
    behind_ms: int
    closed: bool
    seen_epoch: float | None = None


class Cursor:
    """A place in a shard that moves as records are read. Not safe to use from several threads at once.

    Args:
        client: client of the stream.
        shard: id of the shard.
        place: where to begin.

    Attributes:
        entered_by_name: True if an iterator was taken by the names of stream and shard alone, so that it may belong to
            another stream of the same name. The code that rules this out resets the flag.
        not_before: see `Subscription`.
    """

    pushed = False
    not_before = 0.0

    def __init__(self, client: KinesisClient, shard: str, place: Place) -> None:
        self._client = client
        self._shard = shard
        self.place = place
        self.entered_by_name = False
        self._iterator: str | None = None

    def fetch(self, limit: int) -> Fetched:
        """Read the next records with one call; the place moves only if an answer came.

        Args:
            limit: largest number of records.

        Raises:
            EtlError: as the client raises it. An expired iterator has been renewed once before that.
        """
        try:
            return self._fetch(limit)
        except IteratorExpired:
            return self._fetch(limit)

    def close(self) -> None:
        """Do nothing: a call ends by itself."""

    def _fetch(self, limit: int) -> Fetched:
        if self._iterator is None:
            self.entered_by_name |= isinstance(self.place, AtHorizon | AtTime)
            answer = self._client.on_stream("GetShardIterator", ShardId=self._shard, **iterator_parameters(self.place))
            self._iterator = answer["ShardIterator"]
        try:
            answer = self._client.call("GetRecords", {"ShardIterator": self._iterator, "Limit": limit})
        except Throttled:
            raise
        except EtlError:
            self._iterator = None  # Whatever was wrong with the iterator, the place is still known.
            raise
        block, total = to_arrow(answer["Records"])
        if block.num_rows:
            self.place = After(int(block.column("sequence")[-1].as_py()))
        self._iterator = answer.get("NextShardIterator")
        return Fetched(block, total, answer.get("MillisBehindLatest") or 0, self._iterator is None)
