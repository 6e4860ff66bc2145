"""Columns of a result: their PostgreSQL types, the SQL that selects them, and their Arrow types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.jdbc.keys import Family
from gluepot.connectors.jdbc.postgresql.times import leaves, unheld
from gluepot.core.errors import PermanentError
from gluepot.frames.schema.glue_types import TIMESTAMP

_ARROW = {
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "bool": pa.bool_(),
    "text": pa.string(),
    "varchar": pa.string(),
    "bpchar": pa.string(),
    "name": pa.string(),
    "bytea": pa.binary(),
    "date": pa.date32(),
    # A time without a zone is one in UTC, as on Glue, which has one type for both. Spark uses the session's zone.
    "timestamp": TIMESTAMP,
    "timestamptz": TIMESTAMP,
}
_LISTS = {f"_{name}": pa.list_(kind) for name, kind in _ARROW.items() if name not in {"timestamp", "bpchar", "name"}}
_FAMILIES = {
    "int2": Family.NUMBER,
    "int4": Family.NUMBER,
    "int8": Family.NUMBER,
    "numeric": Family.NUMBER,
    "date": Family.DATE,
    "timestamp": Family.TIMESTAMP,
    "timestamptz": Family.TIMESTAMP,
}
WHOLE = frozenset({"int2", "int4", "int8"})
# Spark's precision and scale for a numeric without precision, or with more digits than a decimal can have.
_WIDEST = (38, 18)


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Args:
        name: name of the result.
        type: PostgreSQL's name of the type, as in `pg_type`, or the driver's note of a type that it cannot name.
        typmod: PostgreSQL's parameters of the type; -1 if there are none.
    """

    name: str
    type: str
    typmod: int = -1

    @property
    def family(self) -> Family:
        """The family of its type."""
        return _FAMILIES.get(self.type, Family.OTHER)

    @property
    def arrow_type(self) -> pa.DataType:
        """Its Arrow type; text if Arrow or Glue have no such type, as for `jsonb`, `uuid`, `interval`, `inet`."""
        if self.type == "numeric":
            return pa.decimal128(*self._digits)
        return _ARROW.get(self.type) or _LISTS.get(self.type) or pa.string()

    @property
    def expression(self) -> str:
        """The SQL that selects it. The server converts types to text that the driver would return as opaque bytes."""
        name = quoted(self.name)
        if self.type == "numeric":
            precision, scale = self._digits
            text = f"{name}::numeric({precision},{scale})::text"
            if self._is_bounded:
                return f"{text} AS {name}"
            # The server's error for a larger number would name neither column nor value; `typed` names both. With the
            # space it is no number for Arrow, which reads some texts of very many digits as another number.
            fits = f"abs(round({name}, {scale})) < 1e{precision - scale}"
            return f"CASE WHEN {fits} THEN {text} ELSE {name}::text || ' ' END AS {name}"
        return name if self.type in _ARROW or self.type in _LISTS else f"{name}::text AS {name}"

    @property
    def is_nested(self) -> str:
        """The SQL that tells whether an array has several dimensions, which the driver would return as one."""
        return f"coalesce(array_ndims({quoted(self.name)}) > 1, false)"

    @property
    def _declared(self) -> tuple[int, int]:
        return (self.typmod - 4) >> 16 & 0xFFFF, (self.typmod - 4) & 0x7FF

    @property
    def _is_bounded(self) -> bool:
        """Whether a decimal has all digits of the type."""
        precision, scale = self._declared
        return self.typmod >= 0 and 0 <= scale <= precision <= _WIDEST[0]

    @property
    def _digits(self) -> tuple[int, int]:
        return self._declared if self._is_bounded else _WIDEST


def columns_of(schema: pa.Schema) -> tuple[Column, ...]:
    """Return the columns that the driver describes."""
    return tuple(
        Column(one.name, _noted(one, b"POSTGRESQL:type"), int(_noted(one, b"POSTGRESQL:typmod") or -1))
        for one in schema
    )


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    """Return the schema of the batches that `typed` returns."""
    return pa.schema([pa.field(column.name, column.arrow_type) for column in columns])


def typed(batch: pa.RecordBatch, columns: Sequence[Column], schema: pa.Schema, relation: str) -> pa.RecordBatch:
    """Return a result's batch with the columns converted to their Arrow types.

    Args:
        batch: the result's columns.
        columns: what they are.
        schema: see `arrow_schema`.
        relation: the table or query, for messages.

    Raises:
        PermanentError: a number is NaN or infinite, a date or time is, or a value does not fit its type.
    """
    arrays = [_held(array, column, relation) for array, column in zip(batch.columns, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def require_flat(batch: pa.RecordBatch, lists: Sequence[Column], relation: str) -> None:
    """Check that no array has several dimensions.

    Args:
        batch: a result whose last columns are `Column.is_nested` of each array.
        lists: the arrays.
        relation: the table or query, for messages.

    Raises:
        PermanentError: an array has several dimensions.
    """
    for column, nested in zip(lists, batch.columns[batch.num_columns - len(lists) :], strict=True):
        if pc.any(nested).as_py():
            raise PermanentError(
                f"Column {column.name} of {relation} has an array of several dimensions, which is not read as such;"
                f" read a query with to_json({column.name})."
            )


def quoted(name: str) -> str:
    """Return a quoted name, for which PostgreSQL keeps the letter case."""
    return '"' + name.replace('"', '""') + '"'


def unquoted(name: str) -> str:
    """Return the plain name from a quoted one; a name without quotes stays as it is."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def _held(array: pa.Array, column: Column, relation: str) -> pa.Array:
    if (value := unheld(array)) is not None:
        kind = "date" if pa.types.is_date(leaves(array).type) else "timestamp"
        raise PermanentError(
            f"Column {column.name} of {relation} has {value}, which a {kind} cannot hold; leave such rows out, or read"
            " a query that replaces the value."
        )
    wanted = column.arrow_type
    if array.type == wanted:
        return array
    try:
        return pc.cast(array, wanted)
    except pa.ArrowInvalid as error:
        raise PermanentError(
            f"Column {column.name} of {relation} has a value that is not a {wanted} ({error}); leave it out or cast it"
            " in a query."
        ) from error


def _noted(field: pa.Field, key: bytes) -> str:
    noted: bytes = (field.metadata or {}).get(key, b"")
    return noted.decode()
