"""Casts to numbers. What does not fit the target is null; fractions are cut off, as Spark's non-ANSI cast does."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.masks import cast_at_once, filled, holds, keep, keep_matching

# Holds 38 digits before the point and 38 after it: every decimal Glue has, so that rounding is done once, at the end.
_WIDE = pa.decimal256(76, 38)
_WIDE_DIGITS = 38

_SPECIAL = "(?i:[+-]?(?:nan|inf|infinity))"
_PLAIN = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_SHORT_INTEGER = "^-?[0-9]{1,18}$"
_EXPONENT = _PLAIN + "[eE][+-]?[0-9]+"


def number_to_number(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast integers and floats to each other."""
    if pa.types.is_integer(target):
        return _to_integer(array, target)
    result = pc.cast(array, target, safe=False)
    if pa.types.is_floating(array.type):
        # A float too small to hold a double says infinity.
        return keep(result, pc.equal(pc.is_inf(result), pc.is_inf(array)))
    return result


def _to_integer(array: pa.Array, target: pa.DataType) -> pa.Array:
    limit = 2 ** (target.bit_width - 1)
    if pa.types.is_floating(array.type):
        whole = pc.trunc(array)  # a double holds the limit itself exactly, limit - 1 it may not
        fits = pc.and_(pc.greater_equal(whole, float(-limit)), pc.less(whole, float(limit)))
        return pc.cast(keep(whole, fits), target)
    if array.type.bit_width <= target.bit_width:
        return pc.cast(array, target)
    return pc.cast(keep(array, pc.and_(pc.greater_equal(array, -limit), pc.less(array, limit))), target)


def text_to_number(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    """Read decimal notation; for floats also an exponent, NaN and Infinity."""
    texts = filled(texts)
    if pa.types.is_integer(target):
        return _text_to_integer(texts, target)
    found = cast_at_once(texts, pa.float64())
    if found is None or pc.all(pc.is_finite(found)).as_py() is False:  # of "1e999" and "nan(x)" Arrow thinks otherwise
        finite = pc.cast(keep_matching(texts, f"{_PLAIN}|{_EXPONENT}"), pa.float64())
        special = pc.cast(keep_matching(texts, _SPECIAL), pa.float64())
        found = pc.coalesce(keep(finite, pc.is_finite(finite)), special)
    return number_to_number(found, target)


def _text_to_integer(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    found = None if holds(texts, "xX") else cast_at_once(texts, target)  # Arrow reads 0x1F
    if found is not None:
        return found
    is_odd = pc.fill_null(pc.invert(pc.match_substring_regex(texts, _SHORT_INTEGER)), False)
    short = number_to_number(pc.cast(keep(texts, pc.invert(is_odd)), pa.int64()), target)
    return pc.replace_with_mask(short, is_odd, _odd_text_to_integer(texts.filter(is_odd), target))


def _odd_text_to_integer(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    whole = pc.replace_substring_regex(keep_matching(texts, r"[+-]?[0-9]+(?:\.[0-9]*)?"), r"\..*", "")
    digits = pc.replace_substring_regex(whole, "^([+-]?)0*([0-9])", r"\1\2")
    fitting = keep_matching(digits, "[+-]?[0-9]{1,19}")
    return decimal_to_number(pc.cast(fitting, pa.decimal128(19, 0)), target)


def decimal_to_number(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast decimals to integers or floats."""
    if pa.types.is_floating(target):
        # Through text, which rounds once; Arrow's own cast turns 12.7 into 12.700000000000001.
        return number_to_number(pc.cast(pc.cast(array, pa.string()), pa.float64()), target)
    limit = Decimal(2 ** (target.bit_width - 1))
    whole = pc.trunc(array)
    fits = pc.and_(pc.greater_equal(whole, pa.scalar(-limit)), pc.less(whole, pa.scalar(limit)))
    return pc.cast(keep(whole, fits), target)


def number_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast numbers to decimals, rounded half up."""
    if pa.types.is_floating(array.type):
        array = keep(array, pc.less(pc.abs(array), 10.0**_WIDE_DIGITS))  # NaN is not less
        array = pc.cast(array, pa.float64())
    return _fitted(pc.cast(array, _WIDE), target)


def text_to_decimal(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    """Read decimal notation exactly, an exponent with the precision of double; rounded half up."""
    texts = filled(texts)
    # Arrow reads exponents, too, and forgets digits beyond 38 when it moves the point.
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    is_odd = longest + target.scale > _WIDE_DIGITS or holds(texts, "eE")
    found = None if is_odd else cast_at_once(texts, target)
    if found is not None:
        return found
    short = rf"[+-]?0*(?:[0-9]{{1,{_WIDE_DIGITS}}}\.?[0-9]*|\.[0-9]+)"
    plain = pc.replace_substring_regex(
        keep_matching(texts, short),
        rf"(\.[0-9]{{{_WIDE_DIGITS}}})[0-9]+$",
        r"\1",
    )
    exact = _fitted(pc.cast(pc.replace_substring_regex(plain, "^([+-]?)0+([0-9])", r"\1\2"), _WIDE), target)
    rough = number_to_decimal(text_to_number(keep_matching(texts, _EXPONENT), pa.float64()), target)
    return pc.coalesce(exact, rough)


def decimal_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Change precision and scale, rounded half up."""
    kind = array.type
    if kind.scale > _WIDE_DIGITS or kind.precision - kind.scale > _WIDE_DIGITS:
        return text_to_decimal(pc.cast(array, pa.string()), target)
    return _fitted(pc.cast(array, _WIDE), target)


def _fitted(wide: pa.Array, target: pa.DataType) -> pa.Array:
    rounded = pc.round(wide, ndigits=target.scale, round_mode="half_towards_infinity")
    limit = pa.scalar(Decimal(10) ** (target.precision - target.scale))
    return pc.cast(keep(rounded, pc.less(pc.abs(rounded), limit)), target, safe=False)
