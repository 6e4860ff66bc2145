"""What a plan of Spark's reads: files of rows that this process knows, and what its text leaves out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.engine import row_folders
from gluepot.engine.native.nodes import Tree, simple
from gluepot.engine.native.plan import File, Sources
from gluepot.engine.native.types import NothingToWin, NotTranslated

_ESCAPE = "\\"
# Each call into the JVM takes a fraction of a millisecond; of larger plans the casts are not looked at.
_MOST_NODES = 400
# The beginning of literals whose value is not in the JSON: binaries ("[B@"), arrays and structs.
_NOT_IN_JSON = re.compile(r'\.Literal","num-children":0,"value":"\[')
# The kinds of relations that are known to be the same when Spark runs them alone.
_OTHERS = {"InMemoryRelation", "LocalRelation", "LogicalRelation", "Range"}


@dataclass(frozen=True, slots=True)
class Relations:
    """The relations of a plan, by the number of the first column of each.

    Args:
        files: the files of those whose rows lie in files of ours.
        others: the leaves of the plan for all others, such as a cached DataFrame.
    """

    files: Mapping[int, Sequence[File]]
    others: Mapping[int, Any]

    def paths(self) -> set[str]:
        """Return the paths of our files."""
        return {file.path for files in self.files.values() for file in files}

    def others_bytes(self) -> int:
        """Return what Spark takes for the size of the others."""
        return sum(int(leaf.stats().sizeInBytes()) for leaf in self.others.values())


def sources_of(plan: Any, nodes: str, relations: Relations) -> Sources:
    """Return what a plan refers to.

    Args:
        plan: a `LogicalPlan` of the JVM.
        nodes: the plan in JSON.
        relations: those of the plan.

    Raises:
        NotTranslated: its JSON leaves out what only Spark can compute.
    """
    if '.Like"' in nodes:
        _check_patterns(plan)
    return Sources(
        relations.files,
        frozenset(relations.others),
        _projections(plan) if '.Expand"' in nodes else {},
        _sets(plan) if '.InSet"' in nodes else {},
        _literals(plan) if _NOT_IN_JSON.search(nodes) else {},
        blanks_are_null='.Cast"' in nodes and nodes.count('"class"') <= _MOST_NODES and not _has_ansi_casts(plan),
    )


def reads_ours(plan: Any) -> bool:
    """Return whether a plan reads files of ours. It need not be optimised."""
    return any(_files(leaf) is not None for part in _parts(plan) for leaf in _each(part.collectLeaves()))


def relations_of(plan: Any) -> Relations:
    """Return the relations of an optimised plan.

    Raises:
        NothingToWin: the plan reads nothing of ours.
        NotTranslated: two relations have the same columns, or one is of another kind, such as a lake table.
    """
    files: dict[int, list[File]] = {}
    others: dict[int, Any] = {}
    for part in _parts(plan):
        for leaf in _each(part.collectLeaves()):
            if leaf.output().isEmpty():
                continue
            number, found = leaf.output().head().exprId().id(), _files(leaf)
            if found is None and class_of(leaf) not in _OTHERS:
                raise NotTranslated(class_of(leaf))
            if found is None:
                is_one = number not in files and others.setdefault(number, leaf).equals(leaf)
            else:
                is_one = number not in others and files.setdefault(number, found) == found
            if not is_one:
                raise NotTranslated("relations with the same columns")
    if not files:
        raise NothingToWin("relation")
    return Relations(files, others)


def _projections(plan: Any) -> dict[int, list[list[Tree]]]:
    """Return the rows that each `Expand` makes of one, by the number of its first column."""
    return {
        one.output().head().exprId().id(): [
            [json.loads(value.toJSON()) for value in _each(row)] for row in _each(one.projections())
        ]
        for part in _parts(plan)
        for one in _below(part)
        if class_of(one) == "Expand"
    }


def _sets(plan: Any) -> dict[str, list[str | None]]:
    """Return the values of each `InSet`, by the JSON of what is looked up in them.

    Raises:
        NotTranslated: the same expression is looked up in several.
    """
    found: dict[str, list[str | None]] = {}
    for one in _expressions(plan, "InSet", " INSET "):
        values = [None if value is None else str(value) for value in _each(one.hset().toSeq())]
        key = json.dumps(json.loads(one.child().toJSON()))
        if sorted(map(str, found.setdefault(key, values))) != sorted(map(str, values)):
            raise NotTranslated("InSet")
    return found


def _literals(plan: Any) -> dict[str, object]:
    """Return the values of literals that are binaries or arrays, by their JSON.

    Raises:
        NotTranslated: different literals have the same JSON.
    """
    found: dict[str, object] = {}
    # Spark prints an array with brackets and a binary as hexadecimal digits.
    for one in [*_expressions(plan, "Literal", "["), *_expressions(plan, "Literal", "0x")]:
        if one.value() is None or not _is_nested(one.dataType()):
            continue
        key, value = json.dumps(json.loads(one.toJSON())), _plain_value(one.value(), one.dataType())
        if found.setdefault(key, value) != value:
            raise NotTranslated("Literal")
    return found


def _is_nested(kind: Any) -> bool:
    return class_of(kind) in {"BinaryType", "ArrayType"}


def _plain_value(value: Any, kind: Any) -> object:
    """Return the value of a literal in plain objects of Python, as `literal_of` wants it."""
    match class_of(kind):
        case "ArrayType" if value is not None:
            return [_plain_value(one, kind.elementType()) for one in value.toObjectArray(kind.elementType())]
        case "BinaryType" if value is not None:
            return bytes(value)
        case "StructType" | "MapType" | "DateType" | "TimestampType" | "TimestampNTZType":
            raise NotTranslated("Literal")  # of such elements Spark keeps other values
    return None if value is None else str(value)


def _has_ansi_casts(plan: Any) -> bool:
    """Return whether a cast of a text fails where the text cannot be cast; the JSON of a plan leaves that out."""
    return any(
        str(one.evalMode()) == "ANSI" and class_of(one.child().dataType()) == "StringType"
        for one in _expressions(plan, "Cast", "cast(")
    )


def _check_patterns(plan: Any) -> None:
    """Look at the patterns of LIKE, whose sign for an escape the JSON leaves out.

    Raises:
        NotTranslated: one has a sign of its own.
    """
    if any(str(one.escapeChar()) != _ESCAPE for one in _expressions(plan, "Like", " LIKE ")):
        raise NotTranslated("ESCAPE")


def _expressions(plan: Any, name: str, text: str) -> Iterator[Any]:
    """Yield the expressions of a class; the text is part of how such an expression is printed."""
    for part in _parts(plan):
        for node in _below(part):
            for expression in _each(node.expressions()):
                if text in expression.toString():
                    yield from (one for one in _below(expression) if class_of(one) == name)


def _parts(plan: Any) -> Iterator[Any]:
    """Yield the plan and the plans of its subqueries."""
    yield plan
    yield from _each(plan.subqueriesAll())


def _below(node: Any) -> Iterator[Any]:
    """Yield a node of a plan or an expression, and all below it."""
    yield node
    for child in _each(node.children()):
        yield from _below(child)


def _files(leaf: Any) -> list[File] | None:
    """Return the files of a relation; None if it is no relation of files, or no frame of ours reads one of them."""
    if class_of(leaf) != "LogicalRelation" or class_of(leaf.relation()) != "HadoopFsRelation":
        return None
    # In one text, because there may be thousands. Names of our own files have no line breaks.
    roots = leaf.relation().location().rootPaths().mkString("\n").split("\n")
    known = [row_folders.known_files().get(root.removeprefix("file:")) for root in roots]
    if any(file is None or not file.is_unchanged() for file in known):
        return None
    return [File(file.path, frozenset(file.schema.names)) for file in known if file]


def class_of(one: Any) -> str:
    """Return the name of the class of an object of the JVM, without its package."""
    return simple(one.getClass().getName())


def _each(sequence: Any) -> Iterator[Any]:
    """Yield the elements of a sequence of Scala's."""
    return (sequence.apply(at) for at in range(sequence.size()))
