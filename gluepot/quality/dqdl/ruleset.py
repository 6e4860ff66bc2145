"""A ruleset as plain values. `str` of a rule is its text as results show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import TypeAlias

from gluepot.core.errors import ConfigError
from gluepot.quality.dqdl.rule_types import TYPES, Kind, RuleType


class DqdlError(ConfigError):
    """A ruleset that is not valid DQDL. The message says where and what to do."""


class Keyword(Enum):
    """Values that only conditions of `ColumnValues` know."""

    NULL = "NULL"
    EMPTY = "EMPTY"
    WHITESPACES_ONLY = "WHITESPACES_ONLY"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Number:
    """A number.

    Args:
        text: as it was written.
    """

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted text, or a date or time in quotes."""

    value: str

    def __str__(self) -> str:
        return quoted(self.value)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A duration or a size, such as `3 days`."""

    amount: int
    unit: str

    def __str__(self) -> str:
        return f"{self.amount} {self.unit}"


@dataclass(frozen=True, slots=True)
class Now:
    """`now()`."""

    def __str__(self) -> str:
        return "now()"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of numbers, such as `avg(last(3))`."""

    name: str
    arguments: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({','.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two operands and `+`, `-`, `*` or `/`."""

    sign: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        sides = [
            f"({one})" if self._binds_less(one, at) else str(one) for at, one in enumerate((self.left, self.right))
        ]
        text = f"{sides[0]} {self.sign} {sides[1]}"
        return f"({text})" if isinstance(self.left, Now) else text

    def _binds_less(self, side: Expression, at: int) -> bool:
        if not isinstance(side, Arithmetic) or isinstance(side.left, Now):
            return False
        mine, its = (2 if sign in "*/" else 1 for sign in (self.sign, side.sign))
        return its < mine or (at == 1 and its == mine)


@dataclass(frozen=True, slots=True)
class Negative:
    """Minus an expression."""

    operand: Expression

    def __str__(self) -> str:
        # Two signs without a parenthesis would begin a comment.
        return f"-({self.operand})" if isinstance(self.operand, (Arithmetic, Negative)) else f"-{self.operand}"


Expression: TypeAlias = Number | Text | Keyword | Quantity | Now | Call | Arithmetic | Negative


class Operator(Enum):
    """How a condition compares."""

    EQUAL = "="
    UNEQUAL = "!="
    MORE = ">"
    AT_LEAST = ">="
    LESS = "<"
    AT_MOST = "<="
    BETWEEN = "between"
    NOT_BETWEEN = "not between"
    IN = "in"
    NOT_IN = "not in"
    MATCHES = "matches"
    NOT_MATCHES = "not matches"


@dataclass(frozen=True, slots=True)
class Condition:
    """What a value must fulfil.

    Args:
        kind: of the operands.
        operator: how it compares.
        operands: two for `between`, any number for `in`, else one.
    """

    kind: Kind
    operator: Operator
    operands: tuple[Expression, ...]

    def __str__(self) -> str:
        word = self.operator.value
        match self.operator:
            case Operator.BETWEEN | Operator.NOT_BETWEEN:
                return f"{word} {self.operands[0]} and {self.operands[1]}"
            case Operator.IN | Operator.NOT_IN:
                return f"{word} [{','.join(map(str, self.operands))}]"
            case _:
                return f"{word} {self.operands[0]}"


@dataclass(frozen=True, slots=True)
class Tag:
    """A condition or value after `with`, such as `with threshold > 0.9`.

    Args:
        name: the word after `with`.
        operator: how a threshold compares; `=` for values.
        operands: numbers for a threshold, else texts or numbers.
    """

    name: str
    operator: Operator
    operands: tuple[Expression, ...]

    def __str__(self) -> str:
        if len(self.operands) > 1 and self.operator is Operator.EQUAL:
            return f"{self.name} = [{','.join(map(str, self.operands))}]"
        return f"{self.name} {Condition(Kind.NUMBER, self.operator, self.operands)}"


Labels: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, or an analyzer, which has no condition.

    Args:
        type_name: the rule type.
        parameters: in order, with the values of variables.
        condition: what must hold; None for a type without one.
        where: a predicate of Spark SQL that chooses the rows; empty for all.
        labels: those of the rule and the default ones.
        tags: what follows `with`.
        line: where the rule stands in the ruleset, from 1.
    """

    type_name: str
    parameters: tuple[str, ...] = ()
    condition: Condition | None = None
    where: str = ""
    labels: Labels = ()
    tags: tuple[Tag, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def type(self) -> RuleType:
        """What the rule type takes."""
        return TYPES[self.type_name]

    def tag(self, name: str) -> Tag | None:
        """Return the tag of a name."""
        return next((one for one in self.tags if one.name == name), None)

    def __str__(self) -> str:
        return self.text()

    def text(self, condition: str | None = None, threshold: str | None = None) -> str:
        """Return the rule's text, without labels.

        Args:
            condition: takes the place of the rule's own condition.
            threshold: takes the place of the condition of its threshold.
        """
        parts = [self.type_name, *map(quoted, self.parameters)]
        if self.condition is not None:
            parts.append(str(self.condition) if condition is None else condition)
        if self.where:
            parts.append(f"where {quoted(self.where)}")
        for one in self.tags:
            is_replaced = threshold is not None and one.name == "threshold"
            parts.append(f"with threshold {threshold}" if is_replaced else f"with {one}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Composite:
    """Rules joined by `and` or `or`.

    Args:
        word: `and` or `or`.
        parts: two or more.
        labels: of the whole.
    """

    word: str
    parts: tuple[TopRule, ...]
    labels: Labels = ()

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({one})" for one in self.parts)


TopRule: TypeAlias = Rule | Composite


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A whole document.

    Args:
        rules: in order.
        analyzers: in order.
        metadata: key `Version` only.
        data_sources: keys `Primary` and `AdditionalDataSources`.
        notes: what Glue would refuse although it is accepted here, one sentence each.
    """

    rules: tuple[TopRule, ...] = ()
    analyzers: tuple[Rule, ...] = ()
    metadata: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    data_sources: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def all_rules(self) -> Iterator[Rule]:
        """Yield all rules, those inside of composites as well, then the analyzers."""
        for one in self.rules:
            yield from simple_rules(one)
        yield from self.analyzers


def simple_rules(given: TopRule) -> Iterator[Rule]:
    """Yield the rules that a rule is made of; a simple one is made of itself."""
    if isinstance(given, Rule):
        yield given
        return
    for part in given.parts:
        yield from simple_rules(part)


def numeral(value: float) -> str:
    """Return a number as DQDL writes it: without an exponent."""
    plain = format(Decimal(repr(float(value) + 0.0)), "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def quoted(text: str) -> str:
    r"""Return a text as DQDL writes it. A backslash is doubled only if it would have a meaning, unlike that of `\d`."""
    return '"' + re.sub(r'\\(?=[\\"]|$)', r"\\\\", text).replace('"', '\\"') + '"'
