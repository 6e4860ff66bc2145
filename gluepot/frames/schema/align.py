"""Converts rows to a wider schema without losing a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

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
from gluepot.frames.schema.integers import are_exact, observed, unmarked
from gluepot.frames.schema.merge import FLOATING, INTEGER, alternatives, family, merge_schemas, slot


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
    """Return the rows of one or more batches, in order, in the merge of their schemas.

    Integers become double where they meet floats and all of them fit; otherwise the column is a choice of both.
    """
    if len(batches) == 1:
        return batches[0]  # pyarrow would copy it
    first = batches[0].schema
    if all(batch.schema.equals(first, check_metadata=True) for batch in batches[1:]):
        merged = first
    else:
        merged = unmarked(reduce(merge_schemas, (observed(batch, keep_choices=True) for batch in batches)))
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
    if is_choice(have):
        held = {slot(one.field.type): one for one in children_of(column)}
        if pa.types.is_floating(wanted.type) and held.keys() == {INTEGER, FLOATING}:
            return _alternative(held, wanted, {FLOATING}, len(column.array))
    if is_choice(have) or family(have.type) != family(wanted.type):
        raise ValueError(f"no place for {have.type} in '{wanted.name}' of {wanted.type}; merge the schemas first.")
    match family(have.type):
        case "struct":
            rows = len(column.array)
            children = _fitted(children_of(column), list(wanted.type), rows)
            return Column(wanted, struct_column("", children, rows, validity(column.array)).array)
        case "array":
            column = _compact(column)
            return Column(wanted, with_items(column, _fit(items_of(column), wanted.type.value_field)).array)
        case "map":
            column = _compact(column)
            values = _fit(map_values_of(column), wanted.type.item_field)
            return Column(wanted, with_map_values(column, values).array)
        case "number":
            return Column(wanted, _number(column, wanted))
        case _:
            return Column(wanted, pc.cast(column.array, wanted.type, safe=False))


def _compact(column: Column) -> Column:
    """Return lists or maps without items that none of them has, because these were not looked at for the schema."""
    array = column.array
    items = array.items if pa.types.is_map(column.field.type) else array.values
    if not array.offset and not array.null_count and len(items) == array.offsets[-1].as_py():
        return column
    return Column(column.field, array.take(pa.array(range(len(array)), pa.int64())))


def _number(column: Column, wanted: pa.Field) -> pa.Array:
    """Return numbers as a wider type that holds each of them exactly."""
    have, target = column.array.type, wanted.type
    is_exact = pa.types.is_integer(have) == pa.types.is_integer(target) or (
        pa.types.is_float64(target) and are_exact(column.array)
    )
    if not is_exact:
        raise ValueError(
            f"no place for the integers of '{wanted.name}' in {target}, which would round some; merge the schemas that"
            " `observed` returns."
        )
    return pc.cast(column.array, target, safe=False)


def _fit_choice(column: Column, wanted: pa.Field) -> Column:
    """Put each value under the alternative of its slot; integers where there is none for them under that of floats."""
    rows = len(column.array)
    if pa.types.is_null(column.field.type):
        return _nulls(wanted, rows)
    held = {slot(one.field.type): one for one in (children_of(column) if is_choice(column.field) else [column])}
    slots = {slot(field.type) for field in alternatives(wanted)}
    if homeless := held.keys() - slots - ({INTEGER} if FLOATING in slots else set()):
        missing = ", ".join(sorted(family(held[one].field.type) for one in homeless))
        raise ValueError(f"no place for {missing} in choice '{wanted.name}'; merge the schemas first.")
    children = [_alternative(held, field, slots, rows) for field in wanted.type]
    return Column(wanted, struct_column("", children, rows, validity(column.array)).array)


def _alternative(held: Mapping[str, Column], wanted: pa.Field, slots: set[str], rows: int) -> Column:
    """Return the values of one alternative, or of a plain number, from those that were held by slot."""
    of = slot(wanted.type)
    taken = [INTEGER, FLOATING] if of == FLOATING and INTEGER not in slots else [of]
    parts = [_fit(held[one], wanted) for one in taken if one in held]
    if len(parts) > 1:
        return Column(wanted, pc.coalesce(*(part.array for part in parts)))
    return parts[0] if parts else _nulls(wanted, rows)
