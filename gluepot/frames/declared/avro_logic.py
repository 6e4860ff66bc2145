"""Which logical types of an Avro schema count. Pure.

A logical type counts if it annotates the type that it is defined for and its parameters are valid. Avro tells readers
to ignore any other: the value is then what it is stored as.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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


def define_in_unions(schema: Any, named: Mapping[str, Any], name: Callable[[str], str]) -> None:
    """Replace references to fixed and enum types in unions by their definitions, in place.

    With `return_record_name`, fastavro returns a value of such a reference as if it were a record: with its name.

    Args:
        schema: as `fastavro.parse_schema` returns it.
        named: the types that it names.
        name: returns the name of the definition, from that of the type.
    """
    if isinstance(schema, list):
        for at, branch in enumerate(schema):
            definition = named.get(branch) if isinstance(branch, str) else None
            if definition is not None and definition["type"] in {"fixed", "enum"}:
                schema[at] = {**definition, "name": name(definition["name"])}
            define_in_unions(schema[at], named, name)
    elif isinstance(schema, dict):
        inner = [field["type"] for field in schema.get("fields", ())]
        for each in (*inner, schema.get("items"), schema.get("values"), schema["type"]):
            define_in_unions(each, named, name)


def mixes_numbers(schema: Any, named: Mapping[str, Any]) -> bool:
    """Tell whether a union has integers and floating numbers, which share a column of doubles.

    Args:
        schema: as `fastavro.parse_schema` returns it.
        named: the types that it names.
    """
    return any(_mixes_numbers(each) for each in (schema, *named.values()))


def _mixes_numbers(schema: Any) -> bool:
    if isinstance(schema, list):
        kinds = {each if isinstance(each, str) else each["type"] for each in schema}
        if kinds & {"int", "long"} and kinds & {"float", "double"}:
            return True
        return any(map(_mixes_numbers, schema))
    if not isinstance(schema, dict):
        return False
    inner = [field["type"] for field in schema.get("fields", ())]
    return any(map(_mixes_numbers, (*inner, schema.get("items"), schema.get("values"), schema["type"])))
