"""Finds the kind of a condition from its operands: a number, a text, a date, a duration or a size (docs/glue 12.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gluepot.quality.dqdl.rule_types import Kind, RuleType
from gluepot.quality.dqdl.ruleset import (
    Arithmetic,
    Call,
    Condition,
    DqdlError,
    Expression,
    Keyword,
    Negative,
    Now,
    Number,
    Operator,
    Quantity,
    Text,
)

DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
TIME = re.compile(r"(1[0-2]|0?[1-9]):[0-5]\d ?[AP]M")
MILITARY_TIME = re.compile(r"([01]?\d|2[0-3]):[0-5]\d")
FUNCTIONS = frozenset(
    ["last", "avg", "average", "mean", "median", "max", "min", "sum", "std", "stddev", "abs", "index", "percentile"]
)
DURATIONS = frozenset({"days", "hours", "minutes"})

_NEAR = frozenset({Operator.MATCHES, Operator.NOT_MATCHES})
_TEXT_OPERATORS = _NEAR | {Operator.EQUAL, Operator.UNEQUAL, Operator.IN, Operator.NOT_IN}


def condition_of(rule_type: RuleType, operator: Operator, operands: Sequence[Expression]) -> Condition:
    """Return the condition with its kind.

    Args:
        rule_type: the type of the rule that has the condition; it has to take one.
        operator: how it compares.
        operands: what it compares with.

    Raises:
        DqdlError: the operands are of no kind that the rule type takes, or not all of one. The message has no place.
    """
    for kind in rule_type.kinds:
        if all(_is_of(kind, one) for one in operands) and (kind is not Kind.STRING or operator in _TEXT_OPERATORS):
            dated = kind is Kind.STRING and Kind.DATE in rule_type.kinds and _has_date(operands)
            if dated and operator not in _NEAR:
                continue
            if kind is not Kind.STRING and operator in _NEAR:
                continue
            if kind is Kind.NUMBER and Kind.STRING in rule_type.kinds and _are_keywords(operands):
                continue  # such as `!= NULL`, which columns of any type have
            found = Condition(kind, operator, tuple(operands))
            _check(rule_type, found)
            return found
    wanted = " or ".join(kind.value for kind in rule_type.kinds)
    shown = Condition(Kind.NUMBER, operator, tuple(operands))
    raise DqdlError(f"{rule_type.name} compares with {wanted}, but the condition is `{shown}`.")


def _is_of(kind: Kind, one: Expression) -> bool:
    match kind, one:
        case Kind.NUMBER, Number() | Call() | Keyword.NULL:
            return True
        case Kind.NUMBER, Negative(operand=operand):
            return _is_of(kind, operand) and not isinstance(operand, Keyword)
        case Kind.NUMBER, Arithmetic(left=left, right=right):
            return all(_is_of(kind, side) and not isinstance(side, Keyword) for side in (left, right))
        case Kind.STRING, Text() | Keyword():
            return True
        case Kind.DATE, Text(value=value):
            return is_date(value) or is_time(value)
        case Kind.DATE, Now() | Keyword.NULL:
            return True
        case Kind.DATE, Arithmetic(sign="+" | "-", left=Now(), right=Quantity(unit=unit)):
            return unit in DURATIONS
        case Kind.DURATION, Quantity(unit=unit):
            return unit in DURATIONS
        case Kind.DURATION, Negative(operand=Quantity(unit=unit)):
            return unit in DURATIONS
        case Kind.SIZE, Quantity(unit=unit):
            return unit not in DURATIONS
        case _:
            return False


def is_date(text: str) -> bool:
    """Return whether a quoted text is a date in conditions, `yyyy-mm-dd`."""
    return DATE.fullmatch(text) is not None


def is_time(text: str) -> bool:
    """Return whether a quoted text is a time of day in conditions, such as `9:30 AM` or `21:45`."""
    return TIME.fullmatch(text) is not None or MILITARY_TIME.fullmatch(text) is not None


def _has_date(operands: Sequence[Expression]) -> bool:
    """Return whether these can only be dates: all are, and not all are keywords."""
    return all(_is_of(Kind.DATE, one) for one in operands) and not _are_keywords(operands)


def _are_keywords(operands: Sequence[Expression]) -> bool:
    return all(isinstance(one, Keyword) for one in operands)


def _check(rule_type: RuleType, found: Condition) -> None:
    calls = [call for one in found.operands for call in calls_of(one)]
    for call in calls:
        if call.name not in FUNCTIONS:
            raise DqdlError(f"There is no function {call.name}; use one of {', '.join(sorted(FUNCTIONS))}.")
        if call.name == "last" and not all(
            isinstance(one, Number) and one.text.isdigit() for one in call.arguments[:1]
        ):
            raise DqdlError(f"{call} takes an integer, as in last(3).")
        if call.name == "last" and not rule_type.dynamic:
            raise DqdlError(f"{rule_type.name} cannot compare with earlier values, so it takes no last().")
    words = [one for one in found.operands if isinstance(one, Keyword)]
    if words and rule_type.name != "ColumnValues":
        raise DqdlError(f"{words[0]} can only be used in conditions of ColumnValues.")
    if words and found.operator not in _TEXT_OPERATORS - _NEAR:
        raise DqdlError(f"{words[0]} can be compared by =, !=, in and not in, not by {found.operator.value}.")


def calls_of(given: Expression) -> Iterator[Call]:
    """Yield the calls of functions in an expression, inner ones as well."""
    match given:
        case Call(arguments=arguments):
            yield given
            for one in arguments:
                yield from calls_of(one)
        case Arithmetic(left=left, right=right):
            yield from calls_of(left)
            yield from calls_of(right)
        case Negative(operand=operand):
            yield from calls_of(operand)
