"""Expressions over series of metrics: arithmetic with numbers and the ids of other queries. Pure."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

from gluepot.service.errors import ServiceError

Series = Mapping[int, float]
"""Values by their times, in milliseconds since 1970."""

_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def ids_in(expression: str) -> list[str]:
    """Return the ids that an expression uses.

    Raises:
        ServiceError: `ValidationError`, because the expression is more than arithmetic.
    """
    tree = _parsed(expression)
    try:
        _check(tree, expression)
    except RecursionError:
        raise _refused(expression) from None
    ids = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    if not ids:
        raise _refused(expression)
    return ids


def evaluated(expression: str, series: Mapping[str, Series]) -> dict[int, float]:
    """Return the values of an expression at the times at which all of its series have one.

    Args:
        expression: one that `ids_in` has accepted.
        series: by the ids of their queries.
    """
    tree = _parsed(expression)
    times = set.intersection(*(set(series[one]) for one in ids_in(expression)))
    found = {}
    for at_ms in sorted(times):
        try:
            value = _value(tree, {name: one[at_ms] for name, one in series.items() if at_ms in one})
        except (ZeroDivisionError, OverflowError):
            continue
        if math.isfinite(value):
            found[at_ms] = value
    return found


def _parsed(expression: str) -> ast.expr:
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _refused(expression) from None


def _check(node: ast.expr, expression: str) -> None:
    match node:
        case ast.BinOp(left, operation, right) if type(operation) in _OPERATORS:
            _check(left, expression)
            _check(right, expression)
        case ast.UnaryOp(ast.USub(), operand):
            _check(operand, expression)
        case ast.Name() | ast.Constant(value=int() | float()):
            pass
        case _:
            raise _refused(expression)


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.BinOp(left, operation, right):
            return _OPERATORS[type(operation)](_value(left, values), _value(right, values))
        case ast.UnaryOp(_, operand):
            return -_value(operand, values)
        case ast.Name(name):
            return values[name]
        case ast.Constant(value=int() | float() as number):
            return float(number)
    raise AssertionError(node)


def _refused(expression: str) -> ServiceError:
    return ServiceError(
        "ValidationError",
        f"The expression {expression!r} is not supported; use ids of other queries, numbers, + - * / and parentheses.",
    )
