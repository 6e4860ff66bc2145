"""Reads a MERGE statement that Spark has parsed and whose names Spark has resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.lake.merging.expressions import (
    COMPARED,
    NOTHING,
    OnlySpark,
    Value,
    conjuncts,
    kind_of,
    name_of,
    parsed,
    translated,
    widened,
)

_MERGE = "MergeIntoTable"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of the table or of the source.

    Args:
        name: its name.
        number: the number that Spark gave to it.
        kind: its type, as `kind_of` writes it.
    """

    name: str
    number: int
    kind: str


@dataclass(frozen=True, slots=True)
class Clause:
    """A WHEN clause.

    Args:
        condition: its condition; None if it has none.
        values: new values of columns of the table, by the columns' numbers; None if the clause deletes the row.
    """

    condition: Value | None
    values: Mapping[int, Value] | None


@dataclass(frozen=True, slots=True)
class Merge:
    """A statement.

    Args:
        target: columns of the table.
        source: columns of the source.
        keys: pairs of a column of the table and a value of the source that must be equal.
        also: further condition for a match; None if there is none.
        matched: clauses for matched rows; the first whose condition holds counts.
        not_matched: clauses for rows of the source that match nothing.
    """

    target: Sequence[Attribute]
    source: Sequence[Attribute]
    keys: Sequence[tuple[Attribute, Value]]
    also: Value | None
    matched: Sequence[Clause]
    not_matched: Sequence[Clause]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A statement, and Spark's plans of what it joins.

    Args:
        merge: the statement.
        target: Spark's resolved plan of the table.
        source: Spark's resolved plan of the source.
    """

    merge: Merge
    target: Any
    source: Any


@dataclass(frozen=True, slots=True)
class _Action:
    """A clause as Spark's parser gives it: what it does, and its expressions, which are not resolved yet."""

    name: str
    condition: Any
    assigned: Sequence[tuple[str, Any]]


def resolved(jvm: Any, session: Any, statement: str) -> Resolved:
    """Read a statement.

    Args:
        jvm: the Java packages.
        session: the Java session.
        statement: SQL that begins with MERGE.

    Raises:
        OnlySpark: only Spark can run it.
        Exception: Spark finds a mistake in it.
    """
    plan = session.sessionState().sqlParser().parsePlan(statement)
    if plan.getClass().getSimpleName() != _MERGE or plan.withSchemaEvolution():
        raise OnlySpark("a statement that is no plain MERGE")
    if plan.notMatchedBySourceActions().size():
        raise OnlySpark("WHEN NOT MATCHED BY SOURCE")
    # Spark looks at the whole statement, so that a mistake is one even if no row meets it.
    tracker = jvm.org.apache.spark.sql.catalyst.QueryPlanningTracker(jvm.scala.Option.empty())
    session.sessionState().analyzer().executeAndCheck(plan, tracker)
    alias = _alias(plan.targetTable())
    matched, added = _actions(plan.matchedActions(), alias), _actions(plan.notMatchedActions(), alias)
    expressions = [
        *(one.condition for one in (*matched, *added) if one.condition is not None),
        *(value for one in (*matched, *added) for _, value in one.assigned),
    ]
    join, values = _analyzed(jvm, session, plan, expressions)
    target, source = _attributes(join.left()), _attributes(join.right())
    if len({one.name.casefold() for one in target}) != len(target):
        raise OnlySpark("columns whose names differ only by case")
    keys, also = _keys(parsed(join.condition().get().toJSON()), target, source)
    found = iter(values)
    conditions = [None if one.condition is None else next(found) for one in (*matched, *added)]
    clauses = [
        _clause(action, condition, found, target, source)
        for action, condition in zip((*matched, *added), conditions, strict=True)
    ]
    updates, inserts = clauses[: len(matched)], clauses[len(matched) :]
    own = {one.number for one in target}
    if any(own & value.uses for one in inserts for value in _values(one)):
        raise OnlySpark("an INSERT that reads the table")
    return Resolved(Merge(target, source, keys, also, updates, inserts), join.left(), join.right())


def _values(clause: Clause) -> Iterator[Value]:
    if clause.condition is not None:
        yield clause.condition
    yield from (clause.values or {}).values()


def _alias(table: Any) -> str:
    """Return the name by which the statement qualifies columns of the table."""
    if table.getClass().getSimpleName() == "SubqueryAlias":
        return str(table.alias())
    return str(table.collectLeaves().apply(0).multipartIdentifier().last())


def _actions(actions: Any, alias: str) -> list[_Action]:
    return [_action(actions.apply(at), alias) for at in range(actions.size())]


