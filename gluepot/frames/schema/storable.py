"""Batches in forms that any file format can hold."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from gluepot.frames.chunk import is_choice
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
from gluepot.frames.json_text import json_texts


def without_nulls(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Drop what has no storable type: null columns, structs without fields, lists and maps of these, at any depth."""
    if all(is_storable(field.type) for field in batch.schema):
        return batch
    kept = [_storable(column) for column in columns_of(batch) if _has_values(column.field.type)]
    return batch_of(kept, batch.num_rows)


def storable_field(field: pa.Field) -> pa.Field | None:
    """Return a field as `without_nulls` leaves it; None if nothing is left."""
    if is_storable(field.type):
        return field
    kept = without_nulls(pa.RecordBatch.from_pylist([], schema=pa.schema([field]))).schema
    return kept.field(0) if len(kept) else None


def is_storable(kind: pa.DataType) -> bool:
    """Tell whether `without_nulls` leaves a type as it is."""
    return _has_values(kind) and all(is_storable(field.type) for field in _inner_fields(kind))


def loses_values(have: pa.DataType, wanted: pa.DataType) -> bool:
    """Tell whether `without_nulls` drops values that another type could store.

    Such values are `[]`, `[null]` and structs without values: they have a type only beside other values. A column of
    nulls alone loses nothing.

    Args:
        have: the type of the values.
        wanted: the type of the same column in other rows.
    """
    if not pa.types.is_nested(have):
        return False
    if not _has_values(have):
        return _has_values(wanted)
    if pa.types.is_struct(have):
        others = {field.name: field.type for field in _inner_fields(wanted)}
        return any(loses_values(field.type, others[field.name]) for field in have if field.name in others)
    same_kind = pa.types.is_map(have) == pa.types.is_map(wanted) and not pa.types.is_struct(wanted)
    pairs = zip(_inner_fields(have), _inner_fields(wanted), strict=False) if same_kind else ()
    return any(loses_values(one.type, other.type) for one, other in pairs)


def untyped_values(column: Column) -> int:
    """Return how many values `without_nulls` drops: lists, maps and structs, at any depth, that have no type."""
    kind = column.field.type
    if is_storable(kind) or pa.types.is_null(kind):
        return 0
    if not _has_values(kind):
        return len(column.array) - int(column.array.null_count)
    if pa.types.is_struct(kind):
        return sum(map(untyped_values, children_of(column)))
    return untyped_values(map_values_of(column) if pa.types.is_map(kind) else items_of(column))


def choice_to_string(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Turn every choice, at any depth, into a string column that loses no value.

    Strings stay as they are; numbers, booleans, structs and lists become their JSON text.
    """
    if not any(_holds_choice(field) for field in batch.schema):
        return batch
    return batch_of([_without_choice(column) for column in columns_of(batch)], batch.num_rows)


def _inner_fields(kind: pa.DataType) -> list[pa.Field]:
    if pa.types.is_struct(kind):
        return list(kind)
    if pa.types.is_map(kind):
        return [kind.item_field]
    return [kind.value_field] if pa.types.is_list(kind) else []


def _has_values(kind: pa.DataType) -> bool:
    """Tell whether anything is left after dropping what cannot be stored."""
    if pa.types.is_null(kind):
        return False
    return not pa.types.is_nested(kind) or any(_has_values(field.type) for field in _inner_fields(kind))


def _holds_choice(field: pa.Field) -> bool:
    return is_choice(field) or any(_holds_choice(inner) for inner in _inner_fields(field.type))


def _storable(column: Column) -> Column:
    if is_storable(column.field.type):
        return column
    kept = _with_inner(column, lambda inner: _storable(inner) if _has_values(inner.field.type) else None)
    return Column(kept.field.with_metadata(column.field.metadata), kept.array)


def _without_choice(column: Column) -> Column:
    if is_choice(column.field):
        return Column(pa.field(column.field.name, pa.string()), json_texts(column))
    return _with_inner(column, _without_choice) if _holds_choice(column.field) else column


def _with_inner(column: Column, change: Callable[[Column], Column | None]) -> Column:
    """Rebuild a nested column with its inner columns changed; those of a struct for which `change` is None go."""
    kind = column.field.type
    if pa.types.is_struct(kind):
        changed = [new for child in children_of(column) if (new := change(child)) is not None]
        return struct_column(column.field.name, changed, len(column.array), validity(column.array))
    if pa.types.is_map(kind):
        values = change(map_values_of(column))
        return column if values is None else with_map_values(column, values)
    items = change(items_of(column))
    return column if items is None else with_items(column, items)
