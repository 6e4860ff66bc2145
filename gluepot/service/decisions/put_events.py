"""Which events of a batch that a client puts into a log stream are kept. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MOST_BATCH_BYTES = 1_048_576
_BYTES_OF_EVENT = 26
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_OLDEST_DAYS, _NEWEST_HOURS, _SPAN_MS = 14, 2, _DAY_MS

Put = tuple[int, str]
"""Time in milliseconds since 1970, and message."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What is kept of a batch.

    Args:
        events: those that are kept.
        rejected: what was not kept, as `RejectedLogEventsInfo` of the API.
    """

    events: Sequence[Put]
    rejected: dict[str, int]


def wrong_with(events: Sequence[Put]) -> str | None:
    """Return why a batch is refused as a whole; None if it is not."""
    size = sum(len(message.encode()) + _BYTES_OF_EVENT for _, message in events)
    if size > MOST_BATCH_BYTES:
        return f"Upload too large: {size} bytes exceeds limit of {MOST_BATCH_BYTES}"
    if any(after < before for (before, _), (after, _) in pairwise(events)):
        return "Log events in a single PutLogEvents request must be in chronological order."
    return None


def accepted(events: Sequence[Put], keep_days: int | None, now_ms: int) -> Accepted:
    """Return what is kept of a batch: nothing that is too old, too new, or older than the group keeps.

    Args:
        events: in the order of their times.
        keep_days: for how long the group keeps events; None for ever.
        now_ms: milliseconds since 1970.
    """
    old = sum(at_ms < now_ms - _OLDEST_DAYS * _DAY_MS for at_ms, _ in events)
    expired = 0 if keep_days is None else sum(at_ms < now_ms - keep_days * _DAY_MS for at_ms, _ in events)
    new = sum(at_ms > now_ms + _NEWEST_HOURS * _HOUR_MS for at_ms, _ in events)
    ends = {"tooOldLogEventEndIndex": old, "expiredLogEventEndIndex": expired}
    rejected = {name: end for name, end in ends.items() if end}
    if new:
        rejected["tooNewLogEventStartIndex"] = len(events) - new
    return Accepted(events[max(old, expired) : len(events) - new], rejected)


def spans_too_long(events: Sequence[Put]) -> bool:
    """Return whether kept events of one batch are more than a day apart."""
    return bool(events) and events[-1][0] - events[0][0] > _SPAN_MS
