"""Writes floats as Java 19 and later do.

`Double.toString` of Java 17 writes a digit too many for some values; see docs/limits.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.masks import cast_in_two

# Java writes these without an exponent.
_LEAST_PLAIN, _FIRST_WITH_EXPONENT = 1e-3, 1e7


def float_texts(array: pa.Array) -> pa.StringArray:
    """Return floats or doubles as Java writes them: `100.0`, `1.0E10`, `NaN`."""
    size = pc.abs(array)
    is_plain = pc.and_(pc.greater_equal(size, _LEAST_PLAIN), pc.less(size, _FIRST_WITH_EXPONENT))
    return cast_in_two(array, is_plain, _plain_texts, _other_texts)


def _plain_texts(array: pa.Array) -> pa.StringArray:
    """Return Arrow's text, which has the shortest digits that identify the value, with a fraction."""
    texts = pc.cast(array, pa.string())
    is_whole = pc.invert(pc.match_substring(texts, "."))
    whole = texts.filter(is_whole)
    return pc.replace_with_mask(texts, is_whole, pc.binary_join_element_wise(whole, ".0", "")) if len(whole) else texts


def _other_texts(array: pa.Array) -> pa.StringArray:
    write = _float_text if pa.types.is_float32(array.type) else _double_text
    texts = pc.cast(array, pa.string()).to_pylist()
    return pa.array([write(value, text) for value, text in zip(array.to_pylist(), texts, strict=True)], pa.string())


def _double_text(value: float, shortest: str) -> str:
    return _java_text(value, shortest, float)


def _float_text(value: float, shortest: str) -> str:
    return _java_text(value, shortest, lambda text: float(np.float32(text)))


def _java_text(value: float, shortest: str, read: Callable[[str], float]) -> str:
    """Return Java's text of a value that is not plain.

    Args:
        value: any float or double.
        shortest: the shortest digits that identify it, in any notation.
        read: returns the value of a text.
    """
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    mantissa, _, exponent = shortest.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0) - 1
    digits = digits.rstrip("0")
    if len(digits) == 1 and read(closest := f"{abs(value):.1e}") == abs(value):
        # Java writes two digits at least, and takes the closest two where one would do: 4.9E-324.
        digits, _, exponent = closest.replace(".", "").partition("e")
        point = int(exponent)
        digits = digits.rstrip("0")
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point}"
