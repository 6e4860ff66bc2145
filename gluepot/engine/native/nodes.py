"""Trees of Spark's plans and expressions, as `TreeNode.toJSON` writes them: a list, every node before its children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from gluepot.engine.native.types import NotTranslated

Node: TypeAlias = Mapping[str, Any]
Tree: TypeAlias = Sequence[Node]

_CHILDREN = ""  # no field of a node has this name


def tree(nodes: Tree) -> Node:
    """Return the first node of a list with its children.

    Raises:
        NotTranslated: the list ends too early.
    """
    return _next(iter(nodes))


def _next(nodes: Iterator[Node]) -> Node:
    try:
        node = next(nodes)
    except StopIteration:
        raise NotTranslated("incomplete") from None
    return {**node, _CHILDREN: [_next(nodes) for _ in range(node["num-children"])]}


def children(node: Node) -> Sequence[Node]:
    """Return the children of a node that `tree` returned."""
    found: Sequence[Node] = node[_CHILDREN]
    return found


def flat(node: Node) -> list[Node]:
    """Return a node and all below it as `tree` got them."""
    own = {field: value for field, value in node.items() if field != _CHILDREN}
    return [own, *(one for child in children(node) for one in flat(child))]


def every(value: object) -> Iterator[Node]:
    """Yield all nodes of a plan, with those of its expressions and of the plans in these."""
    if isinstance(value, Mapping):
        if "num-children" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from every(one)


def kind(node: Node) -> str:
    """Return the name of a node's class, without its package."""
    return simple(node["class"])


def is_sparks(node: Node) -> bool:
    """Return whether the class of a node is one of Spark's own expressions or plans, and not of a library."""
    return str(node["class"]).startswith("org.apache.spark.sql.catalyst.")


def simple(name: str) -> str:
    """Return the last part of a class's name; of an object without the `$` at its end."""
    return name.rpartition(".")[2].removesuffix("$")


def said(value: object) -> str:
    """Return the name of an object, such as a direction or a type of join; empty for anything else."""
    found = value.get("object") if isinstance(value, Mapping) else None
    return simple(found) if isinstance(found, str) else ""


def number(node: Node) -> int:
    """Return the number that Spark gave to an attribute or alias."""
    found: int = node["exprId"]["id"]
    return found
