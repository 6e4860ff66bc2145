"""Changes the scale of decimals, rounded half up or cut off.

Arrow 26.0.1 divides some decimals wrongly: 4294967295.9 without its fraction becomes 4294967294. So small decimals are
divided as integers, and what Arrow divides is multiplied again to check it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.masks import cast_each, cast_in_two, keep

# Holds 38 digits before the point and 38 after it: every decimal Glue has, so that rounding is done once, at the end.
WIDE: Final = pa.decimal256(76, 38)
_WIDE_DIGITS = 38
# The difference of two such numbers would have a digit more. Its bits are the same.
_DIFFERENCE = pa.decimal256(75, 38)
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
    if _is_small(kind):
        return _divided(array, target)
    return fitted(pc.cast(array, WIDE), target)


def whole_numbers(array: pa.Array) -> pa.Array:
    """Return decimals without their fraction as integers of 64 bits; null for what does not fit."""
    kind = array.type
    if _is_small(kind):
        return pc.divide(_digits(array), 10**kind.scale)
    if kind.precision - kind.scale > _WIDE_DIGITS:
        whole = cast_each(array, _WHOLE, lambda value: rounded(value, _WHOLE, ROUND_DOWN))
    else:
        wide = pc.cast(array, WIDE)
        whole = _checked(wide, pc.cast(pc.trunc(wide), _WHOLE, safe=False), ROUND_DOWN)
    first, last = (pa.scalar(Decimal(limit), _WHOLE) for limit in (-(2**63), 2**63 - 1))
    fitting = keep(whole, pc.and_(pc.greater_equal(whole, first), pc.less_equal(whole, last)))
    return pc.cast(fitting, pa.int64())


def fitted(wide: pa.Array, target: pa.DataType) -> pa.Array:
    """Return decimals of the type `WIDE` rounded half up; null for what does not fit."""
    limit = Decimal(10) ** (target.precision - target.scale)
    if target.scale < _WIDE_DIGITS:
        limit = _EXACT.subtract(limit, Decimal(5).scaleb(-target.scale - 1))
    fitting = keep(wide, pc.less(pc.abs(wide), pa.scalar(limit, WIDE)))
    half_up = pc.round(fitting, ndigits=target.scale, round_mode="half_towards_infinity")
    return _checked(fitting, pc.cast(half_up, target, safe=False), ROUND_HALF_UP)


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


def _checked(wide: pa.Array, result: pa.Array, rounding: str) -> pa.Array:
    """Return the result, with values that Arrow got wrong corrected.

    Args:
        wide: what was rounded, of the type `WIDE`.
        result: what Arrow made of it.
        rounding: how Python's decimals name the way of rounding.
    """
    back = pc.cast(result, WIDE)
    off = pc.abs(pc.subtract(_as_difference(wide), _as_difference(back)))
    grew = pc.greater(pc.abs(back), pc.abs(wide))
    unit = Decimal(1).scaleb(-result.type.scale)
    limit = (
        pa.scalar(unit if rounding == ROUND_DOWN else unit / 2, _DIFFERENCE)
        if result.type.scale < _WIDE_DIGITS
        else None
    )
    if limit is None:
        return result
    if rounding == ROUND_DOWN:
        is_right = pc.and_(pc.less(off, limit), pc.invert(grew))
    else:
        is_right = pc.or_(pc.less(off, limit), pc.and_(pc.equal(off, limit), grew))
    correct: Callable[[Decimal], Decimal | None] = lambda value: rounded(value, result.type, rounding)  # noqa: E731
    return cast_in_two(wide, is_right, lambda _: result, lambda wrong: cast_each(wrong, result.type, correct))


def _as_difference(wide: pa.Array) -> pa.Array:
    return pa.Array.from_buffers(_DIFFERENCE, len(wide), wide.buffers(), wide.null_count, wide.offset)
