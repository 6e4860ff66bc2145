"""Searches the ranges of a batch for the records that make its function fail, by trying parts of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from gluepot.connectors.streams.ranges import halves, width
from gluepot.connectors.values import SourceRange

Ranges = tuple[SourceRange, ...]


@dataclass(frozen=True, slots=True)
class Guilty:
    """A position on which the function fails when it gets nothing else.

    Args:
        at: a range of one position.
        message: the error that the function raised.
    """

    at: SourceRange
    message: str


@dataclass(frozen=True, slots=True)
class TooMany:
    """More records are guilty than may be set aside; the search stopped when it knew of `found` of them."""

    found: int


def find_guilty(
    suspects: Sequence[SourceRange], limit: int
) -> Generator[Ranges, str | None, tuple[Guilty, ...] | TooMany]:
    """Find the positions that fail alone, in ranges that fail together.

    The generator yields one part of the ranges at a time. The caller tries the part and sends the error that it raised,
    or None if it passed. The search is breadth first: the failing parts do not overlap and each holds at least one
    guilty record, so after some `4 * limit` tries it can tell a general fault (such as an unreachable database) from a
    few bad records. One guilty record among n takes at most `2 * log2(n) + 1` tries.

    A record is guilty only if it fails alone twice, because a single failure may be the machine's fault.

    If the first half of a failing part passes, the second half must fail, so it is divided without being tried. Every
    position that is returned has failed alone. A part that fails only as a whole, because of two records that conflict
    with each other, yields no guilty position.

    Args:
        suspects: one position or more that fail together.
        limit: the largest number of guilty records.

    Returns:
        The guilty positions in the order of the ranges, possibly none; `TooMany` if there are more than `limit`.
    """
    guilty: list[Guilty] = []
    failing: deque[Ranges] = deque([tuple(suspects)])
    while failing:
        if len(guilty) + len(failing) > limit:
            return TooMany(len(guilty) + len(failing))
        part = failing.popleft()
        if width(part) == 1:
            yield from _try(part, failing, guilty)
            continue
        first, second = halves(part)
        if (yield from _try(first, failing, guilty)):
            failing.append(second)
        else:
            yield from _try(second, failing, guilty)
    return tuple(sorted(guilty, key=lambda one: one.at))


def _try(part: Ranges, failing: deque[Ranges], guilty: list[Guilty]) -> Generator[Ranges, str | None, bool]:
    """Try a part, add it to `failing` or `guilty` if it fails, and return whether it passed."""
    message = yield part
    if message is not None and width(part) == 1:
        message = yield part
    if message is None:
        return True
    if width(part) == 1:
        guilty.append(Guilty(part[0], message))
    else:
        failing.append(part)
    return False
