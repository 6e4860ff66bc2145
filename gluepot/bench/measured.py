"""What was run, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from gluepot.streaming.advisor.history import Observation
from gluepot.streaming.advisor.model import MOST_BATCHES, BatchModel, fit


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the script: batches of one size, one after the other without a pause.

    Args:
        cores: tasks at a time, and partitions that are read.
        limit_rows: `maxOffsetsPerTrigger`, of all partitions together.
    """

    cores: int
    limit_rows: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A run that was done.

    Args:
        run: which.
        batches: without those of the warm-up; each says the cores as its workers. Not empty.
        start_secs: time of the run beside its batches: Spark's start and end.
    """

    run: Run
    batches: Sequence[Observation]
    start_secs: float

    @property
    def p50_secs(self) -> float:
        """Median time of a batch."""
        return median(one.secs for one in self.batches)

    @property
    def rate(self) -> float:
        """Rows per second of batch time."""
        return sum(one.rows for one in self.batches) / sum(one.secs for one in self.batches)


def models(done: Sequence[Measured]) -> Mapping[int, BatchModel]:
    """Return what was learned of each number of cores, the runs of each counting alike; fewest cores first."""
    found = {}
    for cores in sorted({one.run.cores for one in done}):
        model = fit(in_turns([one.batches for one in done if one.run.cores == cores]))
        if model is not None:
            found[cores] = model
    return found


def in_turns(runs: Sequence[Sequence[Observation]]) -> list[Observation]:
    """Return as many batches of each run as the model takes in, the runs in turns: to the model the last are new."""
    each = min(MOST_BATCHES // len(runs), *(len(batches) for batches in runs), MOST_BATCHES)
    return [one for row in zip(*(batches[-each:] for batches in runs), strict=True) for one in row]
