"""Turns Python records into columns: one type per field if the records agree, else a choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from gluepot.frames.columns import Column, batch_of, list_column, struct_column
from gluepot.frames.schema.glue_types import TIMESTAMP
from gluepot.frames.schema.integers import MOST
from gluepot.frames.schema.merge import choice_field, slot

BIG = pa.decimal128(38, 0)
"""The type of integers beyond 64 bits; those of more than 38 digits are text (docs/decisions/0063)."""
# The ends of 64 bits, and of 38 digits. (`in` a range would count up to an integer of a subclass of `int`.)
_LEAST, _MOST = -(2**63), 2**63 - 1
_MOST_BIG = 10**38 - 1


def batch_from_objects(records: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Return one row per record; fields in the order first seen, types those of the values.

    Integers are long. Where their field has floats, too, they are double if a double holds each of them exactly.
    Integers beyond 64 bits are decimal(38,0), those of more than 38 digits are strings. Absent and None are both null.

    Raises:
        TypeError: Glue has no type for a value, or a key is not a string.
        ValueError: a value does not fit its type, such as text with lone surrogates.
        OverflowError: an integer exceeds the range of double.
    """
    return batch_of(_fields(records), len(records))


def _fields(records: Sequence[Mapping[str, Any] | None]) -> list[Column]:
    shapes = dict.fromkeys(None if record is None else tuple(record) for record in records)
    names = dict.fromkeys(name for shape in shapes if shape is not None for name in shape)
    if odd := [name for name in names if not isinstance(name, str)]:
        raise TypeError(f"key {odd[0]!r} is not a string; name fields by strings.")
    if len(shapes) == 1:  # as nearly always: all have the same fields in the same order
        columns = zip(*(record.values() for record in records if record is not None), strict=True)
        return [_column(name, values) for name, values in zip(names, columns, strict=True)]
    return [_column(name, [None if record is None else record.get(name) for record in records]) for name in names]


def _column(name: str, values: Sequence[Any]) -> Column:
    kinds = {_kind(of) for of in set(map(type, values))} - {"null"}
    if "integer" in kinds:
        values, kinds = _without_big(values, kinds)
    if {"integer", "floating"} <= kinds and all(map(_fits_double, filter(_is_integer, values))):
        kinds -= {"integer"}
        values = [float(value) if _is_integer(value) else value for value in values]
    if not kinds:
        return Column(pa.field(name, pa.null()), pa.nulls(len(values)))
    if len(kinds) == 1:
        return _BUILDERS[kinds.pop()](name, values)
    return _choice(name, values, kinds)


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


def _choice(name: str, values: Sequence[Any], kinds: set[str]) -> Column:
    by_slot = {}
    for kind in kinds:
        column = _BUILDERS[kind]("", [value if _kind(type(value)) == kind else None for value in values])
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


def _scalars(arrow_type: pa.DataType) -> Callable[[str, Sequence[Any]], Column]:
    def build(name: str, values: Sequence[Any]) -> Column:
        array = pa.array(values, arrow_type)
        return Column(pa.field(name, array.type), array)

    return build


def _decimals(name: str, values: Sequence[Decimal | None]) -> Column:
    """Return decimals of as many digits as they need; integers beyond 64 bits are `BIG` whatever they need."""
    array = pa.array(values)
    kind = array.type
    if kind.scale == 0 and pa.types.is_decimal128(kind) and max(map(abs, filter(None, values)), default=0) >= 2**63:
        array = pa.array(values, BIG)
    return Column(pa.field(name, array.type), array)


def _structs(name: str, values: Sequence[Mapping[str, Any] | None]) -> Column:
    return struct_column(name, _fields(values), len(values), pa.array([value is not None for value in values]))


def _lists(name: str, values: Sequence[Sequence[Any] | None]) -> Column:
    items = _column("item", [item for value in values if value is not None for item in value])
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
_BUILDERS: dict[str, Callable[[str, Sequence[Any]], Column]] = {
    "boolean": _scalars(pa.bool_()),
    "integer": _scalars(pa.int64()),
    "floating": _scalars(pa.float64()),
    "string": _scalars(pa.string()),
    "struct": _structs,
    "array": _lists,
    "binary": _scalars(pa.binary()),
    "decimal": _decimals,
    "timestamp": _scalars(TIMESTAMP),
    "date": _scalars(pa.date32()),
}
