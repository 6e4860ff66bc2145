"""Timestamps with a zone in their type, which are instants, at any depth of a column. Keys of maps are left alone."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

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

_UTC = "UTC"


def is_instant(kind: pa.DataType) -> bool:
    """Return whether values of a type are instants."""
    return pa.types.is_timestamp(kind) and kind.tz is not None


def has_instants(kind: pa.DataType) -> bool:
    """Return whether values of a type are instants, or hold some."""
    return is_instant(kind) or any(map(has_instants, _inside(kind)))


def in_utc(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows whose instants all have the zone UTC in their type. Spark's have that of its session."""
    if not any(_is_foreign(field.type) for field in batch.schema):
        return batch
    columns = [_with_leaves(column, _relabelled) for column in columns_of(batch)]
    return batch_of(columns, batch.num_rows)


def as_micros(column: Column) -> Column:
    """Return a column whose instants are numbers of microseconds from 1970 UTC."""
    return _with_leaves(column, _micros)


def _inside(kind: pa.DataType) -> list[pa.DataType]:
    if pa.types.is_struct(kind):
        return [field.type for field in kind]
    if pa.types.is_map(kind):
        return [kind.item_type]
    return [kind.value_type] if pa.types.is_list(kind) else []


def _is_foreign(kind: pa.DataType) -> bool:
    return kind.tz != _UTC if is_instant(kind) else any(map(_is_foreign, _inside(kind)))


def _relabelled(array: pa.Array) -> pa.Array:
    return pc.cast(array, pa.timestamp(array.type.unit, _UTC))


def _micros(array: pa.Array) -> pa.Array:
    return pc.cast(pc.cast(array, pa.timestamp("us", array.type.tz), safe=False), pa.int64())


def _with_leaves(column: Column, change: Callable[[pa.Array], pa.Array]) -> Column:
    field, kind = column.field, column.field.type
    if is_instant(kind):
        changed = change(column.array)
        return Column(field.with_type(changed.type), changed)
    if not has_instants(kind):
        return column
    if pa.types.is_struct(kind):
        children = [_with_leaves(child, change) for child in children_of(column)]
        made = struct_column(field.name, children, len(column.array), validity(column.array))
    elif pa.types.is_map(kind):
        made = with_map_values(column, _with_leaves(map_values_of(column), change))
    else:
        made = with_items(column, _with_leaves(items_of(column), change))
    return Column(field.with_type(made.field.type), made.array)
