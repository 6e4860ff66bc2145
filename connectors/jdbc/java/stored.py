"""Converts rows of a DynamicFrame to columns that every JDBC driver takes. Pure."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.jdbc.java.dialects import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMP,
)
from gluepot.connectors.jdbc.staging import Stored, typed_columns
from gluepot.frames.cast.times import in_micros
from gluepot.frames.columns import Column, columns_of
from gluepot.frames.json_text import json_texts
from gluepot.frames.schema import choice_to_string

_KINDS = {
    pa.int8(): SMALLINT,
    pa.int16(): SMALLINT,
    pa.int32(): INT,
    pa.int64(): BIGINT,
    pa.uint8(): SMALLINT,
    pa.uint16(): INT,
    pa.uint32(): BIGINT,
    pa.uint64(): "decimal(20,0)",
    pa.float32(): REAL,
    pa.float64(): DOUBLE,
    pa.bool_(): BOOLEAN,
    pa.string(): TEXT,
    pa.binary(): BINARY,
    pa.date32(): DATE,
}
# Spark has no other integers.
_SENT_AS = {
    pa.int8(): pa.int16(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
_MOST_DIGITS = 38  # of Spark's decimals


def stored(batch: pa.RecordBatch) -> Stored:
    """Return the rows as they are staged, and the kind of each column.

    Structs, maps and lists become JSON texts. A choice becomes the text of its value. A time with a zone becomes the
    time in UTC. A column that has only nulls is left out.
    """
    columns = [_stored(column) for column in columns_of(choice_to_string(typed_columns(batch)))]
    arrays = [array for _, array, _ in columns]
    return pa.RecordBatch.from_arrays(arrays, names=[name for name, _, _ in columns]), {
        name: kind for name, _, kind in columns
    }


def _stored(column: Column) -> tuple[str, pa.Array, str]:
    name, array, kind = column.field.name, column.array, column.field.type
    if pa.types.is_timestamp(kind):
        exact = pc.cast(in_micros(array), pa.timestamp("us", kind.tz))
        return name, pc.cast(exact, pa.timestamp("us")), TIMESTAMP
    if (known := _KINDS.get(kind)) is not None:
        sent = _SENT_AS.get(kind)
        return name, array if sent is None else pc.cast(array, sent), known
    if pa.types.is_decimal(kind) and kind.precision <= _MOST_DIGITS and 0 <= kind.scale <= kind.precision:
        exact = pc.cast(array, pa.decimal128(kind.precision, kind.scale))
        return name, exact, f"decimal({kind.precision},{kind.scale})"
    return name, json_texts(column), TEXT
