"""Which ranges of a stream a task reads: several where there are more of them than tasks pay for (decision 0024)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from connectors.ports import SourceRange

TASKS_PER_SLOT = 2
"""So that the slots end at about the same time although tasks do not."""
LEAST_RECORDS = 5_000
"""Of a task: fewer take less time than its files and its start."""


def shares(ranges: Sequence[SourceRange], slots: int) -> list[tuple[SourceRange, ...]]:
    """Return the ranges of each task: neighbours together, about as many records for each task.

    Each task writes files of its own, so that a topic of many partitions would leave many small ones. The same ranges
    are cut the same way each time, and so are those of the next batch if they are as long: a worker that has a
    partition at hand goes on with it. Positions stand for records here; where they are far apart, as the sequence
    numbers of Kinesis are, tasks are as many as may be.

    Args:
        ranges: of a batch, in order.
        slots: tasks that run at a time.
    """
    widths = [one.end - one.start for one in ranges]
    total = sum(widths)
    tasks = min(len(ranges), TASKS_PER_SLOT * slots, max(1, -(-total // LEAST_RECORDS)))
    shared, before = [], 0
    for one, width in zip(ranges, widths, strict=True):
        # By its middle, so that a range wider than a share has one for itself; an empty one at the end has no middle.
        shared.append((min(tasks - 1, (2 * before + width) * tasks // max(1, 2 * total)), one))
        before += width
    return [tuple(one for _, one in same) for _, same in groupby(shared, key=lambda numbered: numbered[0])]
