"""Translates an aggregation that Spark has planned into SQL of DuckDB. Pure.

Only what both compute exactly alike is translated. Where they differ for some values, such as texts that one of them
takes for a number and the other does not, the SQL raises an error for such a value, and Spark runs the query instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

TYPES: Mapping[str, str] = {
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
}
"""Spark's names of types that are translated, and DuckDB's. A text with another collation has another name."""

_INTEGERS = ("byte", "short", "integer", "long")
_COMPARISONS = {
    "EqualTo": "=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
}
_ARITHMETIC = {"Add": "+", "Subtract": "-", "Multiply": "*"}
# Texts that Spark and DuckDB read as the same number. Digits are few enough to fit.
_NUMBER_TEXTS = {"integer": "-?[0-9]{1,9}", "long": "-?[0-9]{1,18}", "double": "-?[0-9]{1,15}([.][0-9]{1,15})?"}

Node: TypeAlias = Mapping[str, Any]


class NotTranslated(Exception):
    """A part of the plan that only Spark can run."""


@dataclass(frozen=True, slots=True)
class File:
    """A Parquet file that a query reads.

    Args:
        path: its path.
        columns: names of the columns that the file has; others are null.
    """

    path: str
    columns: frozenset[str]


@dataclass(frozen=True, slots=True)
class Value:
    """An expression.

    Args:
        sql: of DuckDB.
        kind: Spark's name of its type.
    """

    sql: str
    kind: str


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a part of the plan.

    Args:
        sql: a SELECT with columns `c0`, `c1`, ...
        columns: Spark's number and type of each column; no type for a column that cannot be used.
    """

    sql: str
    columns: Sequence[tuple[int, str]]


def translated(plan: Sequence[Node], leaves: Sequence[Sequence[File]]) -> str:
    """Return the SQL of an optimised plan whose last step is an aggregation; its columns are in the plan's order.

    Args:
        plan: as Spark writes it to JSON: every node before its children.
        leaves: the files of each relation, in the order of the plan.

    Raises:
        NotTranslated: only Spark can run the plan.
    """
    files = iter(leaves)
    top = _tree(iter(plan))
    if _kind(top) != "Aggregate":
        raise NotTranslated(_kind(top))
    rows = _rows(top, files)
    if any(not kind for _, kind in rows.columns):
        raise NotTranslated("type")
    return rows.sql


def _tree(nodes: Iterator[Node]) -> Node:
    try:
        node = next(nodes)
    except StopIteration:
        raise NotTranslated("incomplete") from None
    return {**node, "": [_tree(nodes) for _ in range(node["num-children"])]}


def _kind(node: Node) -> str:
    return str(node["class"]).rpartition(".")[2]


def _rows(node: Node, leaves: Iterator[Sequence[File]]) -> _Rows:
    match _kind(node):
        case "LogicalRelation":
            return _relation([_tree(iter(one)) for one in node["output"]], next(leaves))
        case "Union" if not node["byName"] and not node["allowMissingCol"]:
            return _union([_rows(one, leaves) for one in node[""]])
        case "Project":
            return _selected(node["projectList"], _rows(node[""][0], leaves), [])
        case "Aggregate":
            return _selected(node["aggregateExpressions"], _rows(node[""][0], leaves), node["groupingExpressions"])
        case "Filter":
            given = _rows(node[""][0], leaves)
            test = _in(given, node["condition"]).sql
            return _Rows(f"SELECT * FROM ({given.sql}) AS given WHERE {test}", given.columns)
    raise NotTranslated(_kind(node))


def _relation(output: Sequence[Node], files: Sequence[File]) -> _Rows:
    if not files:
        raise NotTranslated("no files")
    columns = [(one["exprId"]["id"], _plain(one["dataType"])) for one in output]

    def of_file(file: File) -> str:
        values = []
        for at, (one, (_, kind)) in enumerate(zip(output, columns, strict=True)):
            held = bool(kind) and one["name"] in file.columns
            missing = f"CAST(NULL AS {TYPES.get(kind, 'INTEGER')})"
            values.append(f"{_name(one['name']) if held else missing} AS c{at}")
        return f"SELECT {', '.join(values)} FROM read_parquet({_text(file.path)})"

    return _Rows(" UNION ALL ".join(map(of_file, files)), columns)


