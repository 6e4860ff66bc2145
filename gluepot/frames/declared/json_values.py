"""JSON values taken one by one as the types they are declared to have, by the rules of Spark's JacksonParser."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from gluepot.frames.declared.json_decimals import WIDE

Reader = Callable[[Any], Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INT64 = range(-(2**63), 2**63)
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# The texts that Spark takes for a double.
_SPECIAL_DOUBLES = {
    name: float(name) for name in ("NaN", "+INF", "-INF", "Infinity", "+Infinity", "-Infinity")
}  # fmt: skip


class Misfit(Exception):
    """A value is not of the type it is declared to have."""


@dataclass(frozen=True, slots=True)
class _Fraction:
    """A JSON number with a fraction or an exponent, as it was written: a declared decimal is read from its digits."""

    text: str


def parse(value: bytes) -> dict[str, Any]:
    """Return the object of a record that is known to hold one."""
    document: dict[str, Any] = json.loads(value, parse_float=_Fraction)
    return document


def type_as_read(kind: pa.DataType) -> pa.DataType:
    """Return the type in which values are read; from there `columns_fit` takes them to `kind`."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(child.name, type_as_read(child.type)) for child in kind])
    if pa.types.is_list(kind):
        return pa.list_(type_as_read(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(pa.string(), type_as_read(kind.item_type))
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_decimal(kind):
        return WIDE
    return kind if pa.types.is_boolean(kind) else pa.string()


def reader(kind: pa.DataType, misfits: Counter[str]) -> Reader:
    """Return a function that takes a parsed JSON value, not null, to what pyarrow takes for `type_as_read(kind)`.

    It raises Misfit for a value of another type.

    Args:
        kind: the declared type.
        misfits: gets how many fields became null because a value is of another type, by name.
    """
    if pa.types.is_struct(kind):
        return _structs({child.name: reader(child.type, misfits) for child in kind}, misfits)
    if pa.types.is_list(kind):
        return _lists(reader(kind.value_type, misfits))
    if pa.types.is_map(kind):
        return _maps(reader(kind.item_type, misfits))
    if pa.types.is_decimal(kind):
        return _decimals(kind)
    if pa.types.is_string(kind):
        return _text
    if pa.types.is_boolean(kind):
        return _boolean
    if pa.types.is_integer(kind):
        return _integer
    if pa.types.is_floating(kind):
        return _double
    return _instant if pa.types.is_timestamp(kind) and kind.tz else _string


# A Python bool is also an int, a JSON one is not: hence `type(value) is`, never isinstance.


def _structs(readers: Mapping[str, Reader], misfits: Counter[str]) -> Reader:
    def field(name: str, read: Reader, value: Any) -> Any:
        if value is None:
            return None
        try:
            return read(value)
        except Misfit:
            misfits[name] += 1
            return None

    def read_struct(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise Misfit
        return {name: field(name, read, value.get(name)) for name, read in readers.items()}

    return read_struct


def _lists(read: Reader) -> Reader:
    def read_list(value: Any) -> list[Any]:
        if type(value) is not list:
            raise Misfit
        return [None if item is None else read(item) for item in value]

    return read_list


def _maps(read: Reader) -> Reader:
    def read_map(value: Any) -> list[tuple[str, Any]]:
        if type(value) is not dict:
            raise Misfit
        return [(key, None if item is None else read(item)) for key, item in value.items()]

    return read_map


def _decimals(kind: pa.Decimal128Type) -> Reader:
    step = Decimal(1).scaleb(-kind.scale)
    context = Context(prec=kind.precision, rounding=ROUND_HALF_UP)

    def read_decimal(value: Any) -> Decimal:
        if type(value) is bool or not isinstance(value, int | str | _Fraction):
            raise Misfit
        text = value.text if isinstance(value, _Fraction) else str(value)
        if _DECIMAL.fullmatch(text) is None:
            raise Misfit
        try:
            return Decimal(text).quantize(step, context=context)
        except InvalidOperation as too_big:
            raise Misfit from too_big

    return read_decimal


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case _Fraction(text):
            return repr(float(text))
        case _:
            return json.dumps(value, default=_as_float, ensure_ascii=False, separators=(",", ":"))


def _as_float(number: _Fraction) -> float:
    return float(number.text)


def _boolean(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise Misfit


def _integer(value: Any) -> int:
    if type(value) is int and value in _INT64:
        return value
    raise Misfit


def _double(value: Any) -> float:
    match value:
        case _Fraction(text):
            return float(text)
        case int() if type(value) is int:
            return float(value)
        case str() if value in _SPECIAL_DOUBLES:
            return _SPECIAL_DOUBLES[value]
    raise Misfit


def _string(value: Any) -> str:
    if type(value) is str:
        return value
    raise Misfit


def _instant(value: Any) -> str:
    """Take text as it is, and an integer as seconds from 1970."""
    if type(value) is not int:
        return _string(value)
    try:
        return (_EPOCH + timedelta(seconds=value)).isoformat()
    except OverflowError as too_far:
        raise Misfit from too_far
