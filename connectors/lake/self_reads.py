"""Tells whether a frame reads the table to which it is appended, for example to leave out rows that are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

_ICEBERG: tuple[Callable[[Any], Any], ...] = (lambda leaf: leaf.table().table().location(),)
_DELTA: tuple[Callable[[Any], Any], ...] = (
    lambda leaf: leaf.table().path().toString(),
    lambda leaf: leaf.relation().location().path().toString(),
)


def reads_iceberg(frame: DataFrame, table: Any) -> bool:
    """Tell whether the rows of a frame depend on an Iceberg table.

    Args:
        frame: the frame.
        table: the Iceberg table object.
    """
    return str(table.location()) in _locations(frame, _ICEBERG)


def reads_delta(frame: DataFrame, path: str) -> bool:
    """Tell whether the rows of a frame depend on a Delta table.

    Args:
        frame: the frame.
        path: the folder of the table, as Delta spells it.
    """
    return path in _locations(frame, _DELTA)


def _locations(frame: DataFrame, ways: tuple[Callable[[Any], Any], ...]) -> set[str]:
    found = set()
    for leaf in _leaves(frame):
        for location in ways:
            try:
                found.add(str(location(leaf)))
            except (Py4JError, TypeError, AttributeError):  # the leaf is another kind of relation
                continue
    return found


def _leaves(frame: DataFrame) -> Iterator[Any]:
    """Yield the relations of a frame's plan, with those of subqueries and of cached frames."""
    try:
        plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001  Python has no other way to a plan
        nested = plan.subqueriesAll()
        for one in (plan, *(nested.apply(at) for at in range(nested.size()))):
            leaves = one.collectLeaves()
            yield from (leaves.apply(at) for at in range(leaves.size()))
    except (PySparkException, Py4JError):  # a plan that cannot be made is reported by the append
        return
