"""Rows of record batches as plain values of Python, for comparison."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from gluepot.connectors.files.formats.retyping import as_type
from gluepot.frames.chunk import is_choice


def plain_rows(batch: pa.RecordBatch) -> list[Any]:
    """Return rows without choices and without nulls in records; dates and timestamps are integers, maps tuples."""
    pairs = list(zip(batch.schema, batch.columns, strict=True))
    columns = [[_plain(value, field) for value in _raw(column).to_pylist()] for field, column in pairs]
    names = batch.schema.names
    return [record(dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)] or [{}] * batch.num_rows


def _raw(column: pa.Array) -> pa.Array:
    """Return dates and time stamps as integers, which have no last year."""
    return as_type(column, _raw_field(pa.field("", column.type)).type)


def _raw_field(one: pa.Field) -> pa.Field:
    kind = one.type
    if pa.types.is_date32(kind):
        return one.with_type(pa.int32())
    if pa.types.is_timestamp(kind):
        return one.with_type(pa.int64())
    if pa.types.is_struct(kind):
        return one.with_type(pa.struct([_raw_field(inner) for inner in kind]))
    if pa.types.is_map(kind):
        return one.with_type(pa.map_(kind.key_field, _raw_field(kind.item_field)))
    return one.with_type(pa.list_(_raw_field(kind.value_field))) if pa.types.is_list(kind) else one


def _plain(value: Any, one: pa.Field) -> Any:
    """Return a value of a column without choices, a map as a tuple of its entries."""
    kind = one.type
    if value is None:
        return None
    if is_choice(one):
        inner = [(member, value[member.name]) for member in kind if value[member.name] is not None]
        return _plain(inner[0][1], inner[0][0]) if inner else None
    if pa.types.is_struct(kind):
        return record({inner.name: _plain(value[inner.name], inner) for inner in kind})
    if pa.types.is_map(kind):
        return entries_of({key: _plain(each, kind.item_field) for key, each in value})
    return [_plain(each, kind.value_field) for each in value] if pa.types.is_list(kind) else value


def record(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields without nulls, in the order of their names."""
    return {name: value for name, value in sorted(fields.items()) if value is not None}


def entries_of(entries: dict[str, Any]) -> tuple[Any, ...]:
    """Return the entries of a map as a tuple."""
    return ("map", *sorted(entries.items()))
