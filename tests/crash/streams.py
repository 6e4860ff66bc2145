"""What a run needs of the stream that a job reads, whichever system it is of, and of a client that sends to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, Protocol

Source = Literal["kafka", "kinesis"]
Server = Literal["kafka", "kinesis", "fan-out"]
"""What a stream is read from. `fan-out` is Kinesis that is read with enhanced fan-out."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record is, in the texts that rejects have for it.

    Args:
        stream: topic or stream.
        shard: partition or shard.
        position: its offset, or what stands for its sequence number.
    """

    stream: str
    shard: str
    position: str


class Sender(Protocol):
    """A client that is not the product's. It sends each record once."""

    def send(self, payloads: Sequence[bytes]) -> list[Place | None]:
        """Send and wait; where each record is, None for one that nobody answered for: it may be there or not."""

    def found(self, payloads: Sequence[bytes]) -> list[tuple[bytes, Place]]:
        """Those of the unanswered records that are there after all, each copy."""

    def close(self) -> None:
        """Let go of the server."""


class Stream(Protocol):
    """The stream of one job."""

    @property
    def source(self) -> Source:
        """Of which system; a script's `connection_type`."""

    @property
    def env(self) -> Mapping[str, str]:
        """What a job needs in its environment."""

    @property
    def reshard(self) -> Callable[[Random], None] | None:
        """Split a shard or merge two, at random, and wait until that is done; None where shards are for ever."""

    def options(self, batch_records: int) -> Mapping[str, str]:
        """A script's `connection_options`, for batches of about so many records."""

    def sender(self, chance: Random) -> Sender:
        """Somebody who spreads records over the shards at random."""

    def parents(self) -> Mapping[str, Sequence[str]]:
        """The shards that were made of others, and those."""
