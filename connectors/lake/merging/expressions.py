"""Translates expressions of a MERGE that Spark has resolved into computations over Arrow columns. Pure.

Only what Arrow computes exactly as Spark does is translated: comparisons and logic over texts, integers, booleans,
dates and timestamps. Spark runs a statement with any other expression.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

Node: TypeAlias = Mapping[str, Any]

INTEGERS: Mapping[str, pa.DataType] = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
}
"""Spark's integers, each narrower than the next."""

COMPARED: Mapping[str, pa.DataType] = {
    **INTEGERS,
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
"""Spark's names of types whose values Arrow compares and orders as Spark does.

A text with another collation has another name.
"""

NOTHING = "void"
"""Spark's name of the type that a bare NULL has."""

_COMPARISONS = {
    "EqualTo": pc.equal,
    "LessThan": pc.less,
    "LessThanOrEqual": pc.less_equal,
    "GreaterThan": pc.greater,
    "GreaterThanOrEqual": pc.greater_equal,
}
# Spark's casts that lose nothing and that Arrow makes alike.
_WIDENINGS = {
    *((one, other) for at, one in enumerate(INTEGERS) for other in list(INTEGERS)[at + 1 :]),
    *((one, "double") for one in ("byte", "short", "integer")),
    ("float", "double"),
}
# A date as Python reads it too; Spark writes other years with a sign.
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
# How Spark says of an array or a map that nulls may be in it.
_NULLS = {"containsNull", "valueContainsNull"}
_WIDENED = {**INTEGERS, "double": pa.float64()}


class OnlySpark(Exception):
    """A part of the statement, or a property of its table, with which only Spark can merge."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of an expression.

    Args:
        arrays: the columns, by the numbers that Spark gave to them.
        rows: how many rows there are.
    """

    arrays: Mapping[int, pa.Array]
    rows: int


@dataclass(frozen=True, slots=True)
class Value:
    """An expression.

    Args:
        kind: Spark's type, as `kind_of` writes it.
        uses: numbers of the columns that it reads.
        compute: returns an array, or a scalar where it reads no column.
        column: the number of the column that it is a copy of; None for anything else.
    """

    kind: str
    uses: frozenset[int]
    compute: Callable[[Columns], Any]
    column: int | None = None

    def of(self, columns: Columns) -> pa.Array:
        """Return the value of each row."""
        found = self.compute(columns)
        return pa.repeat(found, columns.rows) if isinstance(found, pa.Scalar) else found


def kind_of(spark_type: Any) -> str:
    """Return a type, as Spark writes it to JSON, without what says where nulls may be."""
    return spark_type if isinstance(spark_type, str) else json.dumps(_bare(spark_type), sort_keys=True)


def _bare(spark_type: Any) -> Any:
    if not isinstance(spark_type, dict):
        return spark_type
    if "fields" in spark_type:
        return [[field["name"], _bare(field["type"])] for field in spark_type["fields"]]
    return {key: _bare(value) for key, value in spark_type.items() if key not in _NULLS}


def parsed(expression: str) -> Node:
    """Return the tree of an expression that Spark wrote to JSON: every node before its children."""
    return _tree(iter(json.loads(expression)))


def _tree(nodes: Iterator[Node]) -> Node:
    try:
        node = next(nodes)
    except StopIteration:
        raise OnlySpark("an expression that is not written completely") from None
    return {**node, "": [_tree(nodes) for _ in range(node["num-children"])]}


def name_of(node: Node) -> str:
    """Return the name of a node's class."""
    return str(node["class"]).rpartition(".")[2]


def conjuncts(node: Node) -> Iterator[Node]:
    """Yield the conditions that AND joins."""
    if name_of(node) == "Alias":
        yield from conjuncts(node[""][0])
    elif name_of(node) == "And":
        for one in node[""]:
            yield from conjuncts(one)
    else:
        yield node


def translated(node: Node) -> Value:
    """Return what an expression computes.

    Raises:
        OnlySpark: Arrow might compute something else.
    """
    name = name_of(node)
    if name == "AttributeReference":
        number = node["exprId"]["id"]
        kind = kind_of(node["dataType"])
        return Value(kind, frozenset({number}), lambda columns: columns.arrays[number], number)
    if name == "Literal":
        return _literal(node)
    make = _EXPRESSIONS.get(name)
    if make is None:
        raise OnlySpark(f"the expression {name}")
    return make(node, [translated(one) for one in node[""]])


def widened(value: Value, kind: str) -> Value:
    """Return a value as a wider type.

    Raises:
        OnlySpark: the cast can lose something, or Arrow might make it differently.
    """
    if value.kind == kind:
        return value
    if value.kind == NOTHING and kind in COMPARED:
        return Value(kind, value.uses, lambda _: pa.scalar(None, COMPARED[kind]))
    if (value.kind, kind) not in _WIDENINGS:
        raise OnlySpark(f"a cast from {value.kind} to {kind}")
    return Value(kind, value.uses, lambda columns: pc.cast(value.compute(columns), _WIDENED[kind]))


def _literal(node: Node) -> Value:
    kind, value = kind_of(node["dataType"]), node["value"]
    if value is None:
        made = pa.scalar(None, COMPARED.get(kind, pa.null()))
    elif kind in INTEGERS:
        made = pa.scalar(int(value), INTEGERS[kind])
    elif kind == "string":
        made = pa.scalar(str(value))
    elif kind == "boolean":
        made = pa.scalar(str(value).lower() == "true")
    elif kind == "date" and _DAY.fullmatch(str(value)):
        made = pa.scalar(date.fromisoformat(str(value)))
    else:
        raise OnlySpark(f"a literal of type {kind}")
    return Value(kind, frozenset(), lambda _: made)


def _computed(function: Callable[..., Any], children: Sequence[Value]) -> Value:
    uses = frozenset().union(*(one.uses for one in children))
    return Value("boolean", uses, lambda columns: function(*(one.compute(columns) for one in children)))


def _comparison(function: Callable[..., Any], _: Node, children: Sequence[Value]) -> Value:
    kinds = {one.kind for one in children}
    if len(kinds) != 1 or not kinds <= COMPARED.keys():
        raise OnlySpark(f"a comparison of {' and '.join(sorted(kinds))}")
    return _computed(function, children)


def _logic(function: Callable[..., Any], _: Node, children: Sequence[Value]) -> Value:
    if any(one.kind != "boolean" for one in children):
        raise OnlySpark("logic over something else than booleans")
    return _computed(function, children)


def _null_safe_equal(left: Any, right: Any) -> Any:
    both_null = pc.and_(pc.is_null(left), pc.is_null(right))
    return pc.or_(both_null, pc.fill_null(pc.equal(left, right), False))


def _any_equal(tested: Any, *wanted: Any) -> Any:
    found = pc.equal(tested, wanted[0])
    for one in wanted[1:]:
        found = pc.or_kleene(found, pc.equal(tested, one))
    return found


def _cast(node: Node, children: Sequence[Value]) -> Value:
    return widened(children[0], kind_of(node["dataType"]))


_EXPRESSIONS: Mapping[str, Callable[[Node, Sequence[Value]], Value]] = {
    "Alias": lambda _, children: children[0],
    "Between": lambda _, children: children[0],  # two comparisons, of which Spark tells
    "Cast": _cast,
    **{name: partial(_comparison, function) for name, function in _COMPARISONS.items()},
    "EqualNullSafe": partial(_comparison, _null_safe_equal),
    "In": partial(_comparison, _any_equal),
    "And": partial(_logic, pc.and_kleene),
    "Or": partial(_logic, pc.or_kleene),
    "Not": partial(_logic, pc.invert),
    "IsNull": lambda _, children: _computed(pc.is_null, children),
    "IsNotNull": lambda _, children: _computed(pc.is_valid, children),
}
