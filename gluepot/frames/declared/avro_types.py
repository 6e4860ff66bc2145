"""The columns of an Avro schema (docs/glue 3.4).

An enum is a string, a fixed is binary, and a union of a type with null is that type. A union of several types is a
choice where the columns may hold one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

import pyarrow as pa

from gluepot.core.errors import ConfigError
from gluepot.frames.declared.avro_choices import field_of_two_kinds
from gluepot.frames.declared.avro_logic import COLUMNS, DECIMAL, MAX_DIGITS, define_in_unions, logical_type
from gluepot.frames.schema.merge import merge_fields

_PRIMITIVES = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
# A schema that names its types can hold each of them twice in the next: twenty levels make a million columns.
_MOST_COLUMNS = 20_000


def parsed(text: str, beside: Sequence[str] = ()) -> tuple[Any, Mapping[str, Any]]:
    """Return a schema as fastavro takes it, and the types it names.

    Logical types that do not count (`avro_logic`) are dropped: their values are what they are stored as.

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
        schema = fastavro.parse_schema(json.loads(text, object_hook=_with_known_logic), named_schemas=named)
    except (SchemaParseException, UnknownType, ValueError, LookupError, TypeError, AttributeError) as wrong:
        raise ConfigError(f"schema is {text!r}, which is no Avro schema: {wrong!r}; give the writers' own.") from wrong
    define_in_unions(schema, named, lambda name: name)
    return schema, named


def columns(schema: Any, named: Mapping[str, Any], *, has_choices: bool = False) -> pa.Schema:
    """Return the columns of a record.

    Args:
        schema: as `parsed` returns it.
        named: the types that it names.
        has_choices: a union of several types is a choice, as in a DynamicFrame; branches of one family, such as int and
            long, or two records, share a type that holds both. Without it there are no such unions.

    Raises:
        ConfigError: the schema is no record, or holds a type that has no column.
    """
    record = schema if isinstance(schema, dict) else named.get(schema) if isinstance(schema, str) else None
    if record is None or record["type"] != "record":
        raise ConfigError("The Avro schema is not a record, so it has no columns; wrap it into one.")
    return pa.schema(list(_Columns(named, has_choices, iter(range(_MOST_COLUMNS))).field("", record, ()).type))


def _with_known_logic(plain: dict[str, Any]) -> dict[str, Any]:
    if "logicalType" in plain and logical_type(plain) is None:
        del plain["logicalType"]
    return plain


@dataclass(frozen=True, slots=True)
class _Columns:
    """Makes columns of types; `within` are the records that a type lies in, and `left` counts how many may follow."""

    named: Mapping[str, Any]
    has_choices: bool
    left: Iterator[int]

    def field(self, name: str, schema: Any, within: tuple[str, ...]) -> pa.Field:
        if next(self.left, None) is None:
            raise ConfigError(f"The Avro schema has more than {_MOST_COLUMNS:,} columns; declare those that you need.")
        if isinstance(schema, list):
            return self._union(schema, within).with_name(name)
        if isinstance(schema, str) and schema not in _PRIMITIVES:
            if schema in within:
                raise ConfigError(f"The Avro record {schema} holds itself, which no column can; declare a flat schema.")
            if schema not in self.named:
                raise _no_column(schema)
            return self.field(name, self.named[schema], within)
        return pa.field(name, _PRIMITIVES[schema] if isinstance(schema, str) else self._type(schema, within))

    def _union(self, branches: list[Any], within: tuple[str, ...]) -> pa.Field:
        held = [branch for branch in branches if branch not in ("null", {"type": "null"})]
        if len(held) != 1 and not (held and self.has_choices):
            raise ConfigError(f"The Avro schema has a union of {len(held)} types; use null and one type.")
        fields = [self.field("", branch, within) for branch in held]
        for left, right in combinations([field.type for field in fields if pa.types.is_struct(field.type)], 2):
            if mixed := field_of_two_kinds(left, right):
                raise ConfigError(
                    f"The Avro schema has a union of records whose field {mixed} is a map in one and a record in"
                    " another; give the fields different names."
                )
        return reduce(merge_fields, fields)

    def _type(self, schema: Mapping[str, Any], within: tuple[str, ...]) -> pa.DataType:
        logic, kind = str(schema.get("logicalType")), schema["type"]
        if logic == DECIMAL:
            return _decimal(schema)
        if logic in COLUMNS:
            return COLUMNS[logic]
        match kind:
            case "record" if schema["fields"]:
                inner = (*within, schema["name"])
                return pa.struct([self.field(one["name"], one["type"], inner) for one in schema["fields"]])
            case "enum":
                return pa.string()
            case "fixed" if schema["size"]:
                return pa.binary()
            case "array":
                return pa.list_(self.field("item", schema["items"], within))
            case "map":
                return pa.map_(pa.string(), self.field("value", schema["values"], within))
            case str() if kind in _PRIMITIVES:
                return _PRIMITIVES[kind]
        raise _no_column(kind)


def _decimal(schema: Mapping[str, Any]) -> pa.DataType:
    precision, scale = schema["precision"], schema.get("scale", 0)
    if precision > MAX_DIGITS:
        raise ConfigError(f"The Avro schema has a decimal of {precision} digits; a column holds {MAX_DIGITS}.")
    return pa.decimal128(precision, scale)


def _no_column(kind: object) -> ConfigError:
    return ConfigError(f"The Avro schema has a {kind} without content, which has no column; leave the field out.")
