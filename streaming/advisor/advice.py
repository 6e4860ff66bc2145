"""What the advisor says: values with numbers, and a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Limit(StrEnum):
    """What holds a stream back first."""

    NOTHING = "nothing"
    UNKNOWN = "unknown"  # too few batches
    WORKERS = "workers"
    WINDOW = "window"
    PARTITIONS = "partitions"
    SKEW = "skew"
    THROTTLING = "throttling"


class Measure(StrEnum):
    """What can be done about it."""

    WORKERS = "workers"
    BATCH_LIMIT = "maxOffsetsPerTrigger"
    WINDOW = "windowSize"
    PARTITIONS = "partitions"
    REPARTITION = "repartition"
    SPLIT = "assign"
    MERGE = "merge"
    SOURCE = "source"
    KEYS = "keys"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One thing to do.

    Args:
        measure: what to change.
        sentence: why, with the numbers.
        wanted: the new value, in workers, rows, seconds, partitions or jobs; None if there is none.
        current: the value now, where it is known.
    """

    measure: Measure
    sentence: str
    wanted: float | None = None
    current: float | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about one query, after one batch.

    Args:
        epoch: end of the batch, in seconds since 1970 UTC.
        workers: that are there or asked for.
        wanted_workers: that should be.
        limit: what holds the stream back first.
        reason: one sentence with numbers.
        batch_secs: expected time of a batch with the wanted workers; None before the model is learned.
        catch_up_secs: expected time until nothing waits beyond one window; 0.0 if nothing does, None if it grows.
        confidence: 0 to 1, see `model.BatchModel`.
        worker_hours_per_day: what it costs (above 0) or saves (below), in hours of workers a day.
        fixed_secs: cost of a batch however small, as learned.
        worker_rate: rows per second of one worker, as learned.
        input_rate: rows per second that arrive.
        rules_of_thumb: those of Glue's guide and whether they hold, e.g. `batch below 70 % of the window`.
        recommendations: what to do, the number of workers first if it changes, then what helps most.
    """

    epoch: float
    workers: int
    wanted_workers: int
    limit: Limit
    reason: str
    batch_secs: float | None = None
    catch_up_secs: float | None = None
    confidence: float = 0.0
    worker_hours_per_day: float = 0.0
    fixed_secs: float | None = None
    worker_rate: float | None = None
    input_rate: float | None = None
    rules_of_thumb: Mapping[str, bool] = field(default_factory=dict)
    recommendations: Sequence[Recommendation] = ()

    @property
    def changes_workers(self) -> bool:
        """Whether another number of workers is wanted."""
        return self.wanted_workers != self.workers

    def to_json(self) -> dict[str, Any]:
        """Return a plain form."""
        return asdict(self)
