"""Columns taken out, renamed or put in, at any depth of structs. Paths do not lead into choices or lists."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.chunk import is_choice
from gluepot.frames.columns import Column, children_of, struct_column, validity
from gluepot.frames.transforms.paths import Path


def only(columns: Sequence[Column], paths: Collection[Path], above: Path = ()) -> list[Column]:
    """Return the columns at the paths, with the structs that lead to them."""
    kept = []
    for column in columns:
        path = (*above, column.field.name)
        if path in paths:
            kept.append(column)
        elif _is_struct(column) and (inner := only(children_of(column), paths, path)):
            kept.append(_rebuilt(column, inner))
    return kept


def without(columns: Sequence[Column], paths: Collection[Path], above: Path = ()) -> list[Column]:
    """Return the columns but for those at the paths; a struct that loses its last field is gone, too."""
    kept = []
    for column in columns:
        path = (*above, column.field.name)
        if path in paths:
            continue
        if not any(one[: len(path)] == path for one in paths) or not _is_struct(column):
            kept.append(column)
        elif inner := without(children_of(column), paths, path):
            kept.append(_rebuilt(column, inner))
    return kept


def renamed(columns: Sequence[Column], path: Path, name: str) -> list[Column]:
    """Return the columns with the one at the path, which exists, under another name in the same place."""
    return [
        column
        if column.field.name != path[0]
        else column.renamed(name)
        if len(path) == 1
        else _rebuilt(column, renamed(children_of(column), path[1:], name))
        for column in columns
    ]


def put(columns: Sequence[Column], path: Path, added: Column) -> list[Column]:
    """Return the columns with one more at the path, replacing what is there; structs on the way are made as needed."""
    at = next((index for index, column in enumerate(columns) if column.field.name == path[0]), len(columns))
    there = columns[at] if at < len(columns) else None
    if len(path) == 1:
        new = added.renamed(path[0])
    elif there is not None and _is_struct(there):
        # The added value needs its struct also where that was null.
        valid = pc.or_(there.array.is_valid(), added.array.is_valid())
        inner = put(children_of(there), path[1:], added)
        new = struct_column(path[0], inner, len(added.array), valid)
    else:
        inner = put([], path[1:], added)
        new = struct_column(path[0], inner, len(added.array), validity(added.array))
    return [*columns[:at], new, *columns[at + 1 :]]


def _is_struct(column: Column) -> bool:
    return pa.types.is_struct(column.field.type) and not is_choice(column.field)


def _rebuilt(column: Column, children: Sequence[Column]) -> Column:
    return struct_column(column.field.name, children, len(column.array), validity(column.array))
