"""Divides the ranges of a stream among tasks.

A task reads several ranges if there are more ranges than tasks are worth their cost (decision 0024). It reads a piece
of a range if there are fewer ranges than slots, or if a range is wider than a slot's share (decision 0025).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from gluepot.connectors.values import SourceRange

# The largest number of tasks per slot. With more than one, slots end at about the same time although tasks do not.
TASKS_PER_SLOT = 2
# The smallest number of records per task. Fewer take less time than the start and the files of a task.
LEAST_RECORDS = 5_000
# The smallest number of records per task if slots get more than one task. A task costs about 0.05 s, a tenth of the
# time that fewer records take.
LEAST_RECORDS_OF_MORE = 500_000


def is_divided(records: int, least_piece: int) -> bool:
    """Return whether the records are enough for more than one piece, if there is more than one slot."""
    return records >= 2 * least_piece


def cut(ranges: Sequence[SourceRange], slots: int, least_piece: int) -> list[tuple[SourceRange, ...]]:
    """Cut each range where the share of a slot ends, with all ranges laid end to end and divided evenly by slots.

    The same ranges are cut the same way each time.

    Args:
        ranges: the ranges of a batch, in order.
        slots: tasks that run at a time.
        least_piece: the fewest positions of a piece, see `StreamReading`. No cut makes a smaller piece.

    Returns:
        The pieces of each range, in order.
    """
    total = sum(map(_width, ranges))
    parts = min(slots, total // least_piece) if is_divided(total, least_piece) else 1
    fences = [total * part // parts for part in range(1, parts)]
    pieces, before = [], 0
    for one in ranges:
        after = before + _width(one)
        inside = [
            one.start + fence - before for fence in fences if before + least_piece <= fence <= after - least_piece
        ]
        pieces.append(tuple(one.piece(start, end) for start, end in pairwise([one.start, *inside, one.end])))
        before = after
    return pieces


def shares(ranges: Sequence[SourceRange], slots: int) -> list[tuple[SourceRange, ...]]:
    """Return the ranges of each task: neighbours together, about equally many records per task, the widest task first.

    Each task writes its own files, so with one task per partition a topic of many partitions would leave many small
    files. The same ranges are shared the same way each time, and the next batch's ranges too if they are as long.
    Positions stand for records here. If positions are far apart, as Kinesis' sequence numbers are, the largest number
    of tasks results.

    Args:
        ranges: the ranges of a batch, in order.
        slots: tasks that run at a time.
    """
    widths = list(map(_width, ranges))
    total = sum(widths)
    most = min(TASKS_PER_SLOT * slots, max(slots, total // LEAST_RECORDS_OF_MORE))
    tasks = min(len(ranges), most, max(1, -(-total // LEAST_RECORDS)))
    shared, before = [], 0
    for one, width in zip(ranges, widths, strict=True):
        # A range goes where its middle lies, so that a range wider than a share has a task to itself. `min` is for an
        # empty range at the end, whose middle would lie behind the last task.
        shared.append((min(tasks - 1, (2 * before + width) * tasks // max(1, 2 * total)), one))
        before += width
    found = [tuple(one for _, one in same) for _, same in groupby(shared, key=lambda numbered: numbered[0])]
    # The widest task begins first, so that the batch does not wait for a wide task that began late.
    return sorted(found, key=lambda share: -sum(map(_width, share)))


def _width(one: SourceRange) -> int:
    return one.end - one.start
