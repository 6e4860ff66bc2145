"""Splits a column into ordinary values, which Arrow casts, and odd ones, which Python casts one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_FEW = 64


def keep(array: pa.Array, where: pa.BooleanArray) -> pa.Array:
    """Return the values for which `where` is true, null for the others."""
    return pc.if_else(where, array, pa.scalar(None, array.type))


def keep_matching(texts: pa.StringArray, pattern: str) -> pa.StringArray:
    """Return the texts that match the whole RE2 pattern, null for the others."""
    return keep(texts, matching(texts, pattern))


def matching(texts: pa.StringArray, pattern: str) -> pa.BooleanArray:
    """Return whether each text matches the whole RE2 pattern."""
    return pc.match_substring_regex(texts, rf"^(?:{pattern})$")


def filled(texts: pa.StringArray) -> pa.StringArray:
    """Return the texts that have a character, null for the others."""
    return keep(texts, pc.greater(pc.binary_length(texts), 0))


def holds(texts: pa.StringArray, characters: str) -> bool:
    """Return whether any text has one of the characters in it."""
    return any(pc.any(pc.match_substring(texts, one)).as_py() for one in characters)


def cast_at_once(texts: pa.StringArray, target: pa.DataType) -> pa.Array | None:
    """Return all texts in a type, in a tenth of the time that patterns take; None if Arrow does not read one of them.

    Arrow reads some that no pattern of ours takes, which the caller has to rule out.
    """
    try:
        # A text that is not read takes Arrow longer than a pattern does, so a few show first whether it is worth it.
        pc.cast(texts[:_FEW], target)
        return pc.cast(texts, target)
    except pa.ArrowInvalid:
        return None


def cast_in_two(
    array: pa.Array,
    ordinary: pa.BooleanArray,
    at_once: Callable[[pa.Array], pa.Array],
    odd: Callable[[pa.Array], pa.Array],
) -> pa.Array:
    """Cast the ordinary values in one way and the others in another.

    Args:
        array: any values.
        ordinary: which values are ordinary; null or false for the others. Null values belong to neither.
        at_once: casts a column in which only the ordinary values are left.
        odd: casts a column of the others alone, without nulls.
    """
    is_odd = pc.and_(pc.is_valid(array), pc.invert(pc.fill_null(ordinary, fill_value=False)))
    if not pc.any(is_odd).as_py():
        return at_once(array)
    return pc.replace_with_mask(at_once(keep(array, pc.invert(is_odd))), is_odd, odd(array.filter(is_odd)))


def cast_each(array: pa.Array, target: pa.DataType, read: Callable[[Any], Any]) -> pa.Array:
    """Cast each distinct value by a Python function, which returns None for a value without counterpart.

    Args:
        array: not of floats, because 0.0 and -0.0 may count as one value there.
        target: a type that Arrow makes from what `read` returns.
        read: gets no None.
    """
    encoded = array.dictionary_encode()
    results = [None if value is None else read(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(results, target).take(encoded.indices)
