"""Decimals as pyarrow.json reads them: exactly, but for digits that overflow, of which it (26.0) says nothing."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from gluepot.frames.columns import Column, children_of, columns_of, items_of

_DIGITS = 38
WIDE = pa.decimal256(2 * _DIGITS, _DIGITS)
"""The type to read any decimal with, before it is rounded once; exact for numbers below 10**38."""


def as_doubles(kind: pa.DataType) -> pa.DataType | None:
    """Return the part of a type that holds decimals, with doubles in their place; None where there is none."""
    if pa.types.is_struct(kind):
        held = [(child.name, doubles) for child in kind if (doubles := as_doubles(child.type)) is not None]
        return pa.struct(held) if held else None
    if pa.types.is_list(kind):
        item = as_doubles(kind.value_type)
        return None if item is None else pa.list_(item)
    return pa.float64() if pa.types.is_decimal(kind) else None


def hold_in_wide(text: bytes, doubles: pa.StructType) -> bool:
    """Tell whether `WIDE` holds every decimal of some JSON records.

    Args:
        text: records that pyarrow.json reads with decimals of type `WIDE`, one a line.
        doubles: from `as_doubles`.
    """
    try:
        found = pyarrow.json.read_json(
            pa.BufferReader(text),
            pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            pyarrow.json.ParseOptions(explicit_schema=pa.schema(list(doubles)), unexpected_field_behavior="ignore"),
        )
    except pa.ArrowException:  # a decimal in text
        return False
    return all(_is_small(column) for batch in found.to_batches() for column in columns_of(batch))


def _is_small(column: Column) -> bool:
    kind = column.field.type
    if pa.types.is_struct(kind):
        return all(map(_is_small, children_of(column)))
    if pa.types.is_list(kind):
        return _is_small(items_of(column))
    return pc.all(pc.less(pc.abs(column.array), 10.0**_DIGITS)).as_py() is not False
