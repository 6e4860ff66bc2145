"""What a declared payload is: plain values on the driver, a decoder in the worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from gluepot.frames.chunk import Chunk


class RecordDecoder(Protocol):
    """Turns records into rows. What a record becomes depends on that record alone, never on its neighbours.

    So every way of cutting and reading a range gives equal rows.
    """

    def decode(self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str) -> Chunk:
        """Decode records of one shard.

        Args:
            values: payloads; None where a record has none.
            positions: each record's offset.
            stream: topic or stream.
            shard: partition or shard.

        Returns:
            The good records in order, in exactly the declared schema; the others as errors, in order.
        """


class DeclaredPayload(Protocol):
    """A format and the columns that records of it have. Picklable and small; a worker makes its own decoder."""

    @property
    def schema(self) -> pa.Schema:
        """Columns of every decoded chunk; all nullable, at any depth."""

    def decoder(self) -> RecordDecoder:
        """Return a new decoder."""


class GrowingDecoder(RecordDecoder, Protocol):
    """A `RecordDecoder` that finds the columns in the records; those of a chunk may be more than those of the last."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the chunks so far, with fields whose type is still null."""


class GrowingPayload(Protocol):
    """A format whose records tell their columns. Picklable and small; a worker makes its own decoder."""

    def decoder(self, known: pa.Schema | None = None) -> GrowingDecoder:
        """Return a new decoder that begins with the columns known so far."""
