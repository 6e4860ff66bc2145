"""Casts that never fail: what cannot be converted is null (docs/glue 6.3)."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast import zoned_times
from gluepot.frames.cast.decimals import (
    boolean_to_decimal,
    decimal_to_decimal,
    decimal_to_number,
    number_to_decimal,
    text_to_decimal,
)
from gluepot.frames.cast.float_texts import float_texts
from gluepot.frames.cast.masks import keep
from gluepot.frames.cast.numbers import (
    binary_to_text,
    integer_to_binary,
    number_to_boolean,
    number_to_number,
    text_to_number,
)
from gluepot.frames.cast.texts import CONTROLS, trimmed
from gluepot.frames.cast.times import (
    boolean_to_timestamp,
    date_to_text,
    date_to_timestamp,
    decimal_to_timestamp,
    number_to_timestamp,
    text_to_date,
    text_to_timestamp,
    timestamp_to_boolean,
    timestamp_to_date,
    timestamp_to_decimal,
    timestamp_to_number,
    timestamp_to_text,
    timestamp_to_timestamp,
)
from gluepot.frames.columns import Column
from gluepot.frames.json_text import json_texts
from gluepot.frames.schema.merge import family
from gluepot.frames.time_zone import UTC, TimeZone

__all__ = ["try_cast"]

# Spark's StringUtils: what its cast to boolean takes, in lower case. No arrays: the first one a process makes from a
# list imports pandas, which costs each starting process a second.
_TRUE = ("t", "true", "y", "yes", "1")
_FALSE = ("f", "false", "n", "no", "0")


def try_cast(array: pa.Array, target: pa.DataType, zone: TimeZone = UTC) -> pa.Array:
    """Return the values as `target`; null where a value has no counterpart there or does not fit.

    Args:
        array: of any type without choices in it.
        target: a type that has a name in Glue.
        zone: the zone of texts and days, and of timestamps whose type has none.
    """
    if array.type == target:
        return array
    families = family(array.type), family(target)
    if not zone.is_utc:
        if (zoned := _ZONED_KERNELS.get(families)) is not None:
            return zoned(array, target, zone)
        if families[0] == "timestamp":
            array = zoned_times.in_zone(array, as_instants=True, zone=zone)
    kernel = _KERNELS.get(families)
    return pa.nulls(len(array), target) if kernel is None else kernel(array, target)


def _text_to_boolean(texts: pa.Array, _: pa.DataType) -> pa.Array:
    lowered = pc.utf8_lower(trimmed(texts, CONTROLS))
    is_true = pc.is_in(lowered, pa.array(_TRUE))
    return keep(is_true, pc.or_(is_true, pc.is_in(lowered, pa.array(_FALSE))))


def _nested_to_text(array: pa.Array, _: pa.DataType) -> pa.Array:
    return json_texts(Column(pa.field("", array.type), array))


def _number_to_text(array: pa.Array, target: pa.DataType) -> pa.Array:
    return float_texts(array) if pa.types.is_floating(array.type) else pc.cast(array, target)


def _plain(array: pa.Array, target: pa.DataType) -> pa.Array:
    return pc.cast(array, target)


_KERNELS: dict[tuple[str, str], Callable[[pa.Array, pa.DataType], pa.Array]] = {
    ("string", "number"): text_to_number,
    ("string", "decimal"): text_to_decimal,
    ("string", "boolean"): _text_to_boolean,
    ("string", "date"): text_to_date,
    ("string", "timestamp"): text_to_timestamp,
    ("string", "binary"): _plain,
    ("binary", "string"): binary_to_text,
    ("boolean", "string"): _plain,
    ("boolean", "number"): _plain,
    ("boolean", "decimal"): boolean_to_decimal,
    ("boolean", "timestamp"): boolean_to_timestamp,
    ("number", "string"): _number_to_text,
    ("number", "boolean"): number_to_boolean,
    ("number", "number"): number_to_number,
    ("number", "decimal"): number_to_decimal,
    ("number", "timestamp"): number_to_timestamp,
    ("number", "binary"): integer_to_binary,
    ("decimal", "string"): _plain,
    ("decimal", "boolean"): number_to_boolean,
    ("decimal", "number"): decimal_to_number,
    ("decimal", "decimal"): decimal_to_decimal,
    ("decimal", "timestamp"): decimal_to_timestamp,
    ("date", "string"): date_to_text,
    ("date", "timestamp"): date_to_timestamp,
    ("timestamp", "string"): timestamp_to_text,
    ("timestamp", "boolean"): timestamp_to_boolean,
    ("timestamp", "number"): timestamp_to_number,
    ("timestamp", "decimal"): timestamp_to_decimal,
    ("timestamp", "date"): timestamp_to_date,
    ("timestamp", "timestamp"): timestamp_to_timestamp,
    ("struct", "string"): _nested_to_text,
    ("array", "string"): _nested_to_text,
    ("map", "string"): _nested_to_text,
}
_ZONED_KERNELS: dict[tuple[str, str], Callable[[pa.Array, pa.DataType, TimeZone], pa.Array]] = {
    ("string", "timestamp"): zoned_times.text_to_timestamp,
    ("date", "timestamp"): zoned_times.date_to_timestamp,
    ("timestamp", "string"): zoned_times.timestamp_to_text,
    ("timestamp", "date"): zoned_times.timestamp_to_date,
    ("timestamp", "timestamp"): zoned_times.timestamp_to_timestamp,
}
