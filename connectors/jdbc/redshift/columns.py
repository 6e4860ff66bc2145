"""Columns that are read: their Redshift types, the SQL that unloads them, and their Arrow types. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.jdbc.keys import Family
from gluepot.connectors.jdbc.redshift.names import quoted
from gluepot.connectors.jdbc.redshift.types import is_binary, is_text
from gluepot.core.errors import PermanentError
from gluepot.frames.schema.glue_types import TIMESTAMP

_ARROW = {
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "double precision": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    # As for PostgreSQL: Glue has one type for both.
    "timestamp without time zone": TIMESTAMP,
    "timestamp with time zone": TIMESTAMP,
}
_NUMERIC = re.compile(r"numeric\((\d+),(\d+)\)")
_WIDEST = (38, 18)  # Spark's digits for a numeric that does not say how many it has


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Args:
        name: its name.
        type: Redshift's type, as `format_type` names it.
    """

    name: str
    type: str

    @property
    def family(self) -> Family:
        """The family of its type."""
        if self.type in {"smallint", "integer", "bigint"} or self.type.startswith("numeric"):
            return Family.NUMBER
        if self.type.startswith("timestamp"):
            return Family.TIMESTAMP
        return Family.DATE if self.type == "date" else Family.OTHER

    @property
    def arrow_type(self) -> pa.DataType:
        """Its Arrow type; text if Arrow or Glue have no such type, and for SUPER, which is unloaded as JSON."""
        if found := _NUMERIC.fullmatch(self.type):
            return pa.decimal128(int(found[1]), int(found[2]))
        if self.type.startswith("numeric"):
            return pa.decimal128(*_WIDEST)
        return pa.binary() if is_binary(self.type) else _ARROW.get(self.type, pa.string())

    @property
    def expression(self) -> str:
        """The SQL that unloads it. Types that UNLOAD does not write to Parquet become text."""
        name = quoted(self.name)
        if is_binary(self.type):
            return f"TO_HEX({name}) AS {name}"
        if self.type == "timestamp with time zone":
            return f"{name} AT TIME ZONE 'UTC' AS {name}"
        if self.type in _ARROW or is_text(self.type) or self.type == "super" or self.type.startswith("numeric"):
            return name
        return f"{name}::varchar AS {name}"


def arrow_schema(columns: tuple[Column, ...]) -> pa.Schema:
    """Return the schema of the batches that `typed` returns."""
    return pa.schema([pa.field(column.name, column.arrow_type) for column in columns])


def typed(batch: pa.RecordBatch, columns: tuple[Column, ...], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows of an unloaded file with the columns' own types.

    Raises:
        PermanentError: a value does not fit its type.
    """
    arrays = [_typed(array, column) for array, column in zip(batch.columns, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _typed(array: pa.Array, column: Column) -> pa.Array:
    if is_binary(column.type):
        return pa.array([None if text is None else bytes.fromhex(text) for text in array.to_pylist()], pa.binary())
    try:
        return pc.cast(array, column.arrow_type)
    except pa.ArrowInvalid as error:
        raise PermanentError(
            f"Column {column.name} has a value that is not a {column.arrow_type} ({error}); leave it out or cast it in"
            " a query."
        ) from error
