"""What the advisor knows of the past: plain numbers of finished batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from gluepot.core.errors import ConfigError
from gluepot.streaming.progress import BatchStats

THROTTLED_PHASE = "throttled"
"""Phase in which a source counts the seconds it was told to wait by the service."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One finished batch as the advisor sees it.

    Args:
        ended_epoch: when it was committed, in seconds since 1970 UTC.
        secs: how long it took.
        window_secs: time between two batch starts as configured; 0 for none.
        rows: records read.
        workers: that were there at its end.
        ordered_workers: that are there or were asked for; never below 1.
        waiting_rows: records behind the newest one at its end, by shard; empty where the source does not say.
        task_secs: seconds of its phases, summed over tasks; 0 where unknown.
        throttled_secs: the part of `task_secs` in which the source made it wait.
        files: data files published.
        bytes_out: their bytes.
        divisible: several tasks can read a partition, and its records were worth it.
    """

    ended_epoch: float
    secs: float
    window_secs: float
    rows: int
    workers: int
    ordered_workers: int
    waiting_rows: Mapping[str, int] = field(default_factory=dict)
    task_secs: float = 0.0
    throttled_secs: float = 0.0
    files: int = 0
    bytes_out: int = 0
    divisible: bool = False

    @property
    def waiting(self) -> int:
        """Records that waited at its end, of all shards."""
        return sum(self.waiting_rows.values())

    def to_json(self) -> dict[str, Any]:
        """Return a plain form: one line of an advice log."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Observation:
        """Read the plain form back.

        Raises:
            ConfigError: a field is missing, unknown, or has a value of another type.
        """
        try:
            given = cls(**plain)
            numbers = (given.ended_epoch, given.secs, given.window_secs, given.task_secs, given.throttled_secs)
            lowest = min(*numbers, given.rows, given.waiting, given.workers - 1, given.ordered_workers - 1)
            if lowest < 0:
                raise ConfigError(f"An observation has a negative number or no worker: {dict(plain)}; record it again.")
        except (TypeError, AttributeError) as wrong:
            raise ConfigError(f"{dict(plain)} is no observation of a batch ({wrong}); record it again.") from wrong
        return given


def observed(stats: BatchStats, workers: int, ordered_workers: int | None = None) -> Observation:
    """Return a committed batch as the advisor sees it.

    Args:
        stats: stats of the batch.
        workers: that are there now; on `local[N]` the one process is one worker.
        ordered_workers: with those that were asked for and are not there yet; None if none are.
    """
    return Observation(
        ended_epoch=stats.committed_epoch,
        secs=stats.duration_secs,
        window_secs=stats.window_secs,
        rows=stats.rows_in,
        workers=workers,
        ordered_workers=workers if ordered_workers is None else ordered_workers,
        waiting_rows=dict(stats.lag_records),
        task_secs=sum(secs for phase, secs in stats.phase_secs.items() if phase != "publish"),
        throttled_secs=stats.phase_secs.get(THROTTLED_PHASE, 0.0),
        files=stats.files,
        bytes_out=stats.bytes_out,
        divisible=stats.divisible,
    )


def settled(history: Sequence[Observation], warm_up_batches: int) -> list[Observation]:
    """Return the batches that tell how fast the present shape is: not the first ones after a start or a change.

    Args:
        history: oldest first.
        warm_up_batches: how many do not count, the one in which the number of workers changed included.
    """
    kept, since_change, workers = [], 0, 0
    for one in history:
        since_change = since_change + 1 if one.workers == workers else 0
        workers = one.workers
        if since_change >= warm_up_batches:
            kept.append(one)
    return kept
