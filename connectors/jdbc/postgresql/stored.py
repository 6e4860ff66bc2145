"""Converts rows of a DynamicFrame to columns of types that PostgreSQL has."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.jdbc.postgresql.times import unstored
from gluepot.connectors.jdbc.staging import UNTYPED_LIST, typed_columns
from gluepot.core.errors import PermanentError
from gluepot.frames.cast.times import in_micros
from gluepot.frames.columns import Column, columns_of
from gluepot.frames.json_text import json_texts
from gluepot.frames.schema import choice_to_string

_TYPES = {
    pa.int8(): "int2",
    pa.int16(): "int2",
    pa.int32(): "int4",
    pa.int64(): "int8",
    pa.uint8(): "int2",
    pa.uint16(): "int4",
    pa.uint32(): "int8",
    pa.float32(): "float4",
    pa.float64(): "float8",
    pa.bool_(): "bool",
    pa.string(): "text",
    pa.binary(): "bytea",
    pa.date32(): "date",
}
_SENT_AS = {pa.int8(): pa.int16(), pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
JSON = "jsonb"
TEXT = "text"
STAGED_AS = {JSON: TEXT, UNTYPED_LIST: TEXT}
"""Types that are staged as another one: as the text of their JSON, because the driver cannot send jsonb."""


def stored(batch: pa.RecordBatch, table: str) -> tuple[pa.RecordBatch, dict[str, str]]:
    """Return the rows in the form in which they are sent, and PostgreSQL's type of each column.

    Structs, maps and lists of these become JSON texts. A choice becomes the text of its value. A column that has only
    nulls is left out.

    Args:
        batch: the rows.
        table: the table that they go to, for messages.

    Raises:
        PermanentError: PostgreSQL cannot store a date or time.
    """
    columns = [_stored(column, table) for column in columns_of(choice_to_string(typed_columns(batch)))]
    arrays = [array for _, array, _ in columns]
    names = [name for name, _, _ in columns]
    return pa.RecordBatch.from_arrays(arrays, names=names), {name: kind for name, _, kind in columns}


def _stored(column: Column, table: str) -> tuple[str, pa.Array, str]:
    name, array, kind = _sent(column)
    if (value := unstored(array)) is not None:
        raise PermanentError(
            f"Column {name} of {table} cannot hold {value}: PostgreSQL's dates are in the years 4714 BC to 5874897;"
            " correct the value, or filter the row out."
        )
    return name, array, kind


def _sent(column: Column) -> tuple[str, pa.Array, str]:
    name, kind = column.field.name, column.field.type
    if (known := _TYPES.get(kind)) is not None:
        sent = _SENT_AS.get(kind)
        return name, column.array if sent is None else pc.cast(column.array, sent), known
    if pa.types.is_timestamp(kind):
        zone = "UTC" if kind.tz else None
        return name, pc.cast(in_micros(column.array), pa.timestamp("us", zone)), "timestamptz" if zone else "timestamp"
    if pa.types.is_decimal(kind):
        return name, column.array, f"numeric({kind.precision},{kind.scale})"
    if pa.types.is_list(kind) and (of := _TYPES.get(kind.value_type)) and kind.value_type not in _SENT_AS:
        return name, column.array, f"{of}[]"
    if pa.types.is_list(kind) and pa.types.is_null(kind.value_type):
        return name, json_texts(column), UNTYPED_LIST
    return name, json_texts(column), JSON if pa.types.is_nested(kind) else TEXT
