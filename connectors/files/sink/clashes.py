"""Column names that differ by case only, renamed: Hive, Athena, DuckDB and Spark would take them for one column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import pyarrow as pa

from gluepot.frames.columns import (
    Column,
    batch_of,
    children_of,
    columns_of,
    items_of,
    map_values_of,
    struct_column,
    validity,
    with_items,
    with_map_values,
)

Path = tuple[str, ...]
"""The names of the fields from a column, which is left out, to one inside of it."""

_INNER = "[]"  # stands for the elements of a list, and for the values of a map


def without_clashes(batch: pa.RecordBatch, taken: Collection[str] = ()) -> pa.RecordBatch:
    """Rename what clashes, at any depth; values and order stay.

    Of the names that differ by case only, the one in lower case stays, or else the first in alphabetical order; the
    others get `_1`, `_2`, ... in that order. So the result does not depend on the order of the columns.

    Args:
        batch: any rows.
        taken: names that no column may have, in any case: the partition keys.
    """
    if not _clashes(batch.schema.names, taken) and not any(_clash_within(field.type) for field in batch.schema):
        return batch
    return batch_of(_renamed(columns_of(batch), taken), batch.num_rows)


def new_names(names: Sequence[str], taken: Collection[str] = ()) -> Sequence[str]:
    """Return a name for each name, no two of them equal when case is ignored."""
    used = {name.lower() for name in taken}
    chosen: dict[str, str] = {}
    for name in sorted(names, key=lambda name: (name.lower(), name != name.lower(), name)):
        candidate, attempt = name, 0
        while candidate.lower() in used or (attempt and candidate in names):
            attempt += 1
            candidate = f"{name}_{attempt}"
        used.add(candidate.lower())
        chosen[name] = candidate
    return [chosen[name] for name in names]


def names_within(kind: pa.DataType, known: Mapping[Path, str], earlier: pa.DataType | None = None) -> dict[Path, str]:
    """Return what files call the fields inside of a column, by their paths, where names differ by case only.

    A field keeps the name that it has in earlier files.

    Args:
        kind: the type of the column.
        known: names from an earlier call.
        earlier: the type that the column had then; None if it is new.
    """
    if not _clash_within(kind):
        return {}
    return dict(_names_within(kind, known, earlier, ()))


def renamed_within(column: Column, names: Mapping[Path, str], path: Path = ()) -> Column:
    """Return a column with the names of `names_within` for the fields inside of it."""
    kind = column.field.type
    if pa.types.is_struct(kind):
        children = []
        for child in children_of(column):
            inside = (*path, child.field.name)
            children.append(renamed_within(child, names, inside).renamed(names.get(inside, child.field.name)))
        return struct_column(column.field.name, children, len(column.array), validity(column.array))
    if pa.types.is_map(kind):
        return with_map_values(column, renamed_within(map_values_of(column), names, (*path, _INNER)))
    if pa.types.is_list(kind):
        return with_items(column, renamed_within(items_of(column), names, (*path, _INNER)))
    return column


def paths_within(kind: pa.DataType, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all fields inside of a column."""
    if pa.types.is_struct(kind):
        for field in kind:
            yield (*path, field.name)
            yield from paths_within(field.type, (*path, field.name))
    elif (inner := _inner(kind)) is not None:
        yield from paths_within(inner, (*path, _INNER))


def _names_within(
    kind: pa.DataType, known: Mapping[Path, str], earlier: pa.DataType | None, path: Path
) -> Iterator[tuple[Path, str]]:
    if pa.types.is_struct(kind):
        before = {field.name: field.type for field in earlier} if earlier and pa.types.is_struct(earlier) else {}
        names = [field.name for field in kind]
        if _clashes(names):
            # Fields without a known name came together, and were named together.
            together = [name for name in names if name in before and (*path, name) not in known]
            stored = {name: known[*path, name] for name in names if (*path, name) in known}
            stored |= zip(together, new_names(together), strict=True)
            new = [name for name in names if name not in stored]
            stored |= zip(new, new_names(new, list(stored.values())), strict=True)
            yield from (((*path, name), stored[name]) for name in names)
        for field in kind:
            yield from _names_within(field.type, known, before.get(field.name), (*path, field.name))
    elif (inner := _inner(kind)) is not None:
        yield from _names_within(inner, known, _inner(earlier) if earlier else None, (*path, _INNER))


def _inner(kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_map(kind):
        return kind.item_type
    return kind.value_type if pa.types.is_list(kind) else None


def _clashes(names: Sequence[str], taken: Collection[str] = ()) -> bool:
    return len({name.lower() for name in (*names, *taken)}) < len(names) + len(taken)


def _clash_within(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return _clashes([field.name for field in kind]) or any(_clash_within(field.type) for field in kind)
    if pa.types.is_map(kind):
        return _clash_within(kind.item_type)
    return pa.types.is_list(kind) and _clash_within(kind.value_type)


def _renamed(columns: Sequence[Column], taken: Collection[str] = ()) -> list[Column]:
    names = new_names([column.field.name for column in columns], taken)
    return [_within(column).renamed(name) for column, name in zip(columns, names, strict=True)]


def _within(column: Column) -> Column:
    kind = column.field.type
    if not _clash_within(kind):
        return column
    if pa.types.is_struct(kind):
        children = _renamed(children_of(column))
        return struct_column(column.field.name, children, len(column.array), validity(column.array))
    if pa.types.is_map(kind):
        return with_map_values(column, _within(map_values_of(column)))
    return with_items(column, _within(items_of(column)))
