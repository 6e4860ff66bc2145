"""Chunks as plain Python rows, for show(), Filter, Map and tests."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pyarrow as pa

from gluepot.frames.chunk import Chunk, is_choice
from gluepot.frames.columns import Column, columns_of
from gluepot.frames.time_zone import UTC, TimeZone, datetime_at
from gluepot.frames.timestamps import as_micros, has_instants, is_instant


def rows(
    chunk: Chunk,
    record: type[dict[str, Any]] = dict,
    only: Collection[str] | None = None,
    zone: TimeZone = UTC,
) -> Iterator[dict[str, Any]]:
    """Yield the good records in order; every column is a key, a missing value is None, a choice is its one value.

    Args:
        chunk: the records.
        record: class of the records, and of every struct and map in them.
        only: columns to keep to; None for all.
        zone: the zone of timestamps.
    """
    columns = [one for one in columns_of(chunk.batch) if only is None or one.field.name in only]
    if not columns:
        yield from (record() for _ in range(chunk.batch.num_rows))
        return
    names = [column.field.name for column in columns]
    for values in zip(*(plain_values(column, record, zone) for column in columns), strict=True):
        yield record(zip(names, values, strict=True))


def plain_values(column: Column, record: type[dict[str, Any]] = dict, zone: TimeZone = UTC) -> list[Any]:
    """Return a column's values as Python objects, choices unwrapped at any depth, structs and maps as `record`."""
    if not zone.is_utc and has_instants(column.field.type):
        # As numbers, because a time that Python has in this zone may be in the year 10000 in UTC.
        numbers: list[Any] = as_micros(column).array.to_pylist()
        return [_unwrapped(value, column.field, record, zone) for value in numbers]
    values: list[Any] = column.array.to_pylist()
    return values if _is_plain(column.field) else [_unwrapped(value, column.field, record) for value in values]


def _is_plain(field: pa.Field) -> bool:
    """Tell whether Arrow's own Python values are as they should be."""
    kind = field.type
    return _is_plain(kind.value_field) if pa.types.is_list(kind) else not pa.types.is_nested(kind)


def _unwrapped(value: Any, field: pa.Field, record: type[dict[str, Any]], zone: TimeZone | None = None) -> Any:
    """Return a value; with a zone, instants are given as numbers of microseconds."""
    kind = field.type
    if value is None:
        return None
    if not pa.types.is_nested(kind):
        return value if zone is None or not is_instant(kind) else datetime_at(value, zone)
    if is_choice(field):
        return next(
            (_unwrapped(value[one.name], one, record, zone) for one in kind if value[one.name] is not None), None
        )
    if pa.types.is_struct(kind):
        return record((child.name, _unwrapped(value[child.name], child, record, zone)) for child in kind)
    if pa.types.is_map(kind):
        return record((key, _unwrapped(item, kind.item_field, record, zone)) for key, item in value)
    return [_unwrapped(item, kind.value_field, record, zone) for item in value]
