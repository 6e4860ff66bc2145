"""Unnest: structs taken apart into fields with dotted names (docs/glue 6.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from gluepot.frames.chunk import Chunk, is_choice
from gluepot.frames.columns import (
    Column,
    batch_of,
    children_of,
    columns_of,
    items_of,
    struct_column,
    validity,
    with_items,
)
from gluepot.frames.transforms.naming import refuse_twins


@dataclass(frozen=True, slots=True)
class Unnest:
    """Makes the fields of structs fields of the record, `a.b` for the field `b` of `a`.

    Arrays stay; in an array `a` of structs the fields of the elements are taken apart in the same way and are called
    `a.val.b`. Choices stay, and so do maps, whose keys are data. A null struct gives null fields, one without fields
    disappears.

    Raises:
        ConfigError: two fields would have one name.
    """

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows flat; the errors stay."""
        columns = [_with_flat_items(column) for column in flattened(columns_of(chunk.batch))]
        return replace(chunk, batch=batch_of(columns, chunk.batch.num_rows))


def flattened(columns: Sequence[Column], separator: str = ".", max_levels: int | None = None) -> list[Column]:
    """Return the columns with structs taken apart.

    Args:
        columns: any.
        separator: between the names of a struct and its field.
        max_levels: how many structs to take apart on the way to a field; None for all of them.

    Raises:
        ConfigError: two columns would have one name.
    """
    flat = [flat for column in columns for flat in _apart(column, separator, max_levels)]
    refuse_twins(Counter(column.field.name for column in flat))
    return flat


def _apart(column: Column, separator: str, levels: int | None) -> list[Column]:
    if levels == 0 or is_choice(column.field) or not pa.types.is_struct(column.field.type):
        return [column]
    deeper = None if levels is None else levels - 1
    return [
        flat
        for child in children_of(column)
        for flat in _apart(child.renamed(f"{column.field.name}{separator}{child.field.name}"), separator, deeper)
    ]


def _with_flat_items(column: Column) -> Column:
    kind = column.field.type
    if not pa.types.is_list(kind) or not pa.types.is_struct(kind.value_type) or is_choice(kind.value_field):
        return column
    items = items_of(column)
    flat = flattened([items.renamed(f"{column.field.name}.val")])
    return with_items(column, struct_column("item", flat, len(items.array), validity(items.array)))
