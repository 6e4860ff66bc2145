"""Chunks as plain Python rows, for show(), Filter, Map and tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from dynamicframe.chunk import Chunk, is_choice
from dynamicframe.columns import Column, columns_of


def rows(chunk: Chunk) -> Iterator[dict[str, Any]]:
    """Yield the good records in order; every column is a key, a missing value is None, a choice is its one value."""
    columns = columns_of(chunk.batch)
    if not columns:
        yield from ({} for _ in range(chunk.batch.num_rows))
        return
    names = [column.field.name for column in columns]
    for values in zip(*map(plain_values, columns), strict=True):
        yield dict(zip(names, values, strict=True))


def plain_values(column: Column) -> list[Any]:
    """Return a column's values as Python objects, choices unwrapped at any depth, maps as dicts."""
    values = column.array.to_pylist()
    return [_unwrapped(value, column.field) for value in values] if pa.types.is_nested(column.field.type) else values


def _unwrapped(value: Any, field: pa.Field) -> Any:
    kind = field.type
    if value is None or not pa.types.is_nested(kind):
        return value
    if is_choice(field):
        return next((_unwrapped(value[one.name], one) for one in kind if value[one.name] is not None), None)
    if pa.types.is_struct(kind):
        return {child.name: _unwrapped(value[child.name], child) for child in kind}
    if pa.types.is_map(kind):
        return {key: _unwrapped(item, kind.item_field) for key, item in value}
    return [_unwrapped(item, kind.value_field) for item in value]
