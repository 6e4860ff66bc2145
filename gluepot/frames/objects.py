"""Turns Python records into columns: one type per field if the records agree, else a choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.columns import Column, batch_of, list_column, struct_column
from gluepot.frames.schema.glue_types import TIMESTAMP
from gluepot.frames.schema.integers import MOST
from gluepot.frames.schema.merge import choice_field, slot
from gluepot.frames.time_zone import UTC, TimeZone, instant_micros

_Builder: TypeAlias = Callable[[str, Sequence[Any], TimeZone], Column]

BIG = pa.decimal128(38, 0)
"""The type of integers beyond 64 bits; those of more than 38 digits are text (docs/decisions/0063)."""
# The ends of 64 bits, and of 38 digits. (`in` a range would count up to an integer of a subclass of `int`.)
_LEAST, _MOST = -(2**63), 2**63 - 1
_MOST_BIG = 10**38 - 1


def batch_from_objects(records: Sequence[Mapping[str, Any]], zone: TimeZone = UTC) -> pa.RecordBatch:
    """Return one row per record; fields in the order first seen, types those of the values.

    Integers are long. Where their field has floats, too, they are double if a double holds each of them exactly.
    Integers beyond 64 bits are decimal(38,0), those of more than 38 digits are strings. Absent and None are both null.

    Args:
        records: from a script's function.
        zone: the zone of datetimes without one.

    Raises:
        TypeError: Glue has no type for a value, or a key is not a string.
        ValueError: a value does not fit its type, such as text with lone surrogates.
        OverflowError: an integer exceeds the range of double.
    """
    return batch_of(_fields(records, zone), len(records))


def _fields(records: Sequence[Mapping[str, Any] | None], zone: TimeZone) -> list[Column]:
    shapes = dict.fromkeys(None if record is None else tuple(record) for record in records)
    names = dict.fromkeys(name for shape in shapes if shape is not None for name in shape)
    if odd := [name for name in names if not isinstance(name, str)]:
        raise TypeError(f"key {odd[0]!r} is not a string; name fields by strings.")
    if len(shapes) == 1:  # as nearly always: all have the same fields in the same order
        columns = zip(*(record.values() for record in records if record is not None), strict=True)
        return [_column(name, values, zone) for name, values in zip(names, columns, strict=True)]
    return [_column(name, [None if record is None else record.get(name) for record in records], zone) for name in names]


def _column(name: str, values: Sequence[Any], zone: TimeZone) -> Column:
    kinds = {_kind(of) for of in set(map(type, values))} - {"null"}
    if "integer" in kinds:
        values, kinds = _without_big(values, kinds)
    if {"integer", "floating"} <= kinds and all(map(_fits_double, filter(_is_integer, values))):
        kinds -= {"integer"}
        values = [float(value) if _is_integer(value) else value for value in values]
    if not kinds:
        return Column(pa.field(name, pa.null()), pa.nulls(len(values)))
    if len(kinds) == 1:
        return _BUILDERS[kinds.pop()](name, values, zone)
    return _choice(name, values, kinds, zone)


def _without_big(values: Sequence[Any], kinds: set[str]) -> tuple[Sequence[Any], set[str]]:
    """Replace integers beyond 64 bits by decimals, or by texts; return the values and their kinds."""
    integers = list(filter(_is_integer, values))
    if min(integers) >= _LEAST and max(integers) <= _MOST:
        return values, kinds
    values = [_smaller(value) if _is_integer(value) else value for value in values]
    return values, {_kind(of) for of in set(map(type, values))} - {"null"}


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _smaller(value: int) -> int | Decimal | str:
    if _LEAST <= value <= _MOST:
        return value
    if -_MOST_BIG <= value <= _MOST_BIG:
        return Decimal(value)
    float(value)  # what no double comes near is refused, as it was before
    return str(value)


def _fits_double(value: int) -> bool:
    return -MOST <= value <= MOST


def _choice(name: str, values: Sequence[Any], kinds: set[str], zone: TimeZone) -> Column:
    by_slot = {}
    for kind in kinds:
        column = _BUILDERS[kind]("", [value if _kind(type(value)) == kind else None for value in values], zone)
        by_slot[slot(column.field.type)] = column
    field = choice_field(name, [column.field for column in by_slot.values()])
    children = [by_slot[slot(one.type)].renamed(one.name) for one in field.type]
    valid = pa.array([value is not None for value in values])
    return Column(field, struct_column("", children, len(values), valid).array)


def _kind(of: type) -> str:
    """Return the kind of builder for values of a Python type."""
    for base in of.__mro__:
        if (kind := _KINDS.get(base)) is not None:
            return kind
    raise TypeError(f"a value of Python's {of.__name__} has no place in a record; use a type that JSON or Glue knows.")


def _scalars(arrow_type: pa.DataType) -> _Builder:
    def build(name: str, values: Sequence[Any], _: TimeZone) -> Column:
        array = pa.array(values, arrow_type)
        return Column(pa.field(name, array.type), array)

    return build


def _decimals(name: str, values: Sequence[Decimal | None], _: TimeZone) -> Column:
    """Return decimals of as many digits as they need; integers beyond 64 bits are `BIG` whatever they need."""
    array = pa.array(values)
    kind = array.type
    if kind.scale == 0 and pa.types.is_decimal128(kind) and max(map(abs, filter(None, values)), default=0) >= 2**63:
        array = pa.array(values, BIG)
    return Column(pa.field(name, array.type), array)


def _structs(name: str, values: Sequence[Mapping[str, Any] | None], zone: TimeZone) -> Column:
    return struct_column(name, _fields(values, zone), len(values), pa.array([value is not None for value in values]))


def _timestamps(name: str, values: Sequence[datetime | None], zone: TimeZone) -> Column:
    if not zone.is_utc and any(value is not None and value.tzinfo is None for value in values):
        return Column(pa.field(name, TIMESTAMP), _in_zone(values, zone))
    return Column(pa.field(name, TIMESTAMP), pa.array(values, TIMESTAMP))


def _in_zone(values: Sequence[datetime | None], zone: TimeZone) -> pa.Array:
    """Return instants; a datetime without a zone is what the zone's clocks show. `fold` counts, as in PEP 495."""
    is_local = [value is not None and value.tzinfo is None and not value.fold for value in values]
    shown = [value if local else None for value, local in zip(values, is_local, strict=True)]
    others = [
        value if value is None or value.tzinfo is not None else value.replace(tzinfo=zone.tzinfo)
        for value in (None if local else value for value, local in zip(values, is_local, strict=True))
    ]
    local = pa.array(shown, pa.timestamp("us")).cast(pa.int64())
    return pc.coalesce(instant_micros(local, zone).cast(TIMESTAMP), pa.array(others, TIMESTAMP))


def _lists(name: str, values: Sequence[Sequence[Any] | None], zone: TimeZone) -> Column:
    items = _column("item", [item for value in values if value is not None for item in value], zone)
    lengths = [0 if value is None else len(value) for value in values]
    return list_column(name, items, lengths, pa.array([value is not None for value in values]))


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "floating",
    str: "string",
    dict: "struct",
    list: "array",
    tuple: "array",
    bytes: "binary",
    bytearray: "binary",
    Decimal: "decimal",
    datetime: "timestamp",
    date: "date",
}
_BUILDERS: dict[str, _Builder] = {
    "boolean": _scalars(pa.bool_()),
    "integer": _scalars(pa.int64()),
    "floating": _scalars(pa.float64()),
    "string": _scalars(pa.string()),
    "struct": _structs,
    "array": _lists,
    "binary": _scalars(pa.binary()),
    "decimal": _decimals,
    "timestamp": _timestamps,
    "date": _scalars(pa.date32()),
}
