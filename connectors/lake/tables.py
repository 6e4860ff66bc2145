"""The kinds of lake tables that are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from gluepot.connectors.lake.delta import DeltaTable
from gluepot.connectors.lake.hudi import HudiTable
from gluepot.connectors.lake.iceberg import IcebergTable

LakeTable: TypeAlias = DeltaTable | IcebergTable | HudiTable
MarkedTable: TypeAlias = DeltaTable | IcebergTable
"""A table that names the batch in each commit, so that the rows of a batch can be found again."""

MARKED: Mapping[str, type[DeltaTable | IcebergTable]] = {one.kind: one for one in (DeltaTable, IcebergTable)}

_BRANCH = "branch"
_BETWEEN = "@"


def address(table: MarkedTable, options: Mapping[str, Any]) -> str:
    """Return text that says how to get to a table again; the options of a write may name a branch of it."""
    branch = options.get(_BRANCH) if isinstance(table, IcebergTable) else None
    return f"{table.name}{_BETWEEN}{branch}" if branch else table.name


def at_address(kind: str, text: str) -> tuple[MarkedTable, Mapping[str, Any]]:
    """Return the table of an address, and the options that choose its branch."""
    if kind != IcebergTable.kind:
        return MARKED[kind](text), {}
    name, _, branch = text.partition(_BETWEEN)
    return IcebergTable(name), {_BRANCH: branch} if branch else {}
