"""The loop that keeps the pace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import Protocol

from gluepot.core.clock import Clock
from gluepot.produce.rates import Shape
from gluepot.produce.records import Record

SLICE_SECS = 0.02
KINESIS_SLICE_SECS = 0.5
"""A stream takes up to 500 records in a call, and a call takes its time, whatever it holds."""
MOST_AT_ONCE = 10_000


class Target(Protocol):
    """Where records go."""

    def send(self, records: Iterable[Record]) -> None:
        """Take records in order; may wait for room, not for answers.

        Raises:
            EtlError: a record was not taken.
        """

    def finish(self) -> int:
        """Wait for all answers; return how many records were acknowledged, which is all of them.

        Raises:
            EtlError: a record was not taken.
        """


@dataclass(frozen=True, slots=True)
class Produced:
    """What was sent.

    Args:
        acknowledged: records that the target has.
        secs: from the first to the last answer.
        late_secs: how long after its time the last record was sent, because target or process were too slow.
    """

    acknowledged: int
    secs: float
    late_secs: float = 0.0

    @property
    def rate(self) -> float:
        """Records a second."""
        return self.acknowledged / self.secs if self.secs > 0 else 0.0


def produce(
    made: Iterator[Record],
    shape: Shape,
    target: Target,
    clock: Clock,
    *,
    secs: float | None = None,
    most: int | None = None,
    slice_secs: float = SLICE_SECS,
) -> Produced:
    """Send records as they fall due, until the time is over, as many are sent, there are no more, or Ctrl-C.

    Where the target is slower than the shape, those due are sent late, none is left out.

    Args:
        made: what to send.
        shape: when.
        target: where to.
        clock: paces the sending.
        secs: for how long; None for no end.
        most: how many; None for any number.
        slice_secs: what falls due within this time is sent together.

    Raises:
        EtlError: a record was not taken.
    """
    began, sent, late_secs = clock.monotonic(), 0, 0.0
    limit = inf if most is None else most
    until = inf if secs is None else secs
    try:
        while True:
            elapsed = clock.monotonic() - began
            due = min(shape.due_by(min(elapsed, until)), limit)
            chunk = list(islice(made, int(min(due - sent, MOST_AT_ONCE))))
            target.send(chunk)
            sent += len(chunk)
            late_secs = max(0.0, elapsed - until)
            nothing_left = due - sent >= 1 and not chunk
            nothing_due = due - sent < 1 or due == inf
            if nothing_left or sent >= limit or (elapsed >= until and nothing_due):
                break
            if nothing_due and due != inf:
                clock.sleep(slice_secs)
    except KeyboardInterrupt:
        late_secs = 0.0  # an end that was asked for
    acknowledged = target.finish()
    return Produced(acknowledged, clock.monotonic() - began, late_secs)
