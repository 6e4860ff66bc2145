"""Columns of any depth, taken apart into their children; put together again without copying values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Column:
    """Values with the field that describes them.

    Args:
        field: name, type and, for a choice, its metadata.
        array: values of exactly `field.type`.
    """

    field: pa.Field
    array: pa.Array

    def renamed(self, name: str) -> Column:
        """Return the same values under another name."""
        return Column(self.field.with_name(name), self.array)


def columns_of(batch: pa.RecordBatch) -> list[Column]:
    """Return the batch's columns in order."""
    return [Column(field, array) for field, array in zip(batch.schema, batch.columns, strict=True)]


def batch_of(columns: Sequence[Column], rows: int) -> pa.RecordBatch:
    """Return a batch of the columns; `rows` counts even when there is no column."""
    # Through a struct, because RecordBatch.from_arrays takes the number of rows from the columns.
    return pa.RecordBatch.from_struct_array(struct_column("", columns, rows).array)


def children_of(column: Column) -> list[Column]:
    """Return the children of a struct, or the alternatives of a choice; null where the parent is null."""
    return [Column(field, array) for field, array in zip(column.field.type, column.array.flatten(), strict=True)]


def struct_column(name: str, children: Sequence[Column], rows: int, valid: pa.BooleanArray | None = None) -> Column:
    """Return a struct of the children.

    Args:
        name: of the new column.
        children: each of `rows` values.
        rows: number of values, also when there are no children.
        valid: which structs are not null, without nulls itself; None for all.
    """
    struct_type = pa.struct([child.field for child in children])
    array = pa.Array.from_buffers(struct_type, rows, [bitmap(valid)], children=[child.array for child in children])
    return Column(pa.field(name, struct_type), array)


def list_column(name: str, items: Column, lengths: Sequence[int], valid: pa.BooleanArray | None = None) -> Column:
    """Return a list column that takes its lists one after the other from `items`.

    Args:
        name: of the new column.
        items: the elements of all lists.
        lengths: of each list; 0 where it is null.
        valid: which lists are not null; None for all.
    """
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    list_type = pa.list_(items.field.with_name("item"))
    buffers = [bitmap(valid), pa.py_buffer(offsets)]
    array = pa.Array.from_buffers(list_type, len(lengths), buffers, children=[items.array])
    return Column(pa.field(name, list_type), array)


def items_of(column: Column) -> Column:
    """Return all elements a list column holds, also those that no list of a slice refers to."""
    return Column(column.field.type.value_field, column.array.values)


def with_items(column: Column, items: Column) -> Column:
    """Return the list column with every element replaced; `items` is as long as `items_of(column)`."""
    list_type = pa.list_(items.field.with_name("item"))
    return Column(pa.field(column.field.name, list_type), _same_offsets(column.array, list_type, items.array))


def map_values_of(column: Column) -> Column:
    """Return all values a map column holds, also those that no map of a slice refers to."""
    return Column(column.field.type.item_field, column.array.items)


def with_map_values(column: Column, values: Column) -> Column:
    """Return the map column with every value replaced; `values` is as long as `map_values_of(column)`."""
    map_type = pa.map_(column.field.type.key_field, values.field.with_name("value"))
    keys = Column(column.field.type.key_field, column.array.keys)
    entries = struct_column("entries", [keys, values.renamed("value")], len(values.array))
    return Column(pa.field(column.field.name, map_type), _same_offsets(column.array, map_type, entries.array))


def map_as_list(column: Column) -> Column:
    """Return a map column as a list of structs with the fields `key` and `value`, in the order of the entries."""
    keys = Column(pa.field("key", column.field.type.key_type), column.array.keys)
    entries = struct_column("item", [keys, map_values_of(column).renamed("value")], len(keys.array))
    list_type = pa.list_(entries.field)
    return Column(pa.field(column.field.name, list_type), _same_offsets(column.array, list_type, entries.array))


def bitmap(valid: pa.BooleanArray | None) -> pa.Buffer | None:
    """Return a mask without nulls as the buffer Arrow keeps validity in; None for all valid."""
    if valid is None:
        return None
    # A slice of a mask starts somewhere inside its buffer; a computed one starts at its beginning.
    return (pa.concat_arrays([valid]) if valid.offset else valid).buffers()[1]


def validity(array: pa.Array) -> pa.BooleanArray | None:
    """Return which values are not null; None for all."""
    return array.is_valid() if array.null_count else None


def _same_offsets(array: pa.Array, new_type: pa.DataType, child: pa.Array) -> pa.Array:
    """Return `array` with another child; its own buffers, so its offset, stay."""
    return pa.Array.from_buffers(new_type, len(array), array.buffers()[:2], offset=array.offset, children=[child])
