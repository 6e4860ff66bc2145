"""The columns of an Avro schema (docs/glue 3.4).

An enum is a string, a fixed is binary, and a union of a type with null is that type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from gluepot.core.errors import ConfigError

_PRIMITIVES = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
_LOGICAL = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", tz="UTC"),
    "timestamp-micros": pa.timestamp("us", tz="UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
}
_MAX_DIGITS = 38


def parsed(text: str, beside: Sequence[str] = ()) -> tuple[Any, Mapping[str, Any]]:
    """Return a schema as fastavro takes it, and the types it names.

    Logical types other than dates, time stamps and decimals are dropped: their values are what they are stored as.

    Args:
        text: the schema, as JSON.
        beside: schemas of types that it names and does not define, each after those that it needs.

    Raises:
        ConfigError: the text is no Avro schema.
    """
    import fastavro  # noqa: PLC0415  of use to Avro streams only
    from fastavro.schema import SchemaParseException, UnknownType  # noqa: PLC0415

    named: dict[str, Any] = {}
    try:
        for one in beside:
            fastavro.parse_schema(json.loads(one, object_hook=_with_known_logic), named_schemas=named)
        return fastavro.parse_schema(json.loads(text, object_hook=_with_known_logic), named_schemas=named), named
    except (SchemaParseException, UnknownType, ValueError, LookupError, TypeError, AttributeError) as wrong:
        raise ConfigError(f"schema is {text!r}, which is no Avro schema: {wrong!r}; give the writers' own.") from wrong


def columns(schema: Any, named: Mapping[str, Any]) -> pa.Schema:
    """Return the columns of a record.

    Raises:
        ConfigError: the schema is no record, or holds a type that has no column.
    """
    record = schema if isinstance(schema, dict) else named.get(schema) if isinstance(schema, str) else None
    if record is None or record["type"] != "record":
        raise ConfigError("The Avro schema is not a record, so it has no columns; wrap it into one.")
    return pa.schema(list(_arrow(record, named, ())))


def _with_known_logic(plain: dict[str, Any]) -> dict[str, Any]:
    if plain.get("logicalType", "decimal") not in {*_LOGICAL, "decimal"}:
        del plain["logicalType"]
    return plain


def _arrow(schema: Any, named: Mapping[str, Any], within: tuple[str, ...]) -> pa.DataType:
    """Return the Arrow type; `within` are the records it lies in."""
    if isinstance(schema, list):
        return _of_union(schema, named, within)
    if isinstance(schema, str):
        if schema in _PRIMITIVES:
            return _PRIMITIVES[schema]
        if schema in within:
            raise ConfigError(f"The Avro record {schema} holds itself, which no column can; declare a flat schema.")
        if schema in named:
            return _arrow(named[schema], named, within)
        raise _no_column(schema)
    logic, kind = schema.get("logicalType"), schema["type"]
    if logic == "decimal":
        return _decimal(schema)
    if logic in _LOGICAL:
        return _LOGICAL[logic]
    match kind:
        case "record" if schema["fields"]:
            inner = (*within, schema["name"])
            return pa.struct([pa.field(one["name"], _arrow(one["type"], named, inner)) for one in schema["fields"]])
        case "enum":
            return pa.string()
        case "fixed" if schema["size"]:
            return pa.binary()
        case "array":
            return pa.list_(_arrow(schema["items"], named, within))
        case "map":
            return pa.map_(pa.string(), _arrow(schema["values"], named, within))
        case str() if kind in _PRIMITIVES:
            return _PRIMITIVES[kind]
    raise _no_column(kind)


def _of_union(branches: list[Any], named: Mapping[str, Any], within: tuple[str, ...]) -> pa.DataType:
    held = [branch for branch in branches if branch not in ("null", {"type": "null"})]
    if len(held) != 1:
        raise ConfigError(f"The Avro schema has a union of {len(held)} types; use null and one type.")
    return _arrow(held[0], named, within)


def _decimal(schema: Mapping[str, Any]) -> pa.DataType:
    precision, scale = schema["precision"], schema.get("scale", 0)
    if precision > _MAX_DIGITS:
        raise ConfigError(f"The Avro schema has a decimal of {precision} digits; a column holds {_MAX_DIGITS}.")
    return pa.decimal128(precision, scale)


def _no_column(kind: object) -> ConfigError:
    return ConfigError(f"The Avro schema has a {kind} without content, which has no column; leave the field out.")
