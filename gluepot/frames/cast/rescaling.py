"""Changes the scale of decimals, rounded half up or cut off.

Arrow 26.0.1 divides some decimals wrongly: 4294967295.9 without its fraction becomes 4294967294. So small decimals are
divided as integers, and what Arrow divides is multiplied again to check it.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.masks import cast_each, cast_in_two, keep

# Holds 38 digits before the point and 38 after it: every decimal Glue has, so that rounding is done once, at the end.
WIDE: Final = pa.decimal256(76, 38)
_WIDE_DIGITS = 38
# Decimals of so many digits are integers of 64 bits with a point.
_SMALL_DIGITS = 18
_INT64_DIGITS = 19
_WHOLE = pa.decimal128(38, 0)
_EXACT = Context(prec=500)


def decimal_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Change precision and scale, rounded half up; null for what does not fit."""
    kind = array.type
    if kind.scale > _WIDE_DIGITS or kind.precision - kind.scale > _WIDE_DIGITS:
        return cast_each(array, target, lambda value: rounded(value, target))
    if kind.scale <= target.scale:
        digits = target.precision - target.scale
        if digits < kind.precision - kind.scale:
            array = keep(array, pc.less(pc.abs(array), pa.scalar(Decimal(10) ** digits, kind)))
        return pc.cast(array, target)
    return _divided(array, target) if _is_small(kind) else fitted(array, target)


def whole_numbers(array: pa.Array) -> pa.Array:
    """Return decimals without their fraction as integers of 64 bits; null for what does not fit."""
    kind = array.type
    if _is_small(kind):
        return pc.divide(_digits(array), 10**kind.scale)
    if kind.precision - kind.scale > _WIDE_DIGITS:
        whole = cast_each(array, _WHOLE, lambda value: rounded(value, _WHOLE, ROUND_DOWN))
    elif kind.precision == kind.scale:
        whole = cast_each(array, _WHOLE, lambda _: Decimal(0))
    else:
        whole = _checked(array, pc.cast(pc.trunc(array), _WHOLE, safe=False), ROUND_DOWN)
    first, last = (pa.scalar(Decimal(limit), _WHOLE) for limit in (-(2**63), 2**63 - 1))
    fitting = keep(whole, pc.and_(pc.greater_equal(whole, first), pc.less_equal(whole, last)))
    return pc.cast(fitting, pa.int64())


def fitted(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return decimals rounded half up; null for what does not fit.

    Args:
        array: decimals of a scale that is not smaller.
        target: the type of the result.
    """
    kind = array.type
    # Arrow refuses to round to a number of more digits, and to round all digits away.
    grows = target.precision - target.scale > kind.precision - kind.scale
    if not pa.types.is_decimal128(kind) or kind.precision == kind.scale or (grows and kind.precision == _WIDE_DIGITS):
        array = pc.cast(array, WIDE)
    elif grows:
        array = pc.cast(array, pa.decimal128(kind.precision + 1, kind.scale))
    kind = array.type
    if target.precision - target.scale <= kind.precision - kind.scale:
        limit = Decimal(10) ** (target.precision - target.scale)
        if target.scale < kind.scale:
            limit = _EXACT.subtract(limit, Decimal(5).scaleb(-target.scale - 1))
        is_below = (
            pc.less(pc.abs(array), pa.scalar(limit, kind)) if limit.adjusted() < kind.precision - kind.scale else None
        )
        array = array if is_below is None else keep(array, is_below)
    half_up = pc.round(array, ndigits=target.scale, round_mode="half_towards_infinity")
    return _checked(array, pc.cast(half_up, target, safe=False), ROUND_HALF_UP)


def rounded(value: Decimal, target: pa.DataType, rounding: str = ROUND_HALF_UP) -> Decimal | None:
    """Return a decimal with the scale of a type; None if it has too many digits then."""
    context = Context(prec=max(_EXACT.prec, len(value.as_tuple().digits) + 2 * _WIDE_DIGITS))
    result = value.quantize(Decimal((0, (1,), -target.scale)), rounding, context)
    return result if result.is_zero() or result.adjusted() + target.scale < target.precision else None


def of_digits(whole: pa.Array, target: pa.DataType) -> pa.Array:
    """Return integers as the digits of decimals: 123 is 1.23 at a scale of 2.

    Args:
        whole: integers of 64 bits that have no more digits than the target.
        target: the type of the decimals.
    """
    wide = pc.cast(whole, pa.decimal128(_INT64_DIGITS, 0))
    return pa.Array.from_buffers(target, len(wide), wide.buffers(), wide.null_count, wide.offset)


def _is_small(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal128(kind) and kind.precision <= _SMALL_DIGITS)


def _digits(array: pa.Array) -> pa.Array:
    """Return the digits of small decimals as integers: 1.23 is 123 at a scale of 2."""
    words = np.frombuffer(array.buffers()[1], np.int64)[2 * array.offset : 2 * (array.offset + len(array)) : 2]
    return pa.array(words, mask=array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None)


def _divided(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return small decimals with fewer digits after the point."""
    digits = _digits(array)
    divisor = 10 ** (array.type.scale - target.scale)
    below = pc.divide(digits, divisor)  # towards zero
    rest = pc.abs(pc.subtract(digits, pc.multiply(below, divisor)))
    is_up = pc.greater_equal(rest, divisor - divisor // 2)
    half_up = pc.add(below, pc.multiply(pc.cast(is_up, pa.int64()), pc.cast(pc.sign(digits), pa.int64())))
    if target.precision <= _SMALL_DIGITS:
        half_up = keep(half_up, pc.less(pc.abs(half_up), 10**target.precision))
    return of_digits(half_up, target)


def _checked(array: pa.Array, result: pa.Array, rounding: str) -> pa.Array:
    """Return the result, with values that Arrow got wrong corrected.

    Args:
        array: what was rounded.
        result: what Arrow made of it, with a scale that is not larger.
        rounding: how Python's decimals name the way of rounding.
    """
    kind, target = array.type, result.type
    if kind.scale == target.scale:
        return result
    back = pc.cast(result, _same_bits(kind), safe=False)
    values = pa.Array.from_buffers(back.type, len(array), array.buffers(), array.null_count, array.offset)
    off = pc.abs(pc.subtract(values, back))
    grew = pc.greater(pc.abs(back), pc.abs(values))
    unit = Decimal(1).scaleb(-target.scale)
    if rounding == ROUND_DOWN:
        is_right = pc.and_(pc.less(off, pa.scalar(unit, off.type)), pc.invert(grew))
    else:
        half = pa.scalar(unit / 2, off.type)
        is_right = pc.or_(pc.less(off, half), pc.and_(pc.equal(off, half), grew))

    def correct(value: Decimal) -> Decimal | None:
        return rounded(value, target, rounding)

    return cast_in_two(array, is_right, lambda _: result, lambda wrong: cast_each(wrong, target, correct))


def _same_bits(kind: pa.DataType) -> pa.DataType:
    """Return a type with the same bits whose differences Arrow can hold: they have a digit more."""
    if pa.types.is_decimal128(kind):
        return pa.decimal128(37, kind.scale)
    return pa.decimal256(75, kind.scale)
