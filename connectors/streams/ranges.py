"""Pure functions on sets of source ranges: width, halves, differences, intersections.

They assume that the positions of a shard are dense.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gluepot.connectors.values import SourceRange


def width(ranges: Iterable[SourceRange]) -> int:
    """Return the number of positions in the ranges: an upper bound of their records."""
    return sum(one.end - one.start for one in ranges)


def halves(ranges: Sequence[SourceRange]) -> tuple[tuple[SourceRange, ...], tuple[SourceRange, ...]]:
    """Cut ranges of two positions or more in the middle, in the order given; neither half is empty.

    Raises:
        ValueError: there is nothing to cut.
    """
    total = width(ranges)
    if total < 2:
        raise ValueError(f"{total} positions cannot be cut in half")
    left: list[SourceRange] = []
    right: list[SourceRange] = []
    room = total // 2
    for one in ranges:
        cut = min(one.end, one.start + room)
        room -= cut - one.start
        if one.start < cut:
            left.append(one.piece(one.start, cut))
        if cut < one.end:
            right.append(one.piece(cut, one.end))
    return tuple(left), tuple(right)


def without(ranges: Iterable[SourceRange], removed: Iterable[SourceRange]) -> tuple[SourceRange, ...]:
    """Return the ranges less the positions of `removed`, in the order given; a range may fall into several."""
    left = list(ranges)
    for gone in sorted(removed):
        left = [piece for one in left for piece in _less(one, gone)]
    return tuple(left)


def common(ranges: Iterable[SourceRange], others: Iterable[SourceRange]) -> tuple[SourceRange, ...]:
    """Return the positions of `ranges` that are also in `others`. The ranges in `others` must not overlap."""
    others = sorted(others)
    shared = [
        one.piece(max(one.start, other.start), min(one.end, other.end))
        for one in ranges
        for other in others
        if _overlap(one, other)
    ]
    return tuple(shared)


def _less(one: SourceRange, gone: SourceRange) -> list[SourceRange]:
    if not _overlap(one, gone):
        return [one]
    around = (one.piece(one.start, gone.start), one.piece(gone.end, one.end))
    return [piece for piece in around if piece.start < piece.end]


def _overlap(one: SourceRange, other: SourceRange) -> bool:
    same_shard = (one.source, one.stream, one.stream_id, one.shard) == (
        other.source,
        other.stream,
        other.stream_id,
        other.shard,
    )
    return same_shard and one.start < other.end and other.start < one.end
