"""Translates a query that Spark has planned into SQL of DuckDB. Pure.

What is translated, DuckDB computes exactly as Spark does, but for the order of rows that Spark leaves open, and for the
last digit of sums of floating-point numbers, which differs from one run of Spark to the next.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from gluepot.core.duckdb_sql import quoted_name
from gluepot.engine.native import aggregates
from gluepot.engine.native.expressions import BLANKS_ARE_NULL, EXPRESSIONS, in_set, literal_of
from gluepot.engine.native.nodes import Node, Tree, children, every, flat, is_sparks, kind, number, said, tree
from gluepot.engine.native.parts import compared, null, text
from gluepot.engine.native.types import NothingToWin, NotTranslated, Value, is_exact, translated_kind

_JOINS = {
    "Inner": "JOIN",
    "Cross": "JOIN",
    "LeftOuter": "LEFT JOIN",
    "RightOuter": "RIGHT JOIN",
    "FullOuter": "FULL JOIN",
    "LeftSemi": "SEMI JOIN",
    "LeftAnti": "ANTI JOIN",
}
_OF_LEFT = {"LeftSemi", "LeftAnti"}
_HEAVY = {"Aggregate", "Join", "Window"}
_MOST_CHARACTERS = 1_000_000
# Numbers that no column of Spark's has: of a column without one, and a mark for groups that `Expand` has made.
_UNNUMBERED = -1
_GROUPS = -2


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
class Sources:
    """What a plan refers to and its text does not say, by the number of the first column that comes from there.

    Args:
        files: the files of each relation that our own files are the rows of.
        copies: the other relations, whose rows will be in views (`copy_name`).
        projections: of each `Expand`, the expressions that make its rows.
        sets: the values of each `InSet`, as Spark keeps them, by the JSON of the expression that is looked up.
        literals: the values of binaries and arrays, by the JSON of the literal; see `literal_of`.
        blanks_are_null: whether casts make blank texts null; with ANSI mode they fail, unless it is `try_cast`.
    """

    files: Mapping[int, Sequence[File]]
    copies: AbstractSet[int] = frozenset()
    projections: Mapping[int, Sequence[Sequence[Tree]]] = field(default_factory=dict)
    sets: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    literals: Mapping[str, object] = field(default_factory=dict)
    blanks_are_null: bool = False


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a part of the plan.

    Args:
        sql: a SELECT with columns `c0`, `c1`, ..., and `o0`, `o1`, ... to order by.
        columns: Spark's number and type of each column; no type for a column that cannot be used.
        order: the order of the rows, as expressions over their columns.
        are_expanded: whether they are groups of rows that `Expand` has made, each of which has one of its own.
    """

    sql: str
    columns: Sequence[tuple[int, str]]
    order: tuple[str, ...] = ()
    are_expanded: bool = False

    def names(self, *, with_order: bool = True) -> list[str]:
        """Return the names of the columns."""
        ordered = [f"o{at}" for at in range(len(self.order))] if with_order else []
        return [*(f"c{at}" for at in range(len(self.columns))), *ordered]

    def scope(self, alias: str) -> dict[int, Value]:
        """Return the columns as expressions of a query that has the rows under a name."""
        return {spark: Value(f"{alias}.c{at}", kind) for at, (spark, kind) in enumerate(self.columns)}


@dataclass(frozen=True, slots=True)
class Query:
    """A plan as SQL.

    Args:
        sql: of DuckDB; its columns are numbered, `c0`, `c1`, ..., in the plan's order.
        kinds: the type of each column, as `translated_kind` names it.
        partitions: into how many partitions the plan puts its rows; None if it does not say.
    """

    sql: str
    kinds: tuple[str, ...]
    partitions: int | None = None


def copy_name(relation: int) -> str:
    """Return the name of a view with the rows of a relation, whose columns are `c0`, `c1`, ... in its order."""
    return f"copy_{relation}"


def translated(plan: Tree, sources: Sources) -> Query:
    """Return an optimised plan as SQL.

    Args:
        plan: as Spark writes it to JSON: every node before its children.
        sources: what the plan reads.

    Raises:
        NothingToWin: the plan has no join, aggregate or window.
        NotTranslated: only Spark can run the plan.
    """
    if not any(kind(node) in _HEAVY for node in every(plan)):
        raise NothingToWin("picks rows and columns")
    top, partitions = tree(plan), None
    if kind(top) == "Repartition":
        partitions, (top,) = top["numPartitions"], children(top)
    rows = _Translation(sources).rows(top)
    if any(not one for _, one in rows.columns):
        raise NotTranslated("type")
    if len(rows.sql) > _MOST_CHARACTERS:
        raise NotTranslated("size")  # divisions of decimals inside of each other
    sql = f"SELECT {', '.join(rows.names(with_order=False))} FROM ({rows.sql}){_ordered(rows)}"
    return Query(sql, tuple(one for _, one in rows.columns), partitions)


