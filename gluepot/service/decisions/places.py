"""Places: the machines, or rather the state folders, at which services of one database start runs. Pure.

A run belongs to the place that starts it, because only there its process can be looked at. The services of all places
answer clients, fire triggers and start what nobody has started yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NOTED_EVERY_SECS = 10.0
"""How often a service notes that it is there."""
LOST_AFTER_SECS = 300.0
"""A service that has noted nothing for this long is taken for lost, and its runs for failed."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a service has noted last.

    Args:
        seen_ms: its note, by its own clock.
        since_secs: since when the watching service has read the same note, by a clock that never goes back.
    """

    seen_ms: int
    since_secs: float


def watched(before: Mapping[str, Watched], seen_ms: Mapping[str, int], now_secs: float) -> dict[str, Watched]:
    """Return what is known of the places, after their notes were read again.

    Clocks of different machines are not compared: a place is lost if its note stays the same while ours advance.

    Args:
        before: what was known; empty after the database was away, for then nobody could note anything.
        seen_ms: the notes of all places.
        now_secs: now, by a clock that never goes back.
    """
    return {
        name: before[name] if name in before and before[name].seen_ms == noted else Watched(noted, now_secs)
        for name, noted in seen_ms.items()
    }


def lost(known: Mapping[str, Watched], own: str, now_secs: float) -> list[str]:
    """Return the places, other than the own one, that have noted nothing for too long."""
    return [name for name, one in known.items() if name != own and now_secs - one.since_secs > LOST_AFTER_SECS]
