"""Columns of any depth rewritten in place, innermost first: through structs, choices, lists and maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from gluepot.frames.chunk import is_choice
from gluepot.frames.columns import (
    Column,
    children_of,
    items_of,
    map_values_of,
    struct_column,
    validity,
    with_items,
    with_map_values,
)
from gluepot.frames.transforms.paths import ITEMS, Path

Change = Callable[[Path, Column], Sequence[Column]]
"""Gets a column with its path and returns what takes its place, none to remove it. Where there is room for exactly one
column, as for the elements of a list, the first counts, and none means no change."""


def rewritten(columns: Sequence[Column], change: Change, above: Path = ()) -> list[Column]:
    """Return the columns with `change` applied to each field at any depth, fields inside before those around them.

    An alternative of a choice has the path of its choice. Elements of a list have the path of the list and `ITEMS`, and
    so have the values of a map. Names of alternatives, elements and map values stay.
    """
    return [new for column in columns for new in _rewritten(column, change, (*above, column.field.name))]


def paths_of(fields: Sequence[pa.Field], above: Path = ()) -> Iterator[tuple[Path, pa.Field]]:
    """Yield every field at any depth with its path, as `rewritten` tells them, fields inside before those around."""
    for field in fields:
        yield from _paths_of(field, (*above, field.name))


def _rewritten(column: Column, change: Change, path: Path) -> Sequence[Column]:
    return change(path, _with_new_inside(column, change, path))


def _with_new_inside(column: Column, change: Change, path: Path) -> Column:
    kind = column.field.type
    if is_choice(column.field):
        sides = children_of(column)
        new = [_with_new_inside(side, change, path) for side in sides]
        return column if all(map(_is_same, sides, new)) else _struct(column, new)
    if pa.types.is_struct(kind):
        children = children_of(column)
        new = rewritten(children, change, path)
        return column if len(new) == len(children) and all(map(_is_same, children, new)) else _struct(column, new)
    if pa.types.is_list(kind):
        items = items_of(column)
        found = _rewritten(items, change, (*path, ITEMS))
        return with_items(column, found[0]) if found and not _is_same(items, found[0]) else column
    if pa.types.is_map(kind):
        values = map_values_of(column)
        found = _rewritten(values, change, (*path, ITEMS))
        return with_map_values(column, found[0]) if found and not _is_same(values, found[0]) else column
    return column


def _is_same(old: Column, new: Column) -> bool:
    return old is new


def _struct(column: Column, children: Sequence[Column]) -> Column:
    built = struct_column(column.field.name, children, len(column.array), validity(column.array))
    return Column(built.field.with_metadata(column.field.metadata), built.array)


def _paths_of(field: pa.Field, path: Path) -> Iterator[tuple[Path, pa.Field]]:
    kind = field.type
    if is_choice(field):
        for side in kind:
            yield from _inside(side.type, path)
    else:
        yield from _inside(kind, path)
    yield path, field


def _inside(kind: pa.DataType, path: Path) -> Iterator[tuple[Path, pa.Field]]:
    if pa.types.is_struct(kind):
        yield from paths_of(list(kind), path)
    elif pa.types.is_list(kind):
        yield from _paths_of(kind.value_field, (*path, ITEMS))
    elif pa.types.is_map(kind):
        yield from _paths_of(kind.item_field, (*path, ITEMS))
