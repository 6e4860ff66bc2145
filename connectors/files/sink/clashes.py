"""Column names that differ by case only, renamed: Hive, Athena, DuckDB and Spark would take them for one column."""

from __future__ import annotations

from collections.abc import Collection, Sequence

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
