"""Decides which notes of a stream's positions are kept: all of the last day, fewer of the time before. Pure.

A running stream notes its positions once a minute. A rewind goes to the newest note that is not later than the
requested time. So with fewer notes it begins earlier and reads some records again, but it loses none.
"""

from __future__ import annotations

from collections.abc import Iterable

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

# Pairs of a maximum age and an interval: of the notes up to that age, one for each interval is kept.
_KEPT = ((DAY_MS, MINUTE_MS), (30 * DAY_MS, HOUR_MS), (366 * DAY_MS, DAY_MS))

# The most notes that can remain of one stream.
MOST_NOTES = sum(1 + within_ms // every_ms for within_ms, every_ms in _KEPT)


def superfluous(notes: Iterable[tuple[int, int]], now_ms: int) -> list[int]:
    """Return the numbers of the states whose notes can be removed, newest first.

    Args:
        notes: pairs of the number of a state, and when it was noted in milliseconds since 1970 UTC.
        now_ms: the current time, in milliseconds since 1970 UTC.
    """
    seen: set[tuple[int, int]] = set()
    gone = []
    for state, at_ms in sorted(notes, reverse=True):
        slot = _slot(now_ms - at_ms, at_ms)
        if slot is None or slot in seen:
            gone.append(state)
        else:
            seen.add(slot)
    return gone


def _slot(age_ms: int, at_ms: int) -> tuple[int, int] | None:
    """Return the interval that keeps one note, as its length and number; None for a note that is too old to keep."""
    for within_ms, every_ms in _KEPT:
        if age_ms <= within_ms:
            return every_ms, at_ms // every_ms
    return None
