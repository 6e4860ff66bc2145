"""Lines of separated values read into the columns a script declares for them.

A record is one line, a value may be in double quotes, and two double quotes in it are one, as in Glue's csv reader
(docs/glue 5.2). Empty values are null. The rest is what Spark's `from_csv` does in its permissive mode: a value that
does not fit is null and the row stays, values missing at the end are null, values beyond the last column disappear
and are counted.
Unlike there

- a record that is empty or not one line, has quotes in wrong places, or is not UTF-8, becomes an error, not a row with
  nulls in it;
- a backslash is a character like any other, also before a quote, and two double quotes are not kept as two;
- numbers and times are read as in `json_records`; a decimal may have white space around it, a double no suffix.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from gluepot.core.errors import ConfigError
from gluepot.frames.cast import try_cast
from gluepot.frames.cast.masks import keep_matching
from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import Column, batch_of
from gluepot.frames.declared.types import is_scalar
from gluepot.frames.refusal import Refusal, no_value, not_utf8, read_each
from gluepot.frames.time_zone import UTC, TimeZone

BEYOND = "(beyond the last column)"
"""Stands for the name of a field where values are counted that have no column."""
_LONGEST_VALUE = 2**31 - 1


@dataclass(frozen=True)
class DeclaredCsv:
    """A `DeclaredPayload` of one line a record; made by `of`.

    Args:
        schema: of flat types.
        delimiter: one character.
        zone: the zone of times without one.
    """

    schema: pa.Schema
    delimiter: str
    zone: TimeZone = UTC

    @classmethod
    def of(cls, schema: pa.Schema, delimiter: str, zone: TimeZone = UTC) -> DeclaredCsv:
        """Check a script's schema.

        Raises:
            ConfigError: a type that a value in a line cannot have.
        """
        for field in schema:
            if not is_scalar(field.type):
                raise ConfigError(f"Field {field.name} of the schema is a {field.type}, which csv has no form for.")
        return cls(pa.schema([pa.field(field.name, field.type) for field in schema]), delimiter, zone)

    def decoder(self) -> CsvRecordDecoder:
        """See `DeclaredPayload.decoder`."""
        return CsvRecordDecoder(self.schema, self.delimiter, self.zone)


class CsvRecordDecoder:
    """A `RecordDecoder` for csv; see `DeclaredCsv` for its arguments."""

    def __init__(self, schema: pa.Schema, delimiter: str, zone: TimeZone = UTC) -> None:
        self._schema = schema
        self._zone = zone
        self._delimiter = delimiter
        csv.field_size_limit(_LONGEST_VALUE)  # of the process; 128 KiB unless told

    def decode(self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str) -> Chunk:
        """See `RecordDecoder.decode`."""
        rows, errors = read_each(self._row, values, positions, stream, shard)
        columns, misfits = [], {}
        for index, field in enumerate(self._schema):
            texts = pa.array([_at(row, index) for row in rows], pa.string())
            typed = _typed(texts, field.type, self._zone)
            columns.append(Column(field, typed))
            if lost := typed.null_count - texts.null_count:
                misfits[field.name] = lost
        if beyond := sum(max(0, len(row) - len(columns)) for row in rows):
            misfits[BEYOND] = beyond
        return Chunk(batch_of(columns, len(rows)), errors, misfits=misfits)

    def _row(self, value: bytes | None) -> list[str] | Refusal:
        if value is None:
            return no_value()
        try:
            line = value.decode().removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as wrong:
            return not_utf8(wrong)
        if not line:
            return Refusal("malformed_csv", "The record is empty.")
        if not any(special in line for special in '"\r\n'):
            return line.split(self._delimiter)
        try:
            return next(csv.reader([line], delimiter=self._delimiter, strict=True))
        except csv.Error as wrong:
            return Refusal("malformed_csv", f"The record is not one line of values: {wrong}.")


def _at(row: Sequence[str], index: int) -> str | None:
    return (row[index] or None) if index < len(row) else None


def _typed(texts: pa.StringArray, kind: pa.DataType, zone: TimeZone) -> pa.Array:
    if pa.types.is_integer(kind):
        texts = keep_matching(texts, "[+-]?[0-9]+")
    elif pa.types.is_boolean(kind):
        texts = keep_matching(texts, "(?i:true|false)")
    return try_cast(texts, kind, zone)
