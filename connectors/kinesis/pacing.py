"""When a shard may be read next: the service's limits, and back-off. Pure."""

from __future__ import annotations

from dataclasses import dataclass

READS_PER_SEC = 5
"""Per shard, all consumers together."""
BYTES_PER_SEC = 2 * 1024 * 1024
"""Per shard, all consumers together."""
TIP_SECS = 0.5
"""Between two reads of a shard that has nothing new: two of its five reads a second, three are left to others."""


@dataclass(frozen=True, slots=True)
class Read:
    """One answered GetRecords call.

    Args:
        bytes: payload it brought.
        at_tip: nothing was behind it.
    """

    bytes: int
    at_tip: bool


def wait_secs(read: Read, idle_secs: float = 0.0) -> float:
    """Return how long after the begin of a read the next one of the shard may begin.

    Args:
        read: the read.
        idle_secs: what the script demands at least.
    """
    by_calls = TIP_SECS if read.at_tip else 1 / READS_PER_SEC
    return max(by_calls, read.bytes / BYTES_PER_SEC, idle_secs)


def backoff_secs(attempt: int, base_secs: float, cap_secs: float, chance: float) -> float:
    """Return how long to wait after the `attempt`-th failure in a row: full jitter.

    Readers that were throttled together come back at different times (AWS Architecture Blog, "Exponential Backoff And
    Jitter").

    Args:
        attempt: 1 for the first failure.
        base_secs: longest wait after the first failure.
        cap_secs: longest wait of all.
        chance: between 0 and 1, evenly distributed.
    """
    return chance * float(min(cap_secs, base_secs * 2.0 ** min(attempt - 1, 30)))