def _action(action: Any, alias: str) -> _Action:
    name = str(action.getClass().getSimpleName())
    condition = action.condition().get() if action.condition().isDefined() else None
    if name in {"DeleteAction", "UpdateStarAction", "InsertStarAction"}:
        return _Action(name, condition, ())
    if name not in {"UpdateAction", "InsertAction"}:
        raise OnlySpark(f"the clause {name}")
    assignments = action.assignments()
    each = [assignments.apply(at) for at in range(assignments.size())]
    return _Action(name, condition, [(_column(one.key(), alias), one.value()) for one in each])


def _column(key: Any, alias: str) -> str:
    """Return the name of the column that is assigned."""
    if key.getClass().getSimpleName() != "UnresolvedAttribute":
        raise OnlySpark("an assignment to something else than a column")
    parts = [str(key.nameParts().apply(at)) for at in range(key.nameParts().size())]
    if len(parts) == 1 or (len(parts) == 2 and parts[0].casefold() == alias.casefold()):
        return parts[-1]
    raise OnlySpark("an assignment to a part of a column")


def _analyzed(jvm: Any, session: Any, plan: Any, expressions: Sequence[Any]) -> tuple[Any, list[Value]]:
    """Let Spark resolve the names; return the join of table and source, and the expressions."""
    catalyst, nothing = jvm.org.apache.spark.sql.catalyst, jvm.scala.Option.empty()
    join = catalyst.plans.logical.Join(
        plan.targetTable(),
        plan.sourceTable(),
        getattr(getattr(catalyst.plans, "Inner$"), "MODULE$"),
        jvm.scala.Option.apply(plan.mergeCondition()),
        catalyst.plans.logical.JoinHint.NONE(),
    )
    aliases = [catalyst.analysis.UnresolvedAlias(one, nothing) for one in expressions]
    to_seq = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    wanted = catalyst.plans.logical.Project(to_seq(aliases), join)
    found = jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, wanted).queryExecution().analyzed()
    selected, children = found.projectList(), found.children()
    if selected.size() != len(expressions) or children.apply(0).getClass().getSimpleName() != "Join":
        raise OnlySpark("an expression that stands for several columns or for a subquery")
    return children.apply(0), [translated(parsed(selected.apply(at).toJSON())) for at in range(len(expressions))]


def _attributes(plan: Any) -> list[Attribute]:
    output = plan.output()
    each = [parsed(output.apply(at).toJSON()) for at in range(output.size())]
    return [Attribute(str(one["name"]), one["exprId"]["id"], kind_of(one["dataType"])) for one in each]


def _keys(
    condition: Any, target: Sequence[Attribute], source: Sequence[Attribute]
) -> tuple[list[tuple[Attribute, Value]], Value | None]:
    own = {one.number: one for one in target}
    others = {one.number for one in source}
    keys, also = [], []
    for node in conjuncts(condition):
        sides = [translated(one) for one in node[""]] if name_of(node) == "EqualTo" else []
        pair = (
            [
                (own[one.column], other)
                for one, other in (sides, sides[::-1])
                if one.column in own and other.uses and other.uses <= others
            ]
            if sides
            else []
        )
        if pair and pair[0][0].kind in COMPARED:
            keys.append(pair[0])
        else:
            also.append(node)
    if not keys:
        raise OnlySpark("a condition without an equality")
    if not also:
        return keys, None
    joined = also[0]
    for one in also[1:]:
        joined = {"class": "And", "num-children": 2, "": [joined, one]}
    return keys, translated(joined)


def _clause(
    action: _Action,
    condition: Value | None,
    values: Iterator[Value],
    target: Sequence[Attribute],
    source: Sequence[Attribute],
) -> Clause:
    if condition is not None and condition.kind != "boolean":
        raise OnlySpark("a condition that is no boolean")
    if action.name == "DeleteAction":
        return Clause(condition, None)
    if action.name.endswith("StarAction"):
        return Clause(condition, {one.number: widened(_same_name(one, source), one.kind) for one in target})
    named = {one.name.casefold(): one for one in target}
    assigned: dict[int, Value] = {}
    for name, _ in action.assigned:
        column, value = named.get(name.casefold()), next(values)
        if column is None or column.number in assigned:
            raise OnlySpark("an assignment to a column that is not there, or to one column twice")
        assigned[column.number] = value if value.kind == NOTHING else widened(value, column.kind)
    return Clause(condition, assigned)


def _same_name(column: Attribute, source: Sequence[Attribute]) -> Value:
    found = [one for one in source if one.name.casefold() == column.name.casefold()]
    if len(found) != 1:
        raise OnlySpark(f"a source without exactly one column {column.name}")
    number = found[0].number
    return Value(found[0].kind, frozenset({number}), lambda columns: columns.arrays[number], number)
