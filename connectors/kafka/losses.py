"""Whether records are really gone: no single broker is believed at once.

A broker that lags behind the others may not know a topic or a partition that was made a moment ago. A leader that was
suspended and wakes up tells an end that the log once had, until it learns that another one leads. If that counted,
records would be given up, or read twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gluepot.connectors.kafka.broker import Broker
from gluepot.connectors.kafka.positions import Bounds, Lost, Positions, resume
from gluepot.core.clock import Clock

SURE_SECS, LOOK_SECS = 5.0, 1.0
"""For how long a loss has to be seen before it counts, and the wait between two looks."""

T = TypeVar("T")


def confirmed(look: Callable[[], T], seems_lost: Callable[[T], bool], broker: Broker, clock: Clock) -> T:
    """Look; while something seems to be lost look again, each time by a new client, and return what was seen last."""
    found = look()
    until = clock.monotonic() + SURE_SECS
    while seems_lost(found) and clock.monotonic() < until:
        clock.sleep(LOOK_SECS)
        broker.reconnect()
        found = look()
    return found


def resumed(ends: Positions, broker: Broker, clock: Clock) -> tuple[Positions, list[Lost], Bounds]:
    """Return what `resume` says of the bounds of now, and these bounds.

    Raises:
        TransientError: the broker cannot be reached.
    """

    def look() -> tuple[Positions, list[Lost], Bounds]:
        now = broker.bounds()
        return *resume(ends, now), now

    return confirmed(look, lambda found: any(not one.is_certain for one in found[1]), broker, clock)
