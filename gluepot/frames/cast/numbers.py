"""Casts among integers, floats, booleans, texts and bytes.

Fractions are cut off. An integer that does not fit is null, where Spark's non-ANSI cast takes another number.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.float_reading import read_double, read_float
from gluepot.frames.cast.masks import cast_at_once, cast_each, cast_in_two, holds, keep, matching
from gluepot.frames.cast.texts import BLANKS, CONTROLS, read_at_once

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_SHORT_INTEGER = "-?[0-9]{1,18}"
_INTEGER = re.compile(r"([+-]?[0-9]*)(?:\.[0-9]*)?", re.ASCII)


def number_to_number(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast integers and floats to each other. A double beyond the range of float becomes infinity."""
    if pa.types.is_integer(target):
        return _to_integer(array, target)
    return pc.cast(array, target, safe=False)


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
    """Read decimal notation; for floats also what Java reads."""
    if pa.types.is_integer(target):
        return _text_to_integer(texts, target)
    texts, found = read_at_once(texts, BLANKS, lambda texts: _finite(cast_at_once(texts, target)))
    if found is not None:
        return found
    read = read_float if pa.types.is_float32(target) else read_double
    return cast_in_two(
        texts,
        matching(texts, _NUMBER),
        lambda numbers: pc.cast(pc.utf8_ltrim(numbers, characters="+"), target),
        lambda odd: cast_each(odd, target, read),
    )


def _finite(numbers: pa.Array | None) -> pa.Array | None:
    """Return the numbers if all are finite: Arrow reads `nan(x)`."""
    return None if numbers is None or pc.all(pc.is_finite(numbers)).as_py() is False else numbers


def _text_to_integer(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    texts, found = read_at_once(
        texts, CONTROLS, lambda texts: None if holds(texts, "xX") else cast_at_once(texts, target)
    )  # Arrow reads 0x1F
    if found is not None:
        return found
    limit = 2 ** (target.bit_width - 1)

    def read(text: str) -> int | None:
        number = _INTEGER.fullmatch(text)
        if number is None or text in ("+", "-"):
            return None
        value = int(number[1]) if number[1][-1:].isdigit() else 0  # Spark reads .5 and even a lone point
        return value if -limit <= value < limit else None

    return cast_in_two(
        texts,
        matching(texts, _SHORT_INTEGER),
        lambda short: number_to_number(pc.cast(short, pa.int64()), target),
        lambda odd: cast_each(odd, target, read),
    )


def number_to_boolean(array: pa.Array, _: pa.DataType) -> pa.Array:
    """Return whether each number is not zero."""
    return pc.not_equal(array, pa.scalar(0, array.type))


def integer_to_binary(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return the bytes of integers, the most significant first; nulls for floats."""
    if not pa.types.is_integer(array.type):
        return pa.nulls(len(array), target)
    width = array.type.bit_width // 8
    return cast_each(array, target, lambda value: value.to_bytes(width, "big", signed=True))


def binary_to_text(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Read as UTF-8; bytes that are not UTF-8 become U+FFFD."""
    try:
        return pc.cast(array, target)
    except pa.ArrowInvalid:
        return cast_each(array, target, lambda value: value.decode("utf-8", "replace"))
