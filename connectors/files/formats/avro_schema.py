"""The schema of an Avro file: how fastavro reads the values, and the columns that they become. Pure.

Dates and time stamps are read as integers, which Arrow turns into its types. That is faster than Python's objects, and
has no last year 9999. Only in a union of several types are they read as objects, because there the Python type of a
value says which branch it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, count
from typing import Any

import fastavro
import pyarrow as pa
from fastavro.schema import SchemaParseException, UnknownType

from gluepot.frames.chunk import is_choice
from gluepot.frames.declared.avro_choices import field_of_two_kinds
from gluepot.frames.declared.avro_logic import COLUMNS, DECIMAL, MAX_DIGITS, define_in_unions, logical_type
from gluepot.frames.schema.merge import merge_fields

# Which logical types each version of the reader of Glue knows (docs/glue 5.2).
LOGIC_BY_VERSION: Mapping[str, frozenset[str]] = {
    "1.7": frozenset(),
    "1.8": frozenset({DECIMAL, "date", "timestamp-millis"}),
}
ALL_LOGIC = frozenset({DECIMAL, *COLUMNS})

# A schema that names its types can hold each of them twice in the next: twenty levels make a million columns.
_MOST_COLUMNS = 20_000
# Says in a prepared schema which logical type an integer has, in a word that fastavro does not act on.
_LOGIC = "gluepot.logicalType"
_PRIMITIVE = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "fixed": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
}
_NULLS = ("null", {"type": "null"})
# What fastavro and this module raise over JSON that is not an Avro schema.
_WRONG = (SchemaParseException, UnknownType, ValueError, LookupError, TypeError, AttributeError, RecursionError)


class UnusableSchemaError(Exception):
    """The records of a file cannot become columns; the message has the reason and the next step."""


@dataclass(frozen=True, slots=True)
class AvroSchema:
    """The schema of a file.

    Args:
        prepared: the schema that fastavro reads with: without default values, aliases, and logical types that it
            would act on.
        parsed: the same as `fastavro.parse_schema` returns it.
        named: the types that `parsed` names.
    """

    prepared: Any
    parsed: Any
    named: Mapping[str, Any]

    @classmethod
    def of(cls, written: Any, logic: frozenset[str]) -> AvroSchema:
        """Prepare a schema.

        Args:
            written: the JSON value that the file has.
            logic: the logical types that become columns of their own; others are ignored.

        Raises:
            UnusableSchemaError: it is not an Avro schema.
        """
        named: dict[str, Any] = {}
        try:
            parsed = fastavro.parse_schema(_prepared(written, logic, in_union=False), named_schemas=named)
        except _WRONG as error:
            raise UnusableSchemaError(
                f"its schema is not valid ({type(error).__name__}: {error}); write it again"
            ) from error
        numbers = count()
        define_in_unions(parsed, named, lambda name: f"{name}_{next(numbers)}_of_union")
        return cls(_without_hints(parsed), parsed, named)

    def columns(self) -> pa.Schema:
        """Return the columns as values arrive, time stamps in milliseconds or in microseconds.

        Raises:
            UnusableSchemaError: the schema is not one of records, holds itself, or has a type without a column.
        """
        found = _Columns(self.named, iter(range(_MOST_COLUMNS))).field("", self.parsed, (), ())
        may_be_null = isinstance(self.parsed, list) and any(branch in _NULLS for branch in self.parsed)
        if not pa.types.is_struct(found.type) or is_choice(found) or may_be_null:
            raise UnusableSchemaError("its values are not records, so they have no columns; wrap each into a record")
        return pa.schema(list(found.type))


def in_microseconds(schema: pa.Schema) -> pa.Schema:
    """Return the columns as Glue has them, whose time stamps are in microseconds."""
    return pa.schema([_in_microseconds(field) for field in schema])


def _in_microseconds(field: pa.Field) -> pa.Field:
    kind = field.type
    if pa.types.is_timestamp(kind):
        return field.with_type(pa.timestamp("us", kind.tz))
    if pa.types.is_struct(kind):
        return field.with_type(pa.struct([_in_microseconds(one) for one in kind]))
    if pa.types.is_map(kind):
        return field.with_type(pa.map_(kind.key_field, _in_microseconds(kind.item_field)))
    return field.with_type(pa.list_(_in_microseconds(kind.value_field))) if pa.types.is_list(kind) else field


def _prepared(schema: Any, logic: frozenset[str], *, in_union: bool) -> Any:
    if isinstance(schema, list):
        has_several = sum(branch not in _NULLS for branch in schema) > 1
        return [_prepared(branch, logic, in_union=has_several) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    kind = schema["type"]
    names = {key: schema[key] for key in ("type", "name", "namespace") if schema.get(key) is not None}
    match kind:
        case "record" | "error":
            fields = [
                {"name": field["name"], "type": _prepared(field["type"], logic, in_union=False)}
                for field in schema["fields"]
            ]
            return {**names, "fields": fields}
        case "enum":
            return {**names, "symbols": schema["symbols"]}
        case "fixed":
            return {**names, "size": schema["size"], **_decimal(schema, logic)}
        case "array":
            return {"type": kind, "items": _prepared(schema["items"], logic, in_union=False)}
        case "map":
            return {"type": kind, "values": _prepared(schema["values"], logic, in_union=False)}
        case str():
            return _prepared_primitive(schema, logic, in_union=in_union)
        case _:
            return _prepared(kind, logic, in_union=in_union)


def _prepared_primitive(schema: Mapping[str, Any], logic: frozenset[str], *, in_union: bool) -> Any:
    meant = logical_type(schema)
    if meant is None or meant not in logic:
        return schema["type"]
    if meant == DECIMAL:
        return {"type": schema["type"], **_decimal(schema, logic)}
    return {"type": schema["type"], ("logicalType" if in_union else _LOGIC): meant}


def _without_hints(parsed: Any) -> Any:
    """Return what `fastavro.parse_schema` returned, to be parsed again."""
    if not isinstance(parsed, dict):
        return parsed
    return {key: value for key, value in parsed.items() if not key.startswith("__")}


def _decimal(schema: Mapping[str, Any], logic: frozenset[str]) -> dict[str, Any]:
    if DECIMAL not in logic or logical_type(schema) != DECIMAL:
        return {}
    return {"logicalType": DECIMAL, "precision": schema["precision"], "scale": schema.get("scale", 0)}


@dataclass(frozen=True, slots=True)
class _Columns:
    """Makes columns of types: `within` are the records that a type lies in, `path` are the names that lead to it."""

    named: Mapping[str, Any]
    left: Iterator[int]

    def field(self, name: str, schema: Any, within: tuple[str, ...], path: tuple[str, ...]) -> pa.Field:
        if next(self.left, None) is None:
            raise UnusableSchemaError(f"its schema has more than {_MOST_COLUMNS:,} columns; write fewer to a file")
        if isinstance(schema, list):
            branches = [self.field(name, branch, within, path) for branch in schema]
            for left, right in combinations([one.type for one in branches if pa.types.is_struct(one.type)], 2):
                if mixed := field_of_two_kinds(left, right):
                    raise UnusableSchemaError(
                        f"its column {_shown(path)} is one of several records whose field {mixed!r} is a map in one and"
                        " a record in another, which cannot be told apart; give the fields different names"
                    )
            return reduce(merge_fields, branches, pa.field(name, pa.null()))
        if isinstance(schema, str):
            if schema in _PRIMITIVE:
                return pa.field(name, _PRIMITIVE[schema])
            if schema in within:
                raise UnusableSchemaError(
                    f"its column {_shown(path)} has the record {schema}, which holds itself, and a column has as many"
                    " levels as its type says; write the nested records as a list with ids, or as a JSON string"
                )
            return self.field(name, self.named[schema], within, path)
        return pa.field(name, self._type(schema, within, path))

    def _type(self, schema: Mapping[str, Any], within: tuple[str, ...], path: tuple[str, ...]) -> pa.DataType:
        logic = str(schema.get(_LOGIC) or schema.get("logicalType"))
        if logic == DECIMAL:
            return _decimal_type(schema, path)
        if logic in COLUMNS:
            has_millis = _LOGIC in schema and logic.endswith("millis")
            return pa.timestamp("ms", COLUMNS[logic].tz) if has_millis else COLUMNS[logic]
        match schema["type"]:
            case "record" | "error":
                inside = (*within, schema["name"])
                fields = [
                    self.field(one["name"], one["type"], inside, (*path, one["name"])) for one in schema["fields"]
                ]
                return pa.struct(fields)
            case "array":
                return pa.list_(self.field("element", schema["items"], within, path))
            case "map":
                return pa.map_(pa.string(), self.field("value", schema["values"], within, path))
            case other:
                return self.field("", other, within, path).type


def _decimal_type(schema: Mapping[str, Any], path: tuple[str, ...]) -> pa.DataType:
    precision = schema["precision"]
    if precision > MAX_DIGITS:
        raise UnusableSchemaError(
            f"its column {_shown(path)} is a decimal of {precision} digits, and a column holds {MAX_DIGITS}; give"
            " format_options={'version': '1.7'} to read decimals as binary, or write it as a string"
        )
    return pa.decimal128(precision, schema["scale"])


def _shown(path: tuple[str, ...]) -> str:
    return repr(".".join(path))