def _union(given: Sequence[_Rows]) -> _Rows:
    first = given[0].columns
    for other in given[1:]:
        if [kind for _, kind in other.columns] != [kind for _, kind in first]:
            raise NotTranslated("Union")
    return _Rows(" UNION ALL ".join(f"SELECT * FROM ({one.sql})" for one in given), first)


def _selected(expressions: Sequence[Sequence[Node]], given: _Rows, keys: Sequence[Sequence[Node]]) -> _Rows:
    values: list[str] = []
    columns: list[tuple[int, str]] = []
    for expression in expressions:
        tree = _tree(iter(expression))
        value = _value(tree, given) if _is_usable(tree, given) else Value("NULL::INTEGER", "")
        values.append(f"{value.sql} AS c{len(columns)}")
        columns.append((tree["exprId"]["id"], value.kind))
    sql = f"SELECT {', '.join(values) or 'NULL AS c'} FROM ({given.sql}) AS given"
    if keys:
        found = [_in(given, key) for key in keys]
        if any(one.kind not in {*_INTEGERS, "string", "boolean"} for one in found):
            raise NotTranslated("key")
        sql = f"{sql} GROUP BY {', '.join(one.sql for one in found)}"
    return _Rows(sql, columns)


def _is_usable(tree: Node, given: _Rows) -> bool:
    """Return whether a column is more than a mere copy of one whose type is not translated."""
    return _kind(tree) != "AttributeReference" or bool(dict(given.columns).get(tree["exprId"]["id"], "?"))


def _in(given: _Rows, expression: Sequence[Node]) -> Value:
    return _value(_tree(iter(expression)), given)


def _value(node: Node, given: _Rows) -> Value:
    kind = _kind(node)
    if kind == "AttributeReference":
        return _attribute(node, given)
    if kind == "AggregateExpression":
        return _aggregate(node, given)
    children = [_value(one, given) for one in node[""]]
    make = _EXPRESSIONS.get(kind)
    if make is None:
        raise NotTranslated(kind)
    return make(node, children)


def _attribute(node: Node, given: _Rows) -> Value:
    for at, (number, kind) in enumerate(given.columns):
        if number == node["exprId"]["id"] and kind:
            return Value(f"given.c{at}", kind)
    raise NotTranslated(str(node["dataType"]))


def _literal(node: Node, _: Sequence[Value]) -> Value:
    kind, value = _plain(node["dataType"]), node["value"]
    if not kind:
        raise NotTranslated("Literal")
    if value is None:
        return Value(f"CAST(NULL AS {TYPES[kind]})", kind)
    return Value(f"CAST({_text(str(value))} AS {TYPES[kind]})", kind)


def _comparison(operator: str, _: Node, children: Sequence[Value]) -> Value:
    left, right = _alike(children)
    return Value(f"({left.sql} {operator} {right.sql})", "boolean")


def _logic(operator: str, _: Node, children: Sequence[Value]) -> Value:
    return Value(f"({f' {operator} '.join(one.sql for one in children)})", "boolean")


def _arithmetic(operator: str, _: Node, children: Sequence[Value]) -> Value:
    left, right = _alike(children)
    if left.kind not in {"integer", "long", "double"}:
        raise NotTranslated(f"{left.kind} {operator}")
    # DuckDB raises an error if a whole number leaves its type, as the cast does.
    return Value(f"CAST({left.sql} {operator} {right.sql} AS {TYPES[left.kind]})", left.kind)


def _rounded(_: Node, children: Sequence[Value]) -> Value:
    number, scale = children
    if number.kind != "double" or scale.sql != "CAST('0' AS INTEGER)":
        raise NotTranslated("Round")
    return Value(f"(round({number.sql}) + 0.0)", "double")  # Spark knows no negative zero here


