"""Values of conditions: arithmetic, earlier values of a metric, dates, durations and sizes (docs/glue 12.2)."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, tzinfo
from typing import TypeAlias

from gluepot.quality.dqdl.conditions import is_date
from gluepot.quality.dqdl.rule_types import Kind
from gluepot.quality.dqdl.ruleset import (
    Arithmetic,
    Call,
    Condition,
    Expression,
    Keyword,
    Negative,
    Number,
    Operator,
    Quantity,
    Text,
)

UNIT_SECS = {"minutes": 60, "hours": 3_600, "days": 86_400}
UNIT_BYTES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}

# Integers from here on do not fit into 64 bits and become doubles.
_TOO_LARGE = 2**63

Operand: TypeAlias = float | int | str | Keyword
"""A number, seconds since 1970, seconds, bytes or a text, as the kind of the condition says."""


class RuleError(Exception):
    """A rule cannot be evaluated. It has then failed, for the reason that the message gives."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition whose operands are values.

    Args:
        kind: of the operands.
        operator: how it compares.
        operands: two for `between`, any number for `in`, else one.
    """

    kind: Kind
    operator: Operator
    operands: tuple[Operand, ...]

    def holds(self, value: float) -> bool:
        """Return whether a number, or a number of seconds or bytes, fulfils the condition. NaN fulfils none."""
        numbers = [one for one in self.operands if isinstance(one, (int, float))]
        match self.operator:
            case Operator.EQUAL | Operator.IN:
                return value in numbers
            case Operator.UNEQUAL | Operator.NOT_IN:
                return value not in numbers and not math.isnan(value)
            case Operator.MORE:
                return value > numbers[0]
            case Operator.AT_LEAST:
                return value >= numbers[0]
            case Operator.LESS:
                return value < numbers[0]
            case Operator.AT_MOST:
                return value <= numbers[0]
            case Operator.BETWEEN:
                return numbers[0] < value < numbers[1]
            case Operator.NOT_BETWEEN:
                return value <= numbers[0] or value >= numbers[1]
            case _:
                raise AssertionError(self.operator)

    def __str__(self) -> str:
        return str(Condition(self.kind, self.operator, tuple(map(_shown, self.operands))))


@dataclass(frozen=True, slots=True)
class Moment:
    """When a ruleset is evaluated, and where.

    Args:
        epoch_secs: seconds since 1970.
        zone: the zone of times of day.
    """

    epoch_secs: float
    zone: tzinfo = UTC


def comparison_of(condition: Condition, now: Moment, earlier: Sequence[float] = ()) -> Comparison:
    """Return the condition with values for its operands.

    Args:
        condition: of any kind.
        now: the time of the evaluation.
        earlier: values of the metric in earlier evaluations, the newest first.

    Raises:
        RuleError: an operand has no value, for example a division by zero.
    """
    return Comparison(
        condition.kind,
        condition.operator,
        tuple(_value(one, condition.kind, now, earlier) for one in condition.operands),
    )


def is_dynamic(operands: Sequence[Expression]) -> bool:
    """Return whether the operands of a condition use earlier values."""
    return any("last(" in str(one) for one in operands if not isinstance(one, Text))


def _value(one: Expression, kind: Kind, now: Moment, earlier: Sequence[float]) -> Operand:
    if isinstance(one, Keyword):
        return one
    if kind is Kind.NUMBER:
        try:
            value = _single(one, earlier)
            return value if abs(value) < _TOO_LARGE else float(value)
        except (ArithmeticError, ValueError) as error:
            raise RuleError(f"{one} cannot be calculated: {error}.") from None
    match one:
        case Text(value=text) if kind is Kind.STRING:
            return text
        case Text(value=text):
            return _date(text, now)
        case Quantity(amount=amount, unit=unit):
            return amount * (UNIT_SECS.get(unit) or UNIT_BYTES[unit])
        case Negative(operand=Quantity(amount=amount, unit=unit)):
            return -amount * UNIT_SECS[unit]
        case Arithmetic(sign=sign, right=Quantity(amount=amount, unit=unit)):
            return now.epoch_secs + (1 if sign == "+" else -1) * amount * UNIT_SECS[unit]
        case _:
            return now.epoch_secs


def _date(text: str, now: Moment) -> float:
    if is_date(text):
        try:
            return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
        except ValueError:
            raise RuleError(f'"{text}" is not a day of the calendar.') from None
    hour, minute = (int(one) for one in re.findall(r"\d+", text))
    if text.endswith("M"):
        hour = hour % 12 + (12 if text.endswith("PM") else 0)
    today = datetime.fromtimestamp(now.epoch_secs, now.zone).date()
    return datetime.combine(today, time(hour, minute), now.zone).timestamp()


def _number(one: Expression, earlier: Sequence[float]) -> float | list[float]:
    match one:
        case Number(text=text):
            return int(text) if text.isdigit() and len(text) < 20 and int(text) < _TOO_LARGE else float(text)
        case Negative(operand=operand):
            return -_single(operand, earlier)
        case Arithmetic(sign=sign, left=left, right=right):
            a, b = _single(left, earlier), _single(right, earlier)
            if sign == "/" and b == 0:
                raise RuleError(f"{one} divides by zero.")
            return a + b if sign == "+" else a - b if sign == "-" else a * b if sign == "*" else a / b
        case Call(name="last", arguments=arguments):
            wanted = int(_single(arguments[0], earlier)) if arguments else 1
            if wanted < 1:
                raise RuleError(f"{one} asks for no value; the number of values begins at 1.")
            found = list(earlier[:wanted]) or [0.0]
            return found if wanted > 1 else found[0]
        case Call():
            return _called(one, earlier)
        case _:
            raise AssertionError(one)


def _single(one: Expression, earlier: Sequence[float]) -> float:
    value = _number(one, earlier)
    if isinstance(value, list):
        raise RuleError(f"{one} is a list of values, but a number is needed; use a function such as avg({one}).")
    return value


def _called(call: Call, earlier: Sequence[float]) -> float | list[float]:
    if not call.arguments:
        raise RuleError(f"{call} needs values, as in {call.name}(last(3)).")
    first = _number(call.arguments[0], earlier)
    values = first if isinstance(first, list) else [first]
    extra = [_single(one, earlier) for one in call.arguments[1:]]
    if call.name in {"index", "percentile"} and len(extra) != 1:
        raise RuleError(f"{call} needs two arguments, as in {call.name}(last(3), 1).")
    match call.name:
        case "avg" | "average" | "mean":
            return statistics.fmean([*values, *extra])
        case "median":
            return statistics.median([*values, *extra])
        case "max":
            return max(*values, *extra, -math.inf)
        case "min":
            return min(*values, *extra, math.inf)
        case "sum":
            return math.fsum([*values, *extra])
        case "std" | "stddev":
            return statistics.pstdev([*values, *extra])
        case "abs":
            return [abs(value) for value in values] if isinstance(first, list) else abs(values[0])
        case "index":
            place = int(extra[0])
            if not 0 <= place < len(values):
                raise RuleError(f"{call} asks for value {place}, but there are {len(values)}, counted from 0.")
            return values[place]
        case _:
            return _percentile(sorted(values), extra[0])


def _percentile(values: Sequence[float], percent: float) -> float:
    """Return a percentile, 0 to 100 or 0.0 to 1.0, between the two nearest values in proportion."""
    share = percent / 100 if percent > 1 else percent
    at = min(max(share, 0.0), 1.0) * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def _shown(value: Operand) -> Expression:
    if isinstance(value, Keyword):
        return value
    return Text(value) if isinstance(value, str) else Number(str(value))
