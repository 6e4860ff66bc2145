"""Casts that never fail: what cannot be converted is null (docs/glue 6.3)."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.masks import keep
from gluepot.frames.cast.numbers import (
    decimal_to_decimal,
    decimal_to_number,
    number_to_decimal,
    number_to_number,
    text_to_decimal,
    text_to_number,
)
from gluepot.frames.cast.times import (
    date_to_timestamp,
    number_to_timestamp,
    text_to_date,
    text_to_timestamp,
    timestamp_to_date,
    timestamp_to_number,
    timestamp_to_text,
    timestamp_to_timestamp,
)
from gluepot.frames.columns import Column
from gluepot.frames.json_text import json_texts
from gluepot.frames.schema.merge import family

__all__ = ["try_cast"]

# Spark's StringUtils: what its cast to boolean takes, in lower case. No arrays: the first one a process makes from a
# list imports pandas, which costs each starting process a second.
_TRUE = ("t", "true", "y", "yes", "1")
_FALSE = ("f", "false", "n", "no", "0")


def try_cast(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return the values as `target`; null where a value has no counterpart there or does not fit.

    Args:
        array: of any type without choices in it.
        target: a type that has a name in Glue.
    """
    if array.type == target:
        return array
    kernel = _KERNELS.get((family(array.type), family(target)))
    return pa.nulls(len(array), target) if kernel is None else kernel(array, target)


def _from_text(kernel: Callable[[pa.Array, pa.DataType], pa.Array]) -> Callable[[pa.Array, pa.DataType], pa.Array]:
    def trim_first(array: pa.Array, target: pa.DataType) -> pa.Array:
        return kernel(pc.utf8_trim_whitespace(array), target)

    return trim_first


def _text_to_boolean(texts: pa.Array, _: pa.DataType) -> pa.Array:
    lowered = pc.utf8_lower(texts)
    is_true = pc.is_in(lowered, pa.array(_TRUE))
    return keep(is_true, pc.or_(is_true, pc.is_in(lowered, pa.array(_FALSE))))


def _to_json(array: pa.Array, _: pa.DataType) -> pa.Array:
    return json_texts(Column(pa.field("", array.type), array))


def _to_boolean(array: pa.Array, _: pa.DataType) -> pa.Array:
    return pc.not_equal(array, pa.scalar(0, array.type))


def _plain(array: pa.Array, target: pa.DataType) -> pa.Array:
    return pc.cast(array, target)


def _boolean_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    return number_to_decimal(pc.cast(array, pa.int8()), target)


def _binary_to_text(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Read as UTF-8, as Spark does; bytes that are none become U+FFFD."""
    return pa.array(
        [None if value is None else value.decode("utf-8", "replace") for value in array.to_pylist()], target
    )


_KERNELS: dict[tuple[str, str], Callable[[pa.Array, pa.DataType], pa.Array]] = {
    ("string", "number"): _from_text(text_to_number),
    ("string", "decimal"): _from_text(text_to_decimal),
    ("string", "boolean"): _from_text(_text_to_boolean),
    ("string", "date"): _from_text(text_to_date),
    ("string", "timestamp"): _from_text(text_to_timestamp),
    ("string", "binary"): _plain,
    ("binary", "string"): _binary_to_text,
    ("boolean", "string"): _to_json,
    ("boolean", "number"): _plain,
    ("boolean", "decimal"): _boolean_to_decimal,
    ("number", "string"): _to_json,
    ("number", "boolean"): _to_boolean,
    ("number", "number"): number_to_number,
    ("number", "decimal"): number_to_decimal,
    ("number", "timestamp"): number_to_timestamp,
    ("decimal", "string"): _plain,
    ("decimal", "boolean"): _to_boolean,
    ("decimal", "number"): decimal_to_number,
    ("decimal", "decimal"): decimal_to_decimal,
    ("date", "string"): _plain,
    ("date", "timestamp"): date_to_timestamp,
    ("timestamp", "string"): timestamp_to_text,
    ("timestamp", "number"): timestamp_to_number,
    ("timestamp", "date"): timestamp_to_date,
    ("timestamp", "timestamp"): timestamp_to_timestamp,
    ("struct", "string"): _to_json,
    ("array", "string"): _to_json,
    ("map", "string"): _to_json,
}
