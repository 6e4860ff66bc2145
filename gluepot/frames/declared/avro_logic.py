"""Which logical types of an Avro schema count. Pure.

A logical type counts if it annotates the type that it is defined for and its parameters are valid. Avro tells readers
to ignore any other: the value is then what it is stored as.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

DECIMAL: Final = "decimal"
COLUMNS: Final[Mapping[str, pa.DataType]] = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", tz="UTC"),
    "timestamp-micros": pa.timestamp("us", tz="UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
}
"""The column of each logical type with a column of its own; a decimal has one, too.

Spark reads the others as what they are stored as: `time-millis` is an int, `time-micros` and all times in nanoseconds
are a long, `uuid` is a string or binary, `duration` and `big-decimal` are binary.
"""
MAX_DIGITS: Final = 38


def logical_type(schema: Mapping[str, Any]) -> str | None:
    """Return the logical type of a schema if it counts and has a column of its own."""
    logic, stored = schema.get("logicalType"), schema.get("type")
    if logic == DECIMAL:
        return DECIMAL if _is_decimal(schema) else None
    if not isinstance(logic, str) or logic not in COLUMNS:
        return None
    return logic if stored == ("int" if logic == "date" else "long") else None


def _is_decimal(schema: Mapping[str, Any]) -> bool:
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if type(precision) is not int or type(scale) is not int or not 0 <= scale <= precision or not precision:
        return False
    if schema.get("type") == "bytes":
        return True
    size = schema.get("size")
    if schema.get("type") != "fixed" or type(size) is not int or size < 1:
        return False
    return precision <= math.floor((8 * size - 1) * math.log10(2))
