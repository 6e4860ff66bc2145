"""Which records a batch fails on: a decision over ranges, made by trying parts of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from gluepot.connectors.ports import SourceRange
from gluepot.connectors.streams.ranges import halves, width

Ranges = tuple[SourceRange, ...]


@dataclass(frozen=True, slots=True)
class Guilty:
    """A position the function fails on when given nothing else.

    Args:
        at: a range of one position.
        message: what the function raised.
    """

    at: SourceRange
    message: str


@dataclass(frozen=True, slots=True)
class TooMany:
    """More records are guilty than may be set aside; `found` of them are known, the search went no further."""

    found: int


def find_guilty(
    suspects: Sequence[SourceRange], limit: int
) -> Generator[Ranges, str | None, tuple[Guilty, ...] | TooMany]:
    """Find the positions that fail alone, in ranges that fail together.

    Yields a part of the ranges at a time and is sent what trying it raised, or None when it passed. Breadth first, so
    that a fault of everything (a database that is away) is told from a few bad records after some `4 * limit` tries:
    the parts that fail do not overlap, and each holds one guilty record or more. One guilty record among n takes at
    most `2 * log2(n) + 1` tries.

    A record is blamed when it has failed alone twice: once may have been the machine's fault.

    Where the first half of a failing part passes, the second must fail; it is cut without being tried. So what is
    returned failed by itself, always, while a part that fails only as a whole, in two records that do not get on with
    each other, gives nothing.

    Args:
        suspects: one position or more, known to fail.
        limit: most records that may be guilty.

    Returns:
        The guilty positions in the order of the ranges, perhaps none.
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
    """Try a part, note down what came of it, and return whether it passed."""
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
