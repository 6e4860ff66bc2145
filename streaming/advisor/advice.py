"""The advisor's advice: values for programs, and sentences for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Limit(StrEnum):
    """What limits a stream first."""

    NOTHING = "nothing"
    UNKNOWN = "unknown"  # too few batches
    WORKERS = "workers"
    WINDOW = "window"
    PARTITIONS = "partitions"
    SKEW = "skew"
    THROTTLING = "throttling"


class Measure(StrEnum):
    """A measure that the advisor can recommend."""

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
    """One recommended change.

    Args:
        measure: what to change.
        sentence: the reason, with the numbers.
        wanted: the new value, in workers, rows, seconds, partitions or jobs; None if there is none.
        current: the current value, if it is known.
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
        workers: number of workers that exist or were requested.
        wanted_workers: number of workers that the query should have.
        limit: what limits the stream first.
        reason: one sentence with numbers.
        batch_secs: expected time of a batch with the wanted workers; None before the model is learned.
        catch_up_secs: expected time until no more than one window of rows waits; 0.0 if that is so now, None if the
            backlog grows.
        confidence: 0 to 1, see `model.BatchModel`.
        worker_hours_per_day: what the change costs (above 0) or saves (below 0), in worker hours a day.
        fixed_secs: learned cost of a batch that does not depend on its size.
        worker_rate: learned rows per second of one worker.
        input_rate: rows per second that arrive.
        rules_of_thumb: the rules of Glue's guide, and whether they hold, e.g. `batch below 70 % of the window`.
        recommendations: recommended changes: the number of workers first if it changes, then those that help most.
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
        """Whether the wanted number of workers differs from the current one."""
        return self.wanted_workers != self.workers

    def to_json(self) -> dict[str, Any]:
        """Return a plain form."""
        return asdict(self)
