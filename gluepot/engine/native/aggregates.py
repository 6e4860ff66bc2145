"""Translates Spark's aggregates and window functions into SQL of DuckDB. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from gluepot.engine.native.nodes import Node, children, kind, said
from gluepot.engine.native.parts import cast, guarded, quotient, unscaled
from gluepot.engine.native.types import (
    INTEGERS,
    NotTranslated,
    Value,
    average_kind,
    digits,
    is_compared,
    is_decimal,
    is_exact,
    sum_kind,
)

_RANKS = {"RowNumber": "row_number()", "Rank": "rank()", "DenseRank": "dense_rank()"}
_SPREADS = {
    "StddevSamp": "stddev_samp",
    "StddevPop": "stddev_pop",
    "VarianceSamp": "var_samp",
    "VariancePop": "var_pop",
}
AGGREGATES = frozenset({"Average", "Count", "Max", "Min", "Sum", *_SPREADS})
"""The aggregates that are translated, for some types of their arguments."""

SHIFTS = {"Lag": "lag", "Lead": "lead"}
"""Functions of a window that take the value of another row, and DuckDB's names of them."""

WINDOW_FUNCTIONS = frozenset({*_RANKS, *SHIFTS})
"""The functions of a window that are translated."""


def aggregate(function: Node, values: Sequence[Value], suffix: str = "", *, is_distinct: bool = False) -> Value:
    """Return an aggregate.

    Args:
        function: the aggregate function.
        values: its arguments.
        suffix: what follows each call, such as FILTER or OVER.
        is_distinct: whether equal values count once.

    Raises:
        NotTranslated: only Spark can compute it.
    """
    name = kind(function)
    if name not in AGGREGATES or len(values) != 1:
        raise NotTranslated(name)
    one, distinct = values[0], "DISTINCT " if is_distinct else ""
    match name:
        case "Count" if is_exact(one.kind) or not distinct:
            return Value(f"count({distinct}{one.sql}){suffix}", "long")
        case "Sum" if one.kind in INTEGERS:
            return cast(f"sum({distinct}{one.sql}){suffix}", "long")
        case "Sum" if is_decimal(one.kind):
            return cast(f"sum({distinct}{one.sql}){suffix}", sum_kind(one.kind))
        case "Sum" if one.kind == "double" and not distinct:
            return Value(f"sum({one.sql}){suffix}", "double")
        case _ if name in _SPREADS and one.kind == "double" and not distinct and function["nullOnDivideByZero"]:
            return Value(f"{_SPREADS[name]}({one.sql}){suffix}", "double")
        case "Average" if not distinct:
            return _average(one, suffix)
        case "Min" | "Max" if one.kind == "double":
            return _extreme(name.lower(), one, suffix)
        case "Min" | "Max" if is_compared(one.kind) and one.kind != "boolean":
            return Value(f"{name.lower()}({one.sql}){suffix}", one.kind)
    raise NotTranslated(name)


def _average(one: Value, suffix: str) -> Value:
    count = f"nullif(count({one.sql}){suffix}, 0)"
    if is_decimal(one.kind):
        kept = average_kind(one.kind)
        more = digits(kept)[1] - digits(one.kind)[1]
        return quotient(f"(sum({unscaled(one)}){suffix} * {10**more}::HUGEINT)", f"CAST({count} AS HUGEINT)", kept)
    if one.kind in {*INTEGERS, "double"}:
        return Value(f"(sum(CAST({one.sql} AS DOUBLE)){suffix} / {count})", "double")
    raise NotTranslated(f"Average of {one.kind}")


def _extreme(function: str, of: Value, suffix: str) -> Value:
    """Return the least or greatest double. If zeros of both signs share it, Spark gives the one that it meets first."""
    found = f"{function}({of.sql}){suffix}"
    negative, positive = (f"bool_or({of.sql} = 0 AND {sign}signbit({of.sql})){suffix}" for sign in ("", "NOT "))
    is_plain = f"coalesce({found} <> 0 OR {negative} <> {positive}, true)"
    return Value(guarded(is_plain, found, "DOUBLE"), "double")


def the_only(value: Value, suffix: str) -> Value:
    """Return the value of the only row of a group that passes a filter; null if none does.

    Raises:
        NotTranslated: its type has no greatest value.
    """
    if not is_compared(value.kind):
        raise NotTranslated("First")
    return Value(f"max({value.sql}){suffix}", value.kind)


def window_function(function: Node, values: Sequence[Value], over: str) -> Value:
    """Return a function over a window that is no aggregate.

    Args:
        function: the function.
        values: its arguments, without a default of no type.
        over: OVER with partitions and order; such functions have no other frame.

    Raises:
        NotTranslated: only Spark can compute it.
    """
    name = kind(function)
    if name in _RANKS:
        return cast(f"{_RANKS[name]}{over}", "integer")
    if name in SHIFTS and not function["ignoreNulls"]:
        given, offset, *default = values
        if offset.kind != "integer" or offset.constant is None or any(one.kind != given.kind for one in default):
            raise NotTranslated(name)
        arguments = ", ".join(one.sql for one in (given, offset, *default))
        return Value(f"{SHIFTS[name]}({arguments}){over}", given.kind)
    raise NotTranslated(name)


def frame(given: Node) -> str:
    """Return the frame of a window.

    Args:
        given: Spark's `SpecifiedWindowFrame`.

    Raises:
        NotTranslated: a bound is neither open, the row itself, nor a number of rows.
    """
    rows = said(given["frameType"]) == "RowFrame"
    lower, upper = (_bound(one, rows=rows) for one in children(given))
    return f"{'ROWS' if rows else 'RANGE'} BETWEEN {lower} AND {upper}"


def _bound(node: Node, *, rows: bool) -> str:
    match kind(node):
        case "UnboundedPreceding":
            return "UNBOUNDED PRECEDING"
        case "UnboundedFollowing":
            return "UNBOUNDED FOLLOWING"
        case "CurrentRow":
            return "CURRENT ROW"
        case "Literal" if rows and node["value"] is not None:
            number = int(node["value"])
            return f"{abs(number)} {'PRECEDING' if number < 0 else 'FOLLOWING'}"
    raise NotTranslated("frame")


def direction(node: Node) -> str:
    """Return how Spark's `SortOrder` orders the values of its expression."""
    ascending = {"Ascending": "ASC", "Descending": "DESC"}[said(node["direction"])]
    nulls = {"NullsFirst": "FIRST", "NullsLast": "LAST"}[said(node["nullOrdering"])]
    return f"{ascending} NULLS {nulls}"
