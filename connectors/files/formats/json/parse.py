"""JSON values back to Arrow: the inverse of `json_values`, for a known schema."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa

from gluepot.connectors.files.sink.typed import typed
from gluepot.frames.chunk import is_choice
from gluepot.frames.schema import choice_to_string

Decode = Callable[[Any], Any]


def stored_field(field: pa.Field) -> pa.Field:
    """Return the field that `parsed` makes: choices, at any depth, are text, as other formats store them."""
    return choice_to_string(pa.RecordBatch.from_pylist([], schema=pa.schema([field]))).schema.field(0)


def parsed(values: Sequence[Any], field: pa.Field) -> pa.Array:
    """Return a column of JSON values, None for those that are absent, in the type of `stored_field(field)`.

    Args:
        values: as a JSON parser gives them; decimals as `int` or `Decimal`, or digits are lost.
        field: of the rows that were written.

    Raises:
        ValueError: a value is not one that `json_values` makes of this type.
    """
    decode = _decoder(field)
    plain = values if decode is None else [None if value is None else decode(value) for value in values]
    return pa.array(plain, stored_field(field).type)


def holds_decimals(kind: pa.DataType) -> bool:
    """Tell whether there are decimals in a type, at any depth."""
    if pa.types.is_map(kind):
        return holds_decimals(kind.item_type)
    if pa.types.is_nested(kind):
        return any(holds_decimals(kind.field(at).type) for at in range(kind.num_fields))
    return bool(pa.types.is_decimal(kind))


def _decoder(field: pa.Field) -> Decode | None:
    """Return what turns a value that is not None into what `pa.array` takes; None where it is that already."""
    kind = field.type
    if is_choice(field):
        return _text_of_choice
    if pa.types.is_struct(kind):
        return _struct_decoder(kind)
    if pa.types.is_map(kind):
        return _map_decoder(kind)
    if pa.types.is_nested(kind):
        decode = _decoder(kind.value_field)
        return None if decode is None else lambda value: [None if item is None else decode(item) for item in value]
    if pa.types.is_decimal(kind):
        return Decimal
    if pa.types.is_floating(kind):
        return float
    if pa.types.is_timestamp(kind):
        return datetime.fromisoformat
    if pa.types.is_date(kind):
        return date.fromisoformat
    return base64.b64decode if pa.types.is_binary(kind) else None


def _text_of_choice(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=_digits).decode()


def _digits(value: Any) -> orjson.Fragment:
    """Write a decimal as the number it was read from."""
    assert isinstance(value, Decimal)
    return orjson.Fragment(format(value, "f"))


def _struct_decoder(kind: pa.StructType) -> Decode:
    fields = [(field.name, _decoder(field)) for field in kind]

    def decode(value: dict[str, Any]) -> dict[str, Any]:
        found = ((name, decode_one, value.get(name)) for name, decode_one in fields)
        return {
            name: item if item is None or decode_one is None else decode_one(item) for name, decode_one, item in found
        }

    return decode


def _map_decoder(kind: pa.MapType) -> Decode:
    decode = _decoder(kind.item_field)

    def pairs(value: dict[str, Any]) -> list[tuple[Any, Any]]:
        keys = typed(pa.array(value, pa.string()), kind.key_type).to_pylist()
        items = value.values()
        return list(
            zip(keys, items if decode is None else [None if x is None else decode(x) for x in items], strict=True)
        )

    return pairs