def _ordered(rows: _Rows) -> str:
    return f" ORDER BY {', '.join(rows.order)}" if rows.order else ""


@dataclass(frozen=True, slots=True)
class _Translation:
    sources: Sources

    def rows(self, node: Node) -> _Rows:
        """Return the rows of a node of the plan."""
        inputs = [self.rows(one) for one in children(node)]
        if not inputs:
            return self._relation([tree(one) for one in node.get("output", ())])
        if not is_sparks(node):
            raise NotTranslated(str(node["class"]))
        match kind(node):
            case "Union" if not node["byName"] and not node["allowMissingCol"]:
                return _union(inputs)
            case "Project":
                return self._projected(node["projectList"], inputs[0])
            case "Aggregate":
                return self._aggregated(node, inputs[0])
            case "Filter":
                test = self._value(tree(node["condition"]), inputs[0].scope("given")).sql
                return replace(inputs[0], sql=f"SELECT * FROM ({inputs[0].sql}) AS given WHERE {test}")
            case "Join":
                return self._joined(node, *inputs)
            case "Sort" if node["global"]:
                return self._sorted(node["order"], inputs[0])
            case "GlobalLimit":
                return self._limited(node, inputs[0])
            case "LocalLimit" | "WindowGroupLimit":  # hints: the step above does the same for all rows
                return inputs[0]
            case "Window":
                return self._windowed(node["windowExpressions"], inputs[0])
            case "Expand":
                return self._expanded([tree(one) for one in node["output"]], inputs[0])
        raise NotTranslated(kind(node))

    def _relation(self, output: Sequence[Node]) -> _Rows:
        if not output:
            raise NotTranslated("relation")
        columns = [(number(one), translated_kind(one["dataType"])) for one in output]
        if number(output[0]) in self.sources.copies:
            held = [f"c{at}" if of_column else f"{null('')} AS c{at}" for at, (_, of_column) in enumerate(columns)]
            return _Rows(f"SELECT {', '.join(held)} FROM {copy_name(number(output[0]))}", columns)
        files = self.sources.files.get(number(output[0]))
        if not files:
            raise NotTranslated("relation")

        if any(len({one.casefold() for one in file.columns}) < len(file.columns) for file in files):
            raise NotTranslated("names that differ by case")  # DuckDB does not tell them apart

        def of_files(paths: Sequence[str], held: frozenset[str]) -> str:
            values = []
            for at, (one, (_, of_column)) in enumerate(zip(output, columns, strict=True)):
                is_there = of_column and one["name"] in held
                values.append(f"{quoted_name(one['name']) if is_there else null(of_column)} AS c{at}")
            listed = ", ".join(map(text, paths))
            return f"SELECT {', '.join(values)} FROM read_parquet([{listed}], hive_partitioning = false)"

        alike: dict[frozenset[str], list[str]] = {}
        for file in files:
            alike.setdefault(file.columns, []).append(file.path)
        return _Rows(" UNION ALL ".join(of_files(paths, held) for held, paths in alike.items()), columns)

    def _projected(self, expressions: Sequence[Tree], given: _Rows) -> _Rows:
        values, columns = self._values(expressions, given.scope("given"))
        kept = [f"given.o{at} AS o{at}" for at in range(len(given.order))]
        sql = f"SELECT {_list([*values, *kept])} FROM ({given.sql}) AS given"
        return replace(given, sql=sql, columns=columns, are_expanded=False)

    def _aggregated(self, node: Node, given: _Rows) -> _Rows:
        scope = given.scope("given")
        keys = [self._value(tree(one), scope) for one in node["groupingExpressions"]]
        if any(not is_exact(one.kind) for one in keys):
            raise NotTranslated("key")
        of_groups = {_GROUPS: Value("", "")} if given.are_expanded else {}
        values, columns = self._values(node["aggregateExpressions"], scope | of_groups)
        if not keys and not any(kind(one) == "AggregateExpression" for one in every(node["aggregateExpressions"])):
            return _Rows(f"SELECT {_list(values)}", columns)  # one row, whatever is there
        grouped = f" GROUP BY {', '.join(one.sql for one in keys)}" if keys else ""
        # Each group of such rows has one row for each combination of keys.
        is_expand = kind(children(node)[0]) == "Expand"
        return _Rows(f"SELECT {_list(values)} FROM ({given.sql}) AS given{grouped}", columns, are_expanded=is_expand)

    def _joined(self, node: Node, left: _Rows, right: _Rows) -> _Rows:
        condition, scope = node.get("condition"), left.scope("l") | right.scope("r")
        join = said(node["joinType"])
        if join == "LeftAnti" and condition and (equal := _not_in(tree(condition))):
            first, second = (self._value(one, scope).sql for one in equal)
            outside, inside = (first, second) if _is_of(left, equal[0]) else (second, first)
            test = f"{outside} NOT IN (SELECT {inside} FROM ({right.sql}) AS r)"
            return _Rows(
                f"SELECT {_list(left.names(with_order=False))} FROM ({left.sql}) AS l WHERE {test}", left.columns
            )
        test = self._value(tree(condition), scope).sql if condition else "true"
        if exists := node["joinType"].get("exists"):
            found = f"EXISTS (SELECT 1 FROM ({right.sql}) AS r WHERE {test}) AS c{len(left.columns)}"
            kept = [f"l.{column}" for column in left.names(with_order=False)]
            columns = [*left.columns, (number(exists[0]), "boolean")]
            return _Rows(f"SELECT {_list([*kept, found])} FROM ({left.sql}) AS l", columns)
        if join not in _JOINS:
            raise NotTranslated("Join")
        sides = [("l", left)] if join in _OF_LEFT else [("l", left), ("r", right)]
        taken = [f"{alias}.{column}" for alias, side in sides for column in side.names(with_order=False)]
        values = [f"{one} AS c{at}" for at, one in enumerate(taken)]
        sql = f"SELECT {_list(values)} FROM ({left.sql}) AS l {_JOINS[join]} ({right.sql}) AS r ON {test}"
        return _Rows(sql, [column for _, side in sides for column in side.columns])

    def _sorted(self, order: Sequence[Tree], given: _Rows) -> _Rows:
        scope, kept = given.scope("given"), [f"given.{one}" for one in given.names(with_order=False)]
        keys = [tree(one) for one in order]
        values = [f"{self._sort_key(one, scope)} AS o{at}" for at, one in enumerate(keys)]
        directions = tuple(f"o{at} {aggregates.direction(one)}" for at, one in enumerate(keys))
        return replace(given, sql=f"SELECT {_list([*kept, *values])} FROM ({given.sql}) AS given", order=directions)

    def _limited(self, node: Node, given: _Rows) -> _Rows:
        limit = tree(node["limitExpr"])
        if kind(limit) != "Literal" or not given.order:
            raise NotTranslated("Limit")  # which rows come first is Spark's to say
        return replace(given, sql=f"SELECT * FROM ({given.sql}){_ordered(given)} LIMIT {int(limit['value'])}")

    def _windowed(self, expressions: Sequence[Tree], given: _Rows) -> _Rows:
        values, columns = self._values(expressions, given.scope("given"), len(given.columns))
        kept = [f"given.{one}" for one in given.names(with_order=False)]
        return _Rows(f"SELECT {_list([*kept, *values])} FROM ({given.sql}) AS given", [*given.columns, *columns])

    def _expanded(self, output: Sequence[Node], given: _Rows) -> _Rows:
        projections = self.sources.projections.get(number(output[0])) if output else None
        if not projections:
            raise NotTranslated("Expand")
        made = [self._values(one, given.scope("given")) for one in projections]
        columns = [(number(one), translated_kind(one["dataType"])) for one in output]
        for _, found in made:
            if any(one != wanted for (_, one), (_, wanted) in zip(found, columns, strict=True) if wanted and one):
                raise NotTranslated("Expand")
        selects = " UNION ALL ".join(f"SELECT {_list(values)} FROM given" for values, _ in made)
        return _Rows(f"WITH given AS MATERIALIZED ({given.sql}) {selects}", columns)

    def _values(
        self, expressions: Sequence[Tree], scope: Mapping[int, Value], first: int = 0
    ) -> tuple[list[str], list[tuple[int, str]]]:
        """Return expressions as columns of a SELECT, and their numbers and types.

        A column that is a mere copy of one whose type is not translated has no type and no value.
        """
        values: list[str] = []
        columns: list[tuple[int, str]] = []
        for at, expression in enumerate(expressions, first):
            one = tree(expression)
            is_unusable = kind(one) == "AttributeReference" and scope.get(number(one), Value("", "?")).kind == ""
            value = Value(null(""), "") if is_unusable else self._value(one, scope)
            values.append(f"{value.sql} AS c{at}")
            columns.append((number(one) if "exprId" in one else _UNNUMBERED, value.kind))
        return values, columns

    def _value(self, node: Node, scope: Mapping[int, Value]) -> Value:
        match kind(node):
            case "AttributeReference":
                found = scope.get(number(node))
                if found is None or not found.kind:
                    raise NotTranslated(str(node["dataType"]))
                return found
            case "AggregateExpression":
                return self._aggregate(node, scope, "")
            case "WindowExpression":
                return self._window(node, scope)
            case "ScalarSubquery":
                return self._subquery(node)
            case "Literal" if (key := json.dumps(flat(node))) in self.sources.literals:
                return literal_of(self.sources.literals[key], translated_kind(node["dataType"]))
        values = [self._value(one, scope) for one in children(node)]
        if kind(node) == "InSet":
            key = json.dumps(flat(children(node)[0]))
            return in_set(values[0], self.sources.sets.get(key, ()))
        if kind(node) == "Cast" and self.sources.blanks_are_null:
            node = {**node, BLANKS_ARE_NULL: True}
        return self._expression(node, values)

    def _expression(self, node: Node, values: Sequence[Value]) -> Value:
        make = EXPRESSIONS.get(kind(node))
        if make is None or not is_sparks(node):
            raise NotTranslated(kind(node))
        return make(node, values)

    def _aggregate(self, node: Node, scope: Mapping[int, Value], over: str) -> Value:
        function, *filters = children(node)
        if said(node["mode"]) != "Complete" or not is_sparks(function):
            raise NotTranslated("mode")
        passing = [self._value(one, scope).sql for one in filters]
        suffix = "".join(f" FILTER (WHERE {one})" for one in passing) + over
        values = [self._value(one, scope) for one in children(function)]
        if kind(function) == "First" and _GROUPS in scope and [_is_of_group(one) for one in filters] == [True]:
            return aggregates.the_only(values[0], suffix)
        if over and "double" in {one.kind for one in values} and kind(function) in {"Sum", "Average"}:
            raise NotTranslated("running sum")  # each row has rounding of its own
        return aggregates.aggregate(function, values, suffix, is_distinct=node["isDistinct"])

    def _window(self, node: Node, scope: Mapping[int, Value]) -> Value:
        function, spec = children(node)
        *parts_of, frame = children(spec)
        keys = [self._value(parts_of[at], scope) for at in spec["partitionSpec"]]
        if any(not is_exact(one.kind) for one in keys):
            raise NotTranslated("key")
        orders = [parts_of[at] for at in spec["orderSpec"]]
        ordered = ", ".join(f"{self._sort_key(one, scope)} {aggregates.direction(one)}" for one in orders)
        parts = [f"PARTITION BY {', '.join(one.sql for one in keys)}"] if keys else []
        parts += [f"ORDER BY {ordered}"] if ordered else []
        window = f" OVER ({' '.join([*parts, aggregates.frame(frame)])})"
        if kind(function) == "AggregateExpression":
            return self._aggregate(function, scope, window)
        if not is_sparks(function):
            raise NotTranslated(str(function["class"]))
        arguments = children(function)
        if kind(function) in aggregates.SHIFTS and arguments[-1].get("dataType") == "void":
            arguments = arguments[:-1]  # the query gives no default
        values = [self._value(one, scope) for one in arguments]
        return aggregates.window_function(function, values, f" OVER ({' '.join(parts)})")

    def _sort_key(self, node: Node, scope: Mapping[int, Value]) -> str:
        """Return what a `SortOrder` orders by."""
        return compared([self._value(children(node)[0], scope)])[0].sql

    def _subquery(self, node: Node) -> Value:
        """Translate a query that gives one value. DuckDB, too, refuses one that gives several."""
        if children(node):
            raise NotTranslated("subquery")
        rows = self.rows(tree(node["plan"]))
        ((_, of_column),) = rows.columns
        return Value(f"(SELECT c0 FROM ({rows.sql}){_ordered(rows)})", of_column)


