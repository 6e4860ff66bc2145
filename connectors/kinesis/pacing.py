"""Pure functions that say when a shard may be read next, from the service's limits."""

from __future__ import annotations

from dataclasses import dataclass

READS_PER_SEC = 5
"""Per shard, all consumers together."""
BYTES_PER_SEC = 2 * 1024 * 1024
"""Per shard, all consumers together."""
TIP_SECS = 0.5
"""Time between two reads of a shard that has no new records. They use two of its five reads a second and leave three to
other consumers."""


@dataclass(frozen=True, slots=True)
class Read:
    """One answered GetRecords call.

    Args:
        bytes: size of the payload that it returned.
        at_tip: True if the shard had no records after it.
    """

    bytes: int
    at_tip: bool


def wait_secs(read: Read, idle_secs: float = 0.0) -> float:
    """Return how long after the start of a read the next read of the shard may start.

    Args:
        read: the read.
        idle_secs: the shortest time that the script demands.
    """
    by_calls = TIP_SECS if read.at_tip else 1 / READS_PER_SEC
    return max(by_calls, read.bytes / BYTES_PER_SEC, idle_secs)
