"""How the schema of a stream's records changed from one batch to the next, in kinds that can be counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

ADDED, TYPE = "added", "type"


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """What happened to one column of a stream's records.

    Args:
        column: its name.
        kind: `added` or `type`.
        after: its type now.
        before: its type before; None for a new one.
    """

    column: str
    kind: str
    after: str
    before: str | None = None


def column_changes(before: pa.Schema, after: pa.Schema) -> list[ColumnChange]:
    """Return the columns that are new (`added`) or have another type (`type`). A missing column is not a change."""
    types = {column.name: column.type for column in before}
    return [
        ColumnChange(column.name, TYPE, str(column.type), str(types[column.name]))
        if column.name in types
        else ColumnChange(column.name, ADDED, str(column.type))
        for column in after
        if column.name not in types or column.type != types[column.name]
    ]


def by_kind(changes: Iterable[ColumnChange]) -> Counter[str]:
    """Count changes by kind. Column names are left out: they come from the records, so their number has no limit."""
    return Counter(change.kind for change in changes)
