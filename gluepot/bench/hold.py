"""A steady load at the settings found: what it did to latency and backlog. Pure.

A record's latency counts from the moment it was due, not from the moment the sender got round to it: a sender that
falls behind a slow broker would otherwise hide the very delay that is looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from gluepot.streaming.advisor.history import Observation


@dataclass(frozen=True, slots=True)
class Load:
    """What was sent: records evenly over a time, in order.

    Args:
        began_epoch: when the first was due, in seconds since 1970 UTC.
        rate: records a second.
        sent: how many.
        before_rows: records that were in the topic already, and are read first.
    """

    began_epoch: float
    rate: float
    sent: int
    before_rows: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """How the job took it.

    Args:
        rate: records a second that were due.
        secs: for how long, without the warm-up.
        batches: that began in that time.
        p50_secs: median latency of a record, from due to committed.
        p99_secs: likewise.
        worst_secs: likewise.
        first_waiting: records behind at the end of a batch, median of the first third of the batches.
        last_waiting: likewise of the last third.
        window_secs: window of the query.
        sla_secs: that no record should reach; None where nobody said.
    """

    rate: float
    secs: float
    batches: int
    p50_secs: float
    p99_secs: float
    worst_secs: float
    first_waiting: int
    last_waiting: int
    window_secs: float
    sla_secs: float | None

    @property
    def lag_grows(self) -> bool:
        """Whether more records wait at the end than at the begin, by what comes in half a window."""
        return self.last_waiting - self.first_waiting > self.rate * self.window_secs / 2

    @property
    def holds(self) -> bool:
        """Whether the lag stands still and p99 is within the SLA."""
        return not self.lag_grows and (self.sla_secs is None or self.p99_secs <= self.sla_secs)

    def to_json(self) -> dict[str, Any]:
        """Return a plain form, with what follows from the numbers."""
        return {**asdict(self), "lag_grows": self.lag_grows, "holds": self.holds}


def held(
    batches: Sequence[Observation], load: Load, window_secs: float, warm_up_secs: float, sla_secs: float | None
) -> Held:
    """Return how a job took a load.

    Args:
        batches: all that it committed, in order; they hold every record of the load, in about the order sent. Some
            began under the load, after the warm-up.
        load: what was sent.
        window_secs: window of the query.
        warm_up_secs: records that were due so early do not count.
        sla_secs: goal for the 99th of a hundred records.
    """
    first, last = load.began_epoch + warm_up_secs, load.began_epoch + load.sent / load.rate
    committed = np.repeat([one.ended_epoch for one in batches], [one.rows for one in batches])
    committed = committed[load.before_rows : load.before_rows + load.sent]
    due = load.began_epoch + np.arange(len(committed)) / load.rate
    latency = (committed - due)[due >= first]
    under_load = [one for one in batches if first <= one.ended_epoch - one.secs <= last]
    third = max(1, len(under_load) // 3)
    p50, p99 = np.quantile(latency, [0.5, 0.99])
    return Held(
        rate=load.rate,
        secs=last - first,
        batches=len(under_load),
        p50_secs=float(p50),
        p99_secs=float(p99),
        worst_secs=float(latency.max()),
        first_waiting=int(median(one.waiting for one in under_load[:third])),
        last_waiting=int(median(one.waiting for one in under_load[-third:])),
        window_secs=window_secs,
        sla_secs=sla_secs,
    )
