"""What is done with a finding: reported, or hidden in the text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256

from gluepot.entities.finding import Finding

# Of the documentation; the console offers seven asterisks.
REDACT_TEXT = "*****"
REDACT_CHAR = "*"


class Action(StrEnum):
    """Glue's names."""

    DETECT = "DETECT"
    REDACT = "REDACT"
    PARTIAL_REDACT = "PARTIAL_REDACT"
    SHA256_HASH = "SHA256_HASH"


@dataclass(frozen=True, slots=True)
class Rule:
    """What is done with the findings of one type in some columns.

    Args:
        entity: the type.
        action: what is done.
        columns: names of the columns, with all that is inside them; None for all.
        excluded: names of columns that are left out.
        text: what REDACT puts in the place of a value, and PARTIAL_REDACT in the place of a character.
        pattern: PARTIAL_REDACT replaces what matches this; None to replace all but the ends.
        keep_left: how many characters at the beginning PARTIAL_REDACT leaves.
        keep_right: how many at the end.
    """

    entity: str
    action: Action = Action.DETECT
    columns: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()
    text: str = ""
    pattern: str | None = None
    keep_left: int = 0
    keep_right: int = 0

    def covers(self, column: str) -> bool:
        """Return whether the rule is for a column, given by its dotted name."""
        if any(_is_inside(column, one) for one in self.excluded):
            return False
        return self.columns is None or any(_is_inside(column, one) for one in self.columns)

    def masked(self, value: str) -> str:
        """Return what is written in the place of a value."""
        match self.action:
            case Action.REDACT:
                return self.text
            case Action.SHA256_HASH:
                return sha256(value.encode()).hexdigest()
            case Action.PARTIAL_REDACT if self.pattern is not None:
                return _compiled(self.pattern).sub(lambda one: self.text * len(one[0]), value)
            case Action.PARTIAL_REDACT:
                last = max(self.keep_left, len(value) - self.keep_right)
                return value[: self.keep_left] + self.text * len(value[self.keep_left : last]) + value[last:]
            case _:
                return value


def masked(text: str, findings: Sequence[tuple[Finding, Rule]]) -> str:
    """Return the text with the findings hidden. What overlaps is hidden as one, by the rule of the first."""
    parts, done = [], 0
    for start, end, rule in _spans(findings):
        parts += [text[done:start], rule.masked(text[start:end])]
        done = end
    return "".join([*parts, text[done:]])


def _spans(findings: Sequence[tuple[Finding, Rule]]) -> Iterator[tuple[int, int, Rule]]:
    masking = [(one.start, one.end, rule) for one, rule in findings if rule.action is not Action.DETECT]
    current: tuple[int, int, Rule] | None = None
    for start, end, rule in sorted(masking, key=lambda one: (one[0], -one[1])):
        if current is None or start >= current[1]:
            if current is not None:
                yield current
            current = (start, end, rule)
        else:
            current = (current[0], max(end, current[1]), current[2])
    if current is not None:
        yield current


def _is_inside(column: str, name: str) -> bool:
    return column == name or column.startswith(f"{name}.")


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
