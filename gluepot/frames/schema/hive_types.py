"""Hive's names for types, as the Data Catalog has them (`array<struct<a:bigint>>`), to Arrow and back."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import is_choice
from gluepot.frames.schema.glue_types import arrow_type, glue_name

_HIVE_NAMES = {"byte": "tinyint", "short": "smallint", "long": "bigint"}
_TEXTS = re.compile(r"(?:char|varchar)\(\s*\d+\s*\)")
_DECIMAL = "decimal"
_TIMESTAMPS = ("timestamp with local time zone", "timestamp_ltz", "timestamptz")


def hive_name(field: pa.Field) -> str:
    """Return Hive's name of a field's type; for a choice `string`, because tables hold it as text.

    Raises:
        ConfigError: Glue has no such type.
    """
    kind = field.type
    if is_choice(field) or pa.types.is_null(kind):
        return "string"
    if pa.types.is_struct(kind):
        return f"struct<{','.join(f'{one.name}:{hive_name(one)}' for one in kind)}>"
    if pa.types.is_list(kind):
        return f"array<{hive_name(kind.value_field)}>"
    if pa.types.is_map(kind):
        return f"map<{hive_name(kind.key_field)},{hive_name(kind.item_field)}>"
    name = glue_name(kind)
    return _HIVE_NAMES.get(name, name)


def arrow_of_hive(text: str) -> pa.DataType:
    """Return the Arrow type of a Hive type.

    Raises:
        ConfigError: the text is not a Hive type.
    """
    name = text.strip()
    kind, opened, rest = name.partition("<")
    if not opened:
        return _scalar(name)
    if not rest.endswith(">"):
        raise _unknown(text)
    parts = list(_split(rest[:-1], ","))
    match kind.strip().lower(), parts:
        case "array", [element]:
            return pa.list_(pa.field("item", arrow_of_hive(element)))
        case "map", [key, value]:
            return pa.map_(arrow_of_hive(key), arrow_of_hive(value))
        case "struct", _:
            return pa.struct([_struct_field(part, text) for part in parts])
    raise _unknown(text)


def _scalar(name: str) -> pa.DataType:
    lowered = name.lower()
    if _TEXTS.fullmatch(lowered):
        return pa.string()
    if lowered in _TIMESTAMPS:
        return arrow_type("timestamp")
    if lowered == _DECIMAL:
        return pa.decimal128(10, 0)  # Hive's default, unlike Glue's decimal(10,2)
    return arrow_type(lowered)


def _struct_field(part: str, whole: str) -> pa.Field:
    name, *of_type = _split(part, ":", most=1)
    if not name.strip() or not of_type:
        raise _unknown(whole)
    return pa.field(name.strip().strip("`"), arrow_of_hive(of_type[0]))


def _split(text: str, separator: str, most: int | None = None) -> Iterator[str]:
    """Yield the pieces between separators that no bracket encloses."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character in "<(") - (character in ">)")
        if character == separator and not depth and most != 0:
            yield text[start:at]
            start, most = at + 1, None if most is None else most - 1
    yield text[start:]


def _unknown(text: str) -> ConfigError:
    return ConfigError(f"The type {text!r} is none of Hive's; write bigint, array<string>, struct<a:int,b:string>, ...")
