"""Which notes of where a stream stood are kept: all of the newest day, fewer of what is older. Pure.

A running stream notes its positions once a minute, for as long as it runs. A rewind goes to the newest note that is not
later than the time asked for, so with fewer notes it begins earlier and reads some records again; it loses none.
"""

from __future__ import annotations

from collections.abc import Iterable

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

_KEPT = ((DAY_MS, MINUTE_MS), (30 * DAY_MS, HOUR_MS), (366 * DAY_MS, DAY_MS))
"""Up to which age one note is kept of how long a time; what is older goes."""

MOST_NOTES = sum(1 + within_ms // every_ms for within_ms, every_ms in _KEPT)
"""Kept of one stream, whatever was noted."""


def superfluous(notes: Iterable[tuple[int, int]], now_ms: int) -> list[int]:
    """Return the numbers of the states whose notes can go, newest first.

    Args:
        notes: number of the state, and when it was noted in milliseconds since 1970 UTC.
        now_ms: likewise.
    """
    seen: set[tuple[int, int]] = set()
    gone = []
    for state, at_ms in sorted(notes, reverse=True):
        every_ms = next((every_ms for within_ms, every_ms in _KEPT if now_ms - at_ms <= within_ms), 0)
        slot = (every_ms, at_ms // every_ms if every_ms else 0)
        if not every_ms or slot in seen:
            gone.append(state)
        seen.add(slot)
    return gone
