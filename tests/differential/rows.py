"""Rows as text in which every value is exact."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import pyarrow as pa


def text(table: pa.Table, *, is_ordered: bool) -> str:
    """Return types and rows as text, exactly: each floating-point number by its bits."""
    columns = [_values(column.combine_chunks()) for column in table.columns]
    rows = [repr(row) for row in zip(*columns, strict=True)]
    types = ", ".join(f"{field.name} {field.type}" for field in table.schema)
    return "\n".join([types, *(rows if is_ordered else sorted(rows))])


def _values(array: pa.Array) -> Sequence[object]:
    kind = array.type
    if pa.types.is_floating(kind):
        return [None if one is None else _number(one) for one in array.to_pylist()]
    if pa.types.is_date32(kind):
        return list(array.cast(pa.int32()).to_pylist())
    if pa.types.is_timestamp(kind):
        return list(array.cast(pa.int64()).to_pylist())
    if pa.types.is_list(kind):
        inner = _values(array.flatten())
        at, found = 0, []
        for length in array.value_lengths().to_pylist():
            found.append(None if length is None else inner[at : at + length])
            at += length or 0
        return found
    if pa.types.is_map(kind):
        pairs = list(zip(_values(array.keys), _values(array.items), strict=True))
        ends = array.offsets.to_pylist()
        each = zip(ends, ends[1:], array.is_valid().to_pylist(), strict=False)
        return [pairs[first:last] if is_valid else None for first, last, is_valid in each]
    if pa.types.is_struct(kind):
        fields = [_values(array.field(at).filter(array.is_valid())) for at in range(kind.num_fields)]
        rows = iter(zip(*fields, strict=True))
        return [next(rows) if is_valid else None for is_valid in array.is_valid().to_pylist()]
    try:
        return list(array.to_pylist())
    except UnicodeDecodeError:
        return list(array.cast(pa.binary()).to_pylist())


def _number(value: float) -> str:
    return "nan" if math.isnan(value) else f"{value!r} {struct.pack('>d', value).hex()}"
