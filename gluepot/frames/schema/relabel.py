"""Choices recognised again after they were plain structs in a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from gluepot.frames.chunk import Chunk
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


@dataclass(frozen=True, slots=True)
class Relabel:
    """A step that gives columns back what a DataFrame does not keep of them: which structs are choices.

    Args:
        schema: fields in the order of the chunks' columns; of equal shape, sizes and units of types may differ.
    """

    schema: pa.Schema

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows with names and choices as in the schema; the errors stay."""
        columns = [_told(column, field) for column, field in zip(columns_of(chunk.batch), self.schema, strict=True)]
        return replace(chunk, batch=batch_of(columns, chunk.batch.num_rows))


def _told(column: Column, field: pa.Field) -> Column:
    kind = field.type
    if pa.types.is_struct(kind):
        children = [_told(child, inner) for child, inner in zip(children_of(column), kind, strict=True)]
        column = struct_column("", children, len(column.array), validity(column.array))
    elif pa.types.is_list(kind):
        column = with_items(column, _told(items_of(column), kind.value_field))
    elif pa.types.is_map(kind):
        column = with_map_values(column, _told(map_values_of(column), kind.item_field))
    return Column(column.field.with_name(field.name).with_metadata(field.metadata), column.array)
