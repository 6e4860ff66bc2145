"""The history that the advisor uses: plain numbers of finished batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from gluepot.core.errors import ConfigError
from gluepot.streaming.progress import BatchStats

# The phase in which a source counts the seconds that the service made it wait.
THROTTLED_PHASE = "throttled"


@dataclass(frozen=True, slots=True)
class Observation:
    """One finished batch as the advisor sees it.

    Args:
        ended_epoch: when it was committed, in seconds since 1970 UTC.
        secs: how long it took.
        window_secs: configured time between two batch starts; 0 if there is no window.
        rows: number of records read.
        workers: number of workers that existed at its end.
        ordered_workers: number of workers that existed or were requested; never below 1.
        waiting_rows: number of records that waited at its end, by shard; empty if the source does not tell.
        task_secs: seconds of its phases, summed over tasks; 0 if unknown.
        throttled_secs: the part of `task_secs` in which the source made it wait.
        files: number of published data files.
        bytes_out: total size of these files.
        divisible: whether several tasks can read a partition, and there were enough records for that.
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
        """The number of records that waited at its end, over all shards."""
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
            raise ConfigError(f"{dict(plain)} is not an observation of a batch ({wrong}); record it again.") from wrong
        return given


def observed(stats: BatchStats, workers: int, ordered_workers: int | None = None) -> Observation:
    """Return a committed batch as the advisor sees it.

    Args:
        stats: stats of the batch.
        workers: number of existing workers; on `local[N]` the process counts as one worker.
        ordered_workers: the same number plus requested workers that do not exist yet; None if none are requested.
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
    """Return the batches that show the normal speed: without the first ones after a start or a change of workers.

    Args:
        history: batches, oldest first.
        warm_up_batches: how many batches do not count, including the one in which the number of workers changed.
    """
    kept, since_change, workers = [], 0, 0
    for one in history:
        since_change = since_change + 1 if one.workers == workers else 0
        workers = one.workers
        if since_change >= warm_up_batches:
            kept.append(one)
    return kept
