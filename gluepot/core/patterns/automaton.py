"""A finite automaton that reads each character of a text once, however many ways there are to match. Pure.

An expression consists of positions (Glushkov's construction). Each position reads one character, and a set of positions
is an integer with one bit for each. The steps between sets are computed when a text needs them, and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gluepot.core.errors import ConfigError

Reads = Callable[[str], bool]
"""Returns whether a position reads a character."""

# Real patterns need fewer. When a hostile pattern needs more, all steps are forgotten: it loses speed, and no memory.
_MOST_STEPS = 2_000
_MOST_POSITIONS = 4_096


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of an expression.

    Args:
        first: the positions that can read the first character.
        last: the positions that can read the last character.
        is_optional: whether it matches the empty text.
    """

    first: int = 0
    last: int = 0
    is_optional: bool = True


@dataclass(slots=True)
class Builder:
    """Makes fragments, and an automaton of the last of them."""

    reads: list[Reads] = field(default_factory=list)
    follow: list[int] = field(default_factory=list)

    def one(self, reads: Reads, *, repeated: bool = False) -> Fragment:
        """Return what matches one character, or any number of them.

        Raises:
            ConfigError: there are too many positions.
        """
        if len(self.reads) == _MOST_POSITIONS:
            raise ConfigError(f"A pattern has more than {_MOST_POSITIONS:,} characters; shorten it.")
        bit = 1 << len(self.reads)
        self.reads.append(reads)
        self.follow.append(bit if repeated else 0)
        return Fragment(bit, bit, repeated)

    def sequence(self, parts: Iterable[Fragment]) -> Fragment:
        """Return what matches the parts one after the other."""
        whole = Fragment()
        for part in parts:
            for at in _positions(whole.last):
                self.follow[at] |= part.first
            whole = Fragment(
                whole.first | part.first if whole.is_optional else whole.first,
                whole.last | part.last if part.is_optional else part.last,
                whole.is_optional and part.is_optional,
            )
        return whole

    def either(self, parts: Iterable[Fragment]) -> Fragment:
        """Return what matches one of the parts."""
        first = last = 0
        is_optional = False
        for part in parts:
            first, last, is_optional = first | part.first, last | part.last, is_optional or part.is_optional
        return Fragment(first, last, is_optional)

    def automaton(self, whole: Fragment) -> Automaton:
        """Return what matches a fragment."""
        return Automaton(tuple(self.reads), tuple(self.follow), whole)


def optional(part: Fragment) -> Fragment:
    """Return what matches a part or nothing."""
    return Fragment(part.first, part.last, is_optional=True)


class Automaton:
    """Matches whole texts.

    Args:
        reads: what each position reads.
        follow: the positions that may read after each position.
        whole: the expression.
    """

    __slots__ = ("_count", "_follow", "_masks", "_reads", "_steps", "_whole")

    def __init__(self, reads: tuple[Reads, ...], follow: tuple[int, ...], whole: Fragment) -> None:
        self._reads, self._follow, self._whole = reads, follow, whole
        self._forget()

    def matches(self, text: str) -> bool:
        """Return whether the expression matches the whole text."""
        if not text:
            return self._whole.is_optional
        active = self._whole.first & self._mask(text[0])
        for character in text[1:]:
            if not active:
                return False
            after = self._steps.get((active, character))
            active = self._step(active, character) if after is None else after
        return bool(active & self._whole.last)

    def _step(self, active: int, character: str) -> int:
        if self._count >= _MOST_STEPS:
            self._forget()
        following = 0
        for at in _positions(active):
            following |= self._follow[at]
        after = following & self._mask(character)
        self._steps[active, character] = after
        self._count += 1
        return after

    def _mask(self, character: str) -> int:
        """Return the positions that read a character."""
        mask = self._masks.get(character)
        if mask is None:
            if len(self._masks) >= _MOST_STEPS:
                self._masks.clear()
            mask = sum(1 << at for at, reads in enumerate(self._reads) if reads(character))
            self._masks[character] = mask
        return mask

    def _forget(self) -> None:
        self._steps: dict[tuple[int, str], int] = {}
        self._masks: dict[str, int] = {}
        self._count = 0


def _positions(bits: int) -> Iterable[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