def _not_in(condition: Node) -> Sequence[Node]:
    """Return what NOT IN compares, if the condition of a join says just that: equal or unknown; else nothing.

    As a plain condition it would compare all pairs of rows.
    """
    if kind(condition) != "Or":
        return ()
    equal, unknown = children(condition)
    is_that = kind(equal) == "EqualTo" and kind(unknown) == "IsNull" and flat(children(unknown)[0]) == flat(equal)
    return children(equal) if is_that else ()


def _is_of(rows: _Rows, expression: Node) -> bool:
    """Return whether an expression is one of columns of these rows."""
    known = {spark for spark, _ in rows.columns}
    return all(number(one) in known for one in flat(expression) if kind(one) == "AttributeReference")


def _is_of_group(node: Node) -> bool:
    """Return whether a filter of an aggregate is one that Spark adds to tell the groups of `Expand` apart."""
    return (
        kind(node) == "EqualTo"
        and [kind(one) for one in children(node)] == ["AttributeReference", "Literal"]
        and (children(node)[0]["name"] == "gid")
    )


def _union(given: Sequence[_Rows]) -> _Rows:
    first = given[0].columns
    for other in given[1:]:
        if [one for _, one in other.columns] != [one for _, one in first]:
            raise NotTranslated("Union")
    names = _list(given[0].names(with_order=False))
    return _Rows(" UNION ALL ".join(f"SELECT {names} FROM ({one.sql})" for one in given), first)


def _list(values: Sequence[str]) -> str:
    return ", ".join(values) or "NULL AS c"
