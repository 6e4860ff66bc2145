"""Finds sensitive data in texts: a cheap look at whole columns, then the validator of a library for what is left."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.entities.entity_types import ENTITY_TYPES, EntityType, Evidence
from gluepot.entities.validators import Validator, validator

# Nothing that we look for is without one of these; texts without them are most of the texts there are.
_SCREEN = "[0-9@:-]"
# A word explains a value if it stands within so many characters before it.
_NEAR_CHARS = 48
# A value does not begin or end in the middle of a word or of a longer number.
_BEFORE = r"(?<![0-9A-Za-z_])(?<![0-9][-./])"
_AFTER = r"(?![0-9A-Za-z_])(?![-.@][0-9A-Za-z])"
_DIGIT_BEFORE, _DIGIT_AFTER = re.compile(r"[0-9] "), re.compile(r" [0-9]")
_WORD_BEFORE, _WORD_AFTER = r"(?<![0-9a-z\u00c0-\u024f])", r"s?(?![0-9a-z\u00c0-\u024f])"
_CASE_CHANGES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS = re.compile(r"[^\w#]+|_+")


# So many types are looked for together first. Measured with 5 and with 141 types on 100,000 sentences: larger patterns
# make RE2 slower than the passes that they save.
_GROUP = 3

_Rows = npt.NDArray[np.int64]


class Sensitivity(Enum):
    """How readily a number without more to it is taken for sensitive (`detection_sensitivity`)."""

    # A check digit is not enough: the name of the column or a word nearby must say what the number is.
    LOW = Evidence.STRONG
    # A number whose check digit is right is enough.
    HIGH = Evidence.CHECKED


@dataclass(frozen=True, slots=True)
class Finding:
    """A piece of sensitive data in a text.

    Args:
        entity: name of its type.
        start: of its first character, counted as Python counts them.
        end: after its last character.
    """

    entity: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Shapes that are enough by themselves, or that need a word before them."""

    screen: str
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, patterns: Sequence[str]) -> _Candidates | None:
        either = "|".join(f"(?:{one})" for one in patterns)
        return cls(either, re.compile(f"{_BEFORE}(?:{either}){_AFTER}", re.ASCII)) if patterns else None


@dataclass(frozen=True, slots=True)
class _Search:
    """How one type is looked for in one column."""

    entity: str
    valid: Validator
    plain: _Candidates | None
    explained: _Candidates | None
    words: re.Pattern[str] | None
    words_screen: str

    def worth_a_look(self, texts: pa.Array) -> pa.BooleanArray:
        """Return which texts may hold a value."""
        found = None if self.plain is None else pc.match_substring_regex(texts, self.plain.screen)
        if self.explained is not None and self.words is not None:
            worded = pc.match_substring_regex(texts, self.words_screen, ignore_case=True)
            near = pc.and_(worded, pc.match_substring_regex(texts, self.explained.screen))
            found = near if found is None else pc.or_(found, near)
        return pa.repeat(pa.scalar(False), len(texts)) if found is None else found

    def in_text(self, text: str) -> Iterator[Finding]:
        """Yield what is found in a text; findings of the same type do not overlap."""
        taken: list[tuple[int, int]] = []
        for start, end in self._spans(text):
            if all(end <= first or last <= start for first, last in taken) and self._is_value(text, start, end):
                taken.append((start, end))
                yield Finding(self.entity, start, end)

    def _is_value(self, text: str, start: int, end: int) -> bool:
        value = text[start:end]
        # Where blanks separate groups of digits, a group before or after belongs to the same number.
        goes_on = " " in value and (
            _DIGIT_BEFORE.match(text[max(0, start - 2) : start]) or _DIGIT_AFTER.match(text, end)
        )
        return not goes_on and self.valid(value)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        if self.plain is not None:
            yield from (one.span() for one in self.plain.pattern.finditer(text))
        if self.explained is not None and self.words is not None:
            for one in self.explained.pattern.finditer(text):
                before = text[max(0, one.start() - _NEAR_CHARS) : one.start()].lower()
                if self.words.search(before):
                    yield one.span()


@dataclass(frozen=True, slots=True)
class _Group:
    """Several types that a first look at a text is taken for together."""

    screen: str
    searches: tuple[_Search, ...]

    @classmethod
    def of(cls, searches: Sequence[_Search]) -> _Group:
        screens = [one.screen for search in searches for one in (search.plain, search.explained) if one is not None]
        return cls("|".join(screens), tuple(searches))


def find(texts: pa.Array, column: str, entities: Sequence[str], sensitivity: Sensitivity) -> dict[int, list[Finding]]:
    """Return what is found in a column.

    Args:
        texts: strings, with nulls.
        column: its name; dots lead into structs. The words in it tell what numbers without more to them are.
        entities: names of the types to look for.
        sensitivity: see `Sensitivity`.

    Returns:
        The findings by the index of the text, each in the order in which they stand there; nothing for other texts.
    """
    found: dict[int, list[Finding]] = {}
    some, some_rows = _matching(texts, np.arange(len(texts)), pc.match_substring_regex(texts, _SCREEN))
    for group in _groups(column, tuple(entities), sensitivity):
        screened, rows = _matching(some, some_rows, pc.match_substring_regex(some, group.screen))
        for search in group.searches if len(rows) else ():
            candidates, wanted = _matching(screened, rows, search.worth_a_look(screened))
            for row, text in zip(wanted.tolist(), candidates.to_pylist(), strict=True):
                for finding in search.in_text(text):
                    found.setdefault(row, []).append(finding)
    for findings in found.values():
        findings.sort(key=lambda one: (one.start, -one.end, one.entity))
    return found


def _matching(texts: pa.Array, rows: _Rows, verdicts: pa.BooleanArray) -> tuple[pa.Array, _Rows]:
    """Return the texts with a true verdict, and their rows."""
    at = np.flatnonzero(pc.fill_null(verdicts, fill_value=False).to_numpy(zero_copy_only=False))
    return (texts, rows) if len(at) == len(texts) else (texts.take(pa.array(at)), rows[at])


@lru_cache(maxsize=1024)
def _groups(column: str, entities: tuple[str, ...], sensitivity: Sensitivity) -> tuple[_Group, ...]:
    searches = [_search(ENTITY_TYPES[name], column, sensitivity) for name in entities]
    return tuple(_Group.of(searches[at : at + _GROUP]) for at in range(0, len(searches), _GROUP))


def _search(entity: EntityType, column: str, sensitivity: Sensitivity) -> _Search:
    words = "|".join(re.escape(word) for word in entity.words)
    pattern = re.compile(f"{_WORD_BEFORE}(?:{words}){_WORD_AFTER}") if words else None
    needed = Evidence.WEAK if pattern and pattern.search(_spoken(column)) else sensitivity.value
    return _Search(
        entity.name,
        validator(entity.validator),
        _Candidates.of([one.pattern for one in entity.shapes if one.evidence >= needed]),
        _Candidates.of([one.pattern for one in entity.shapes if one.evidence < needed]),
        pattern,
        words,
    )


def _spoken(name: str) -> str:
    """Return the words of a column's name: `homePhone` and `home_phone` are `home phone`."""
    return _SEPARATORS.sub(" ", _CASE_CHANGES.sub(" ", name)).lower()
