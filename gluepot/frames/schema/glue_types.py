"""Glue's names for types (docs/glue 6.3, 6.9), to Arrow and back."""

from __future__ import annotations

import re

import pyarrow as pa

from gluepot.core.errors import ConfigError, did_you_mean

# Spark's TimestampType is an instant; Arrow spells that as a time stamp with a zone, Parquet as adjusted to UTC.
TIMESTAMP = pa.timestamp("us", tz="UTC")

_BY_NAME = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "timestamp": TIMESTAMP,
    "date": pa.date32(),
    "binary": pa.binary(),
}
_SYNONYMS = {"tinyint": "byte", "smallint": "short", "integer": "int", "bigint": "long"}
_NAMES = {arrow: name for name, arrow in _BY_NAME.items()} | {pa.null(): "null"}
_DECIMAL = re.compile(r"decimal(?:\(\s*(\d+)\s*,\s*(\d+)\s*\))?")
_NESTED = ((pa.types.is_struct, "struct"), (pa.types.is_list, "array"), (pa.types.is_map, "map"))
NESTED_NAMES = frozenset(name for _, name in _NESTED)


def glue_name(arrow_type: pa.DataType) -> str:
    """Return Glue's name of a type; of a nested type only its kind: `struct`, `array`, `map`.

    Raises:
        ConfigError: Glue has no such type.
    """
    if (name := _NAMES.get(arrow_type)) is not None:
        return name
    if pa.types.is_timestamp(arrow_type):
        return "timestamp"
    if pa.types.is_decimal(arrow_type):
        return f"decimal({arrow_type.precision},{arrow_type.scale})"
    for is_kind, name in _NESTED:
        if is_kind(arrow_type):
            return name
    raise ConfigError(f"Glue has no type for Arrow's {arrow_type}; cast the column before it becomes a DynamicFrame.")


def short_name(arrow_type: pa.DataType) -> str:
    """Return Glue's name without parameters, `decimal` for `decimal(5,2)`. Alternatives of a choice have such names."""
    return glue_name(arrow_type).partition("(")[0]


def canonical_name(name: str) -> str:
    """Return a type's name in lower case, synonyms resolved, element types cut off: `BigInt` is `long`."""
    lowered = name.strip().lower()
    return _SYNONYMS.get(lowered, lowered).partition("<")[0]


def arrow_type(name: str) -> pa.DataType:
    """Return the Arrow type of a Glue or Hive name in any letter case.

    `decimal` alone is `decimal(10,2)`, as in gluetypes.

    Raises:
        ConfigError: the name is unknown, or is that of a nested type and so does not define its elements.
    """
    canonical = canonical_name(name)
    if (found := _BY_NAME.get(canonical)) is not None:
        return found
    if decimal := _DECIMAL.fullmatch(canonical):
        precision, scale = int(decimal[1] or 10), int(decimal[2] or (0 if decimal[1] else 2))
        if 1 <= precision <= 38 and scale <= precision:
            return pa.decimal128(precision, scale)
        raise ConfigError(f"type '{name}' is out of range; decimal takes a precision of 1-38 and a scale up to it.")
    if canonical in NESTED_NAMES:
        raise ConfigError(f"type '{name}' cannot be cast to; name the type of a field inside it.")
    known = [*_BY_NAME, *_SYNONYMS, "decimal(p,s)"]
    raise ConfigError(f"type '{name}' is not known; use one of {', '.join(known)}.{did_you_mean(name, known)}")
