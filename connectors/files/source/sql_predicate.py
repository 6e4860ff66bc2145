"""Push-down predicates in the whole of Spark SQL.

Our own grammar answers where it gives what Spark gives. Every other predicate, and every value that the two may compare
differently, is given to an evaluator, which the caller brings: connectors know no Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from gluepot.connectors.files.source.predicate import (
    COMPARES,
    UNDECIDED,
    Operand,
    Predicate,
    Reader,
    Truth,
    Values,
    parse_predicate,
)
from gluepot.core.errors import ConfigError

# Integers of so few digits are the same number for Python, and for Spark in each of its types.
_PLAIN: Final = re.compile(r"-?[0-9]{1,9}")
BARE_FUNCTIONS: Final = frozenset({"current_date", "current_time", "current_timestamp", "localtimestamp"})
"""Functions that Spark calls without parentheses; no column of a predicate has such a name."""

_TEXT_TYPES: Final = ("string", "varchar")
_INTEGER_TYPES: Final = frozenset({"int", "integer", "bigint", "long"})


class SqlEvaluator(Protocol):
    """Evaluates predicates of Spark SQL over the values of partitions."""

    @property
    def types(self) -> Mapping[str, str] | None:
        """The types of all partition columns by their names in lower case, as a catalog has them.

        None if there is no catalog: columns are then those of the folders, and strings.
        """
        ...

    def columns(self, text: str) -> frozenset[str]:
        """Return the columns of a predicate, in lower case.

        Raises:
            ConfigError: the predicate is no expression of Spark SQL.
        """
        ...

    def matches(self, text: str, rows: Sequence[Values]) -> list[bool]:
        """Return for each partition whether the predicate is true.

        Args:
            text: the predicate.
            rows: the values of each partition; all have the same columns.

        Raises:
            ConfigError: the predicate has no meaning for the columns, or fails for a value.
        """
        ...


class PartitionPredicate(Protocol):
    """Chooses folders by the values in their names."""

    def may_match(self, known: Values) -> bool:
        """Return whether a folder can hold a match, knowing the values of some or all columns."""
        ...

    def matches(self, known: Values) -> bool:
        """Return whether a folder matches; a column that it does not have is null."""
        ...

    def learn(self, rows: Iterable[Values]) -> None:
        """Take the values of folders that will be asked for, to evaluate them together."""
        ...


class _Declined(Exception):
    """Spark may give another answer than our own grammar."""


@dataclass(frozen=True, slots=True)
class SqlPredicate:
    """A predicate that Spark evaluates where our own grammar does not give the same answer.

    Args:
        text: the predicate.
        columns: its columns, in lower case.
        evaluator: Spark.
        own: the predicate in our own grammar; None if it declines.
    """

    text: str
    columns: frozenset[str]
    evaluator: SqlEvaluator
    own: Predicate | None
    _answers: dict[tuple[str | None, ...], bool] = field(default_factory=dict)

    def may_match(self, known: Values) -> bool:
        """Return whether a folder can hold a match, knowing the values of some or all columns."""
        if self.columns <= known.keys():
            return self.matches(known)
        try:
            return self.own is None or self.own.may_match(known)
        except _Declined:
            return True

    def matches(self, known: Values) -> bool:
        """Return whether a folder matches; a column that it does not have is null."""
        answer = self._own(known)
        if answer is None:
            self._ask([known])
            answer = self._answers[self._key(known)]
        return answer

    def learn(self, rows: Iterable[Values]) -> None:
        """Evaluate folders together, those of which all columns are known."""
        self._ask([known for known in rows if self.columns <= known.keys() and self._own(known) is None])

    def check(self) -> None:
        """Evaluate a folder without values, so that a predicate that has no meaning is an error at once.

        Raises:
            ConfigError: it has none.
        """
        self.evaluator.matches(self.text, [dict.fromkeys(self.columns)])

    def _own(self, known: Values) -> bool | None:
        try:
            return None if self.own is None else self.own.matches(known)
        except _Declined:
            return None

    def _key(self, known: Values) -> tuple[str | None, ...]:
        return tuple(known.get(name) for name in sorted(self.columns))

    def _ask(self, rows: Sequence[Values]) -> None:
        names = sorted(self.columns)
        keys = [key for key in dict.fromkeys(map(self._key, rows)) if key not in self._answers]
        if keys:
            asked = [dict(zip(names, key, strict=True)) for key in keys]
            self._answers.update(zip(keys, self.evaluator.matches(self.text, asked), strict=True))


def read_predicate(text: str, evaluator: SqlEvaluator | None) -> PartitionPredicate:
    """Return a predicate over partition columns.

    Args:
        text: the predicate.
        evaluator: evaluates what our own grammar declines; without one such a predicate is an error.

    Raises:
        ConfigError: the predicate is not understood, or has a column that is no partition column of the table.
    """
    if evaluator is None:
        return parse_predicate(text)
    try:
        own = _exact(text, evaluator.types)
    except (ConfigError, _Declined):
        predicate = SqlPredicate(text, evaluator.columns(text), evaluator, None)
        predicate.check()
        return predicate
    return SqlPredicate(text, own.columns, evaluator, own)


def _exact(text: str, types: Mapping[str, str] | None) -> Predicate:
    reader = _ExactReader(text, types)
    decide = reader.whole()
    return Predicate(text, frozenset(reader.columns), decide)


class _ExactReader(Reader):
    """Reads what our own grammar and Spark understand alike, in each mode of Spark's."""

    def __init__(self, text: str, types: Mapping[str, str] | None) -> None:
        if "\\" in text or '"' in text or "''" in text:
            raise _Declined  # Spark has escapes, and settings for them
        super().__init__(text, {})
        self._kinds = types

    def operand(self) -> Operand:
        found = super().operand()
        name = found.column
        if name is not None and (
            "." in name or name in BARE_FUNCTIONS or (self._kinds is not None and name not in self._kinds)
        ):
            raise _Declined
        return found

    def null_test(self, of: Operand) -> None:
        if self._kind(of) != "string":
            raise _Declined  # a value that is none of the type is null

    def one_of(self, left: Operand, options: Sequence[Operand]) -> None:
        if {self._kind(left), *map(self._kind, options)} != {"string"}:
            raise _Declined

    def like(self, left: Operand, pattern: Operand) -> None:
        if self._kind(left) != "string" or not isinstance(pattern.literal, str):
            raise _Declined

    def _kind(self, operand: Operand) -> str:
        """Return `string`, `integer`, or `other`."""
        if operand.column is None:
            if isinstance(operand.literal, str):
                return "string"
            return "integer" if _PLAIN.fullmatch(str(operand.literal)) else "other"
        declared = "string" if self._kinds is None else self._kinds.get(operand.column, "string").lower()
        if declared.startswith(_TEXT_TYPES):
            return "string"
        return "integer" if declared in _INTEGER_TYPES else "other"

    def comparable(self, left: Operand, right: Operand) -> None:
        kinds = {self._kind(left), self._kind(right)}
        if "other" in kinds or (
            len(kinds) > 1 and "string" in {self._kind(one) for one in (left, right) if one.column is None}
        ):
            raise _Declined

    def compared(self, sign: str, left: Operand, right: Operand, known: Values) -> Truth:
        a, b = left.value(known), right.value(known)
        if a is UNDECIDED or b is UNDECIDED:
            return UNDECIDED
        if "integer" not in {self._kind(left), self._kind(right)}:
            return super().compared(sign, left, right, known)
        if any(one is not None and not _PLAIN.fullmatch(str(one)) for one in (a, b)):
            raise _Declined
        return None if a is None or b is None else COMPARES[sign](int(a), int(b))
