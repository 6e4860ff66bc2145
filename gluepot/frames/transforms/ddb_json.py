"""DynamoDB's JSON, where every value says its type (`{"S": "text"}`), as plain records (docs/glue 6.2).

The table export and streams of DynamoDB write it so. Numbers stay text: DynamoDB writes them as text because they have
38 digits. Binary values stay base64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

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
from gluepot.frames.schema import align, merge_fields
from gluepot.frames.transforms.unnest import flattened

_TYPES = frozenset({"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"})
_RECORD = "Item"


@dataclass(frozen=True, slots=True)
class SimplifyDdbJson:
    """Replaces typed values by the values, at any depth: maps become structs, lists and sets arrays, NULL a null.

    An attribute that has several types over the records becomes a choice. Values without a type stay unchanged.
    """

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows without types; the errors stay."""
        return replace(chunk, batch=batch_of(_attributes(chunk.batch, lists=True), chunk.batch.num_rows))


@dataclass(frozen=True, slots=True)
class UnnestDdbJson:
    """Replaces typed values by the values and takes maps apart into fields with dotted names; lists stay."""

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows flat; the errors stay."""
        return replace(chunk, batch=batch_of(flattened(_attributes(chunk.batch, lists=False)), chunk.batch.num_rows))


def _attributes(batch: pa.RecordBatch, *, lists: bool) -> list[Column]:
    """Return the attributes of the records, those inside `Item` where an export wraps them in it, as plain columns."""
    columns = columns_of(batch)
    found = [
        inner
        for column in columns
        for inner in (children_of(column) if _is_struct(column) and column.field.name == _RECORD else [column])
    ]
    return [_plain(column, lists=lists) for column in found]


def _plain(column: Column, *, lists: bool) -> Column:
    if not _is_struct(column):
        return column
    typed = children_of(column)
    if not typed or not {one.field.name for one in typed} <= _TYPES:
        return column
    # NULL is null, also where no other record has a type: otherwise it would depend on the other records of a chunk.
    told = [side for side in typed if side.field.name != "NULL"]
    if not told:
        return Column(pa.field(column.field.name, pa.null()), pa.nulls(len(column.array)))
    return _one_of(column.field.name, [_value(side, lists=lists) for side in told])


def _value(typed: Column, *, lists: bool) -> Column:
    if typed.field.name == "M" and _is_struct(typed):
        inner = [_plain(child, lists=lists) for child in children_of(typed)]
        return struct_column("", inner, len(typed.array), validity(typed.array))
    if typed.field.name == "L" and lists and pa.types.is_list(typed.field.type):
        return with_items(typed, _plain(items_of(typed), lists=lists))
    return typed


def _one_of(name: str, sides: Sequence[Column]) -> Column:
    """Return a column of whichever value a row has; a choice where the sides are of different types."""
    renamed = [side.renamed(name) for side in sides]
    if len(renamed) == 1:
        return renamed[0]
    merged = reduce(merge_fields, [side.field for side in renamed])
    rows = len(renamed[0].array)
    fitted = [align(batch_of([side], rows), pa.schema([merged])).column(0) for side in renamed]
    return Column(merged, pc.coalesce(*fitted))


def _is_struct(column: Column) -> bool:
    return pa.types.is_struct(column.field.type) and not is_choice(column.field)
