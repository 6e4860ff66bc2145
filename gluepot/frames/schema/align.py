"""Converts rows to a wider schema without losing a value."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

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
from gluepot.frames.schema.merge import alternatives, family, merge_schemas


def align(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the rows in exactly `schema`: fields in its order, missing ones null, values converted.

    Args:
        batch: any rows.
        schema: a merge of the batch's schema with others.

    Raises:
        ValueError: a value of the batch would have no place in the schema.
    """
    if batch.schema.equals(schema, check_metadata=True):
        return batch
    columns = _fitted(columns_of(batch), list(schema), batch.num_rows)
    return batch_of(columns, batch.num_rows)


def concat(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the rows of one or more batches, in order, in the merge of their schemas."""
    if len(batches) == 1:
        return batches[0]  # pyarrow would copy it
    merged = batches[0].schema
    for batch in batches[1:]:
        merged = merge_schemas(merged, batch.schema)
    return pa.concat_batches([align(batch, merged) for batch in batches])


def _fitted(columns: Sequence[Column], fields: Sequence[pa.Field], rows: int) -> list[Column]:
    by_name = {column.field.name: column for column in columns}
    if homeless := by_name.keys() - {field.name for field in fields}:
        raise ValueError(f"no place for {', '.join(sorted(homeless))} in the schema; merge the schemas first.")
    return [_fit(by_name[field.name], field) if field.name in by_name else _nulls(field, rows) for field in fields]


def _nulls(field: pa.Field, rows: int) -> Column:
    return Column(field, pa.nulls(rows, field.type))


def _fit(column: Column, wanted: pa.Field) -> Column:
    have = column.field
    if is_choice(wanted):
        return _fit_choice(column, wanted)
    if have.type.equals(wanted.type, check_metadata=True):
        return Column(wanted, column.array)
    if pa.types.is_null(have.type):
        return _nulls(wanted, len(column.array))
    if is_choice(have) or family(have.type) != family(wanted.type):
        raise ValueError(f"no place for {have.type} in '{wanted.name}' of {wanted.type}; merge the schemas first.")
    match family(have.type):
        case "struct":
            rows = len(column.array)
            children = _fitted(children_of(column), list(wanted.type), rows)
            return Column(wanted, struct_column("", children, rows, validity(column.array)).array)
        case "array":
            return Column(wanted, with_items(column, _fit(items_of(column), wanted.type.value_field)).array)
        case "map":
            values = _fit(map_values_of(column), wanted.type.item_field)
            return Column(wanted, with_map_values(column, values).array)
        case _:
            return Column(wanted, pc.cast(column.array, wanted.type, safe=False))


def _fit_choice(column: Column, wanted: pa.Field) -> Column:
    """Put each value under the alternative of its family."""
    rows = len(column.array)
    if pa.types.is_null(column.field.type):
        return _nulls(wanted, rows)
    held = children_of(column) if is_choice(column.field) else [column]
    by_family = {family(one.field.type): one for one in held}
    if homeless := by_family.keys() - {family(field.type) for field in alternatives(wanted)}:
        missing = ", ".join(sorted(homeless))
        raise ValueError(f"no place for {missing} in choice '{wanted.name}'; merge the schemas first.")
    children = [
        _fit(by_family[family(field.type)], field) if family(field.type) in by_family else _nulls(field, rows)
        for field in wanted.type
    ]
    return Column(wanted, struct_column("", children, rows, validity(column.array)).array)
