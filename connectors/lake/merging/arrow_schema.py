"""The columns of an Iceberg table as Arrow's, and whether files have them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from gluepot.connectors.lake.merging.expressions import OnlySpark

FIELD_ID = b"PARQUET:field_id"
"""Where Arrow keeps the number of a column in a Parquet file."""

_PLAIN = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "string": pa.string(),
    "binary": pa.binary(),
}
_DECIMAL = re.compile(r"decimal\((\d+), ?(\d+)\)")
# Types that a column had before it was widened.
_WIDENED = {(pa.int32(), pa.int64()), (pa.float32(), pa.float64())}


def arrow_schema(schema: Mapping[str, Any]) -> pa.Schema:
    """Return the columns of a table with the numbers that Iceberg knows them by.

    Args:
        schema: as Iceberg writes it to JSON.

    Raises:
        OnlySpark: a column has a type that is not written here.
    """
    return pa.schema([_field(one) for one in schema["fields"]])


def _field(one: Mapping[str, Any]) -> pa.Field:
    if "write-default" in one or "initial-default" in one or "." in one["name"]:
        raise OnlySpark("a column with a default, or with a dot in its name")
    return _numbered(one["name"], one["type"], one["id"], required=one["required"])


def _numbered(name: str, kind: Any, number: int, *, required: bool) -> pa.Field:
    return pa.field(name, _type(kind), nullable=not required, metadata={FIELD_ID: str(number).encode()})


def _type(kind: Any) -> pa.DataType:
    if isinstance(kind, str):
        if (decimal := _DECIMAL.fullmatch(kind)) is not None:
            return pa.decimal128(int(decimal[1]), int(decimal[2]))
        if kind not in _PLAIN:
            raise OnlySpark(f"a column of type {kind}")
        return _PLAIN[kind]
    if any(kind.get(one) for one in ("element-required", "value-required")):
        raise OnlySpark("values inside of a column that may not be null")
    match kind["type"]:
        case "struct":
            if any(one["required"] for one in kind["fields"]):
                raise OnlySpark("values inside of a column that may not be null")
            return pa.struct([_field(one) for one in kind["fields"]])
        case "list":
            return pa.list_(_numbered("element", kind["element"], kind["element-id"], required=False))
        case _:
            key = _numbered("key", kind["key"], kind["key-id"], required=True)
            return pa.map_(key, _numbered("value", kind["value"], kind["value-id"], required=False))


def column_names(schema: pa.Schema, file: pa.Schema) -> Sequence[str | None]:
    """Return the names that columns of a table have in a file, None for those that it lacks.

    Raises:
        OnlySpark: the file does not number its columns, or holds one in another type.
    """
    numbered = {(one.metadata or {}).get(FIELD_ID): one for one in file}
    if None in numbered:
        raise OnlySpark("a file that does not number its columns")
    names: list[str | None] = []
    for wanted in schema:
        one = numbered.get(wanted.metadata[FIELD_ID])
        if one is not None and not (alike(one, wanted) or (one.type, wanted.type) in _WIDENED):
            raise OnlySpark(f"a file with {one.name} as {one.type}")
        names.append(None if one is None else one.name)
    return names


def alike(one: pa.Field, other: pa.Field, *, numbered: bool = True) -> bool:
    """Return whether a column of a file has the type of the table's.

    Args:
        one: of the file.
        other: of the table.
        numbered: whether parts of the column must have the same numbers as well.
    """
    if not pa.types.is_nested(other.type):
        return bool(one.type.equals(other.type))
    if type(one.type) is not type(other.type) or one.type.num_fields != other.type.num_fields:
        return False
    return all(
        part.name == another.name
        and (not numbered or (part.metadata or {}).get(FIELD_ID) == another.metadata[FIELD_ID])
        and alike(part, another, numbered=numbered)
        for part, another in zip(_parts(one.type), _parts(other.type), strict=True)
    )


def _parts(kind: pa.DataType) -> list[pa.Field]:
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if pa.types.is_list(kind):
        return [kind.value_field]
    return list(kind) if pa.types.is_struct(kind) else []
