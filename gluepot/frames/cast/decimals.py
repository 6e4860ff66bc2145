"""Casts from and to decimals, rounded half up. A value that does not fit is null."""

from __future__ import annotations

import re
from decimal import Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast import rescaling
from gluepot.frames.cast.masks import cast_at_once, cast_each, cast_in_two, holds, keep, matching
from gluepot.frames.cast.numbers import number_to_number
from gluepot.frames.cast.rescaling import decimal_to_decimal
from gluepot.frames.cast.texts import BLANKS, read_at_once

_MOST_DIGITS = 38
_INT64_DIGITS = 19

_ORDINARY = rf"[+-]?(?:0*[0-9]{{1,{_MOST_DIGITS}}}(?:\.[0-9]{{0,{_MOST_DIGITS}}})?|\.[0-9]{{1,{_MOST_DIGITS}}})"
_JAVA_DECIMAL = re.compile(r"([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:[eE]([+-]?)(\d+))?")
_MOST_EXPONENT_DIGITS = 10
_INT32 = 2**31

# Doubles have fewer bits than this behind a point that was moved; the rest decides about rounding.
_EXACT_WHOLE = 2.0**50
_EXACT_POWER = 22
"""The largest power of ten that a double holds exactly."""

_EXACT = Context(prec=100)
_MICROS = 1_000_000


def decimal_to_number(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast decimals to integers or floats."""
    if pa.types.is_floating(target):
        # Through text, which rounds once; Arrow's own cast turns 12.7 into 12.700000000000001.
        return pc.cast(pc.cast(array, pa.string()), target)
    return number_to_number(rescaling.whole_numbers(array), target)


def number_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast numbers to decimals. A float is its shortest decimal notation as a double: 2.675 is halfway, not below."""
    if pa.types.is_floating(array.type):
        return _double_to_decimal(pc.cast(array, pa.float64()), target)
    whole = pc.cast(array, pa.int64())
    digits = target.precision - target.scale
    if digits < _INT64_DIGITS:
        whole = keep(whole, pc.and_(pc.less(whole, 10**digits), pc.greater(whole, -(10**digits))))
    return pc.cast(pc.cast(whole, pa.decimal128(_INT64_DIGITS, 0)), target)


def _double_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    array = keep(array, pc.less(pc.abs(array), 10.0**_MOST_DIGITS))  # NaN is not less
    if target.scale > _EXACT_POWER:
        return _digits_to_decimal(array, target)
    scaled = pc.multiply(pc.abs(array), 10.0**target.scale)
    below = pc.floor(scaled)
    # How far the double and its decimal notation may lie apart. Where the half is further away, both round alike.
    margin = pc.multiply(pc.add(scaled, 1.0), 1 / _EXACT_WHOLE)
    from_half = pc.abs(pc.subtract(pc.subtract(scaled, below), 0.5))
    is_clear = pc.and_(pc.less(scaled, _EXACT_WHOLE), pc.greater(from_half, margin))

    def at_once(clear: pa.Array) -> pa.Array:
        rounded = pc.multiply(pc.floor(pc.add(scaled, 0.5)), pc.sign(clear))
        fits = pc.less(pc.abs(rounded), 10.0**target.precision)
        whole = pc.cast(keep(rounded, pc.and_(fits, pc.is_valid(clear))), pa.int64())
        return rescaling.of_digits(whole, target)

    return cast_in_two(array, is_clear, at_once, lambda odd: _digits_to_decimal(odd, target))


def _digits_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast doubles through their shortest decimal notation."""
    is_tiny = pc.less(pc.abs(array), 10.0 ** -(target.scale + 1))  # less than half of the last digit
    return text_to_decimal(pc.cast(pc.if_else(is_tiny, 0.0, array), pa.string()), target)


def text_to_decimal(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    """Read decimal notation exactly, with or without an exponent."""
    texts, found = read_at_once(texts, BLANKS, lambda texts: _short_decimals(texts, target))
    if found is not None:
        return found
    return cast_in_two(
        texts,
        matching(texts, _ORDINARY),
        lambda plain: rescaling.fitted(
            pc.cast(pc.replace_substring_regex(plain, "^([+-]?)0+([0-9])", r"\1\2"), rescaling.WIDE), target
        ),
        lambda odd: cast_each(odd, target, lambda text: _read(text, target)),
    )


def _short_decimals(texts: pa.StringArray, target: pa.DataType) -> pa.Array | None:
    """Return all texts as decimals if they are short; Arrow forgets digits beyond 38 when it moves the point."""
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    if longest + target.scale > _MOST_DIGITS or holds(texts, "eE"):
        return None
    return cast_at_once(texts, target)


def _read(text: str, target: pa.DataType) -> Decimal | None:
    """Read a text as Java's BigDecimal does; None if it cannot be read or does not fit."""
    found = _JAVA_DECIMAL.fullmatch(text)
    if found is None or max(text) > "\uffff":
        return None
    fraction = found[3] or found[4] or ""
    digits = ((found[2] or "") + fraction).lstrip("0") or "0"
    exponent = (found[6] or "0").lstrip("0") or "0"
    if len(exponent) > _MOST_EXPONENT_DIGITS:
        return None
    power = int(exponent) * (-1 if found[5] == "-" else 1)
    scale = len(fraction) - power
    if not (-_INT32 <= power < _INT32 and -_INT32 <= scale < _INT32):
        return None
    if digits == "0" or len(digits) - scale < -target.scale:  # less than half of the last digit
        return Decimal(0)
    if len(digits) - scale > _MOST_DIGITS:
        return None
    return rescaling.rounded(Decimal((int(found[1] == "-"), tuple(map(int, digits)), -scale)), target)


def boolean_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return 1 and 0."""
    return number_to_decimal(pc.cast(array, pa.int8()), target)


def decimal_to_micros(array: pa.Array) -> pa.Array:
    """Return seconds as microseconds in 64 bits, of which Java keeps the lower ones."""

    def read(value: Decimal) -> int:
        whole = int(_EXACT.multiply(value, Decimal(_MICROS)))
        return (whole + 2**63) % 2**64 - 2**63

    return cast_each(array, pa.int64(), read)


__all__ = [
    "boolean_to_decimal",
    "decimal_to_decimal",
    "decimal_to_micros",
    "decimal_to_number",
    "number_to_decimal",
    "text_to_decimal",
]
