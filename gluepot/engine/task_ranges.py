"""Which ranges of a stream a task reads: several where there are more of them than tasks pay for (decision 0024).

And pieces of them, where there are fewer than slots or one is wider than its share (decision 0025).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from gluepot.connectors.ports import SourceRange

TASKS_PER_SLOT = 2
"""At most, so that the slots end at about the same time although tasks do not."""
LEAST_RECORDS = 5_000
"""Of a task: fewer take less time than its files and its start."""
LEAST_RECORDS_OF_MORE = 500_000
"""Of a task where slots have more than one: it costs about 0.05 s, a tenth of what fewer records take."""


def is_divided(records: int, least_piece: int) -> bool:
    """Tell whether so many records are enough for more than one piece, where there is more than one slot."""
    return records >= 2 * least_piece


def cut(ranges: Sequence[SourceRange], slots: int, least_piece: int) -> list[tuple[SourceRange, ...]]:
    """Cut each range where the share of a slot ends: with all ranges laid end to end, at each slot's part of the whole.

    The same ranges are cut the same way each time.

    Args:
        ranges: of a batch, in order.
        slots: tasks that run at a time.
        least_piece: positions of a piece, see `DivisibleSource`; where it would be smaller nothing is cut.

    Returns:
        the pieces of each range, in order.
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
    """Return the ranges of each task: neighbours together, about as many records for each task, the widest task first.

    Each task writes files of its own, so that a topic of many partitions would leave many small ones. The same ranges
    are shared the same way each time, and so are those of the next batch if they are as long. Positions stand for
    records here; where they are far apart, as the sequence numbers of Kinesis are, tasks are as many as may be.

    Args:
        ranges: of a batch, in order.
        slots: tasks that run at a time.
    """
    widths = list(map(_width, ranges))
    total = sum(widths)
    most = min(TASKS_PER_SLOT * slots, max(slots, total // LEAST_RECORDS_OF_MORE))
    tasks = min(len(ranges), most, max(1, -(-total // LEAST_RECORDS)))
    shared, before = [], 0
    for one, width in zip(ranges, widths, strict=True):
        # By its middle, so that a range wider than a share has one for itself; an empty one at the end has no middle.
        shared.append((min(tasks - 1, (2 * before + width) * tasks // max(1, 2 * total)), one))
        before += width
    found = [tuple(one for _, one in same) for _, same in groupby(shared, key=lambda numbered: numbered[0])]
    # Whatever begins last is what the batch waits for.
    return sorted(found, key=lambda share: -sum(map(_width, share)))


def _width(one: SourceRange) -> int:
    return one.end - one.start