def _chosen(_: Node, children: Sequence[Value]) -> Value:
    """Translate `If` and `CaseWhen`: pairs of condition and value, then perhaps a last value."""
    pairs, rest = children[: len(children) // 2 * 2], children[len(children) // 2 * 2 :]
    kind = _alike([*pairs[1::2], *rest])[0].kind
    cases = " ".join(f"WHEN {when.sql} THEN {then.sql}" for when, then in zip(pairs[::2], pairs[1::2], strict=True))
    otherwise = f" ELSE {rest[0].sql}" if rest else ""
    return Value(f"(CASE {cases}{otherwise} END)", kind)


def _cast(node: Node, children: Sequence[Value]) -> Value:
    (given,), wanted = children, _plain(node["dataType"])
    if given.kind == wanted:
        return given
    sql = f"CAST({given.sql} AS {TYPES.get(wanted)})"
    match given.kind, wanted:
        case ("byte" | "short" | "integer" | "long", "byte" | "short" | "integer" | "long" | "double" | "string"):
            return Value(sql, wanted)
        case ("boolean", "string"):
            return Value(sql, wanted)
        case ("double", "integer" | "long"):
            return Value(f"CAST(trunc({given.sql}) AS {TYPES[wanted]})", wanted)
        case ("string", "integer" | "long" | "double"):
            is_number = f"regexp_full_match({given.sql}, '{_NUMBER_TEXTS[wanted]}')"
            odd = f"CAST(error('a text that is read by Spark') AS {TYPES[wanted]})"
            return Value(f"(CASE WHEN {given.sql} IS NULL OR {is_number} THEN {sql} ELSE {odd} END)", wanted)
    raise NotTranslated(f"Cast from {given.kind} to {node['dataType']}")


def _aggregate(node: Node, given: _Rows) -> Value:
    function, *filters = node[""]
    if filters or "Complete" not in str(node["mode"]):
        raise NotTranslated("AggregateExpression")
    kind, children = _kind(function), [_value(one, given) for one in function[""]]
    if len(children) != 1:
        raise NotTranslated(kind)
    one, distinct = children[0], "DISTINCT " if node["isDistinct"] else ""
    match kind:
        case "Count" if one.kind != "double" or not distinct:
            return Value(f"count({distinct}{one.sql})", "long")
        case "Sum" if one.kind in _INTEGERS:
            return Value(f"CAST(sum({distinct}{one.sql}) AS BIGINT)", "long")
        case "Sum" if one.kind == "double" and not distinct:
            return Value(f"sum({one.sql})", "double")
        case "Average" if one.kind in {*_INTEGERS, "double"} and not distinct:
            return Value(f"(sum(CAST({one.sql} AS DOUBLE)) / nullif(count({one.sql}), 0))", "double")
        case "Min" | "Max" if one.kind in {*_INTEGERS, "string"}:
            return Value(f"{kind.lower()}({one.sql})", one.kind)
    raise NotTranslated(kind)


def _alike(values: Sequence[Value]) -> Sequence[Value]:
    if len({one.kind for one in values}) != 1:
        raise NotTranslated("types")
    return values


def _plain(kind: object) -> str:
    """Return a type that is translated; empty for any other."""
    return kind if isinstance(kind, str) and kind in TYPES else ""


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    if "\0" in value:
        raise NotTranslated("NUL")
    return "'" + value.replace("'", "''") + "'"


_EXPRESSIONS: Mapping[str, Callable[[Node, Sequence[Value]], Value]] = {
    "Alias": lambda _, children: children[0],
    "Literal": _literal,
    **{name: partial(_comparison, operator) for name, operator in _COMPARISONS.items()},
    **{name: partial(_arithmetic, operator) for name, operator in _ARITHMETIC.items()},
    "And": partial(_logic, "AND"),
    "Or": partial(_logic, "OR"),
    "Not": lambda _, children: Value(f"(NOT {children[0].sql})", "boolean"),
    "IsNull": lambda _, children: Value(f"({children[0].sql} IS NULL)", "boolean"),
    "IsNotNull": lambda _, children: Value(f"({children[0].sql} IS NOT NULL)", "boolean"),
    "In": lambda _, children: Value(
        f"({children[0].sql} IN ({', '.join(one.sql for one in _alike(children)[1:])}))", "boolean"
    ),
    "Coalesce": lambda _, children: Value(
        f"coalesce({', '.join(one.sql for one in _alike(children))})", children[0].kind
    ),
    "If": _chosen,
    "CaseWhen": _chosen,
    "Round": _rounded,
    "Cast": _cast,
}
