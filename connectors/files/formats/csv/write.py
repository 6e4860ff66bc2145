"""Rows to CSV: a header per file, so all rows of a file share their columns."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa

from gluepot.connectors.files.formats.csv.dialect import escaped, quoted, separator_and_quote
from gluepot.connectors.files.formats.text_file import GATHER_BYTES, Compression, TextFile, text_ending
from gluepot.connectors.json_values import json_values
from gluepot.connectors.value_texts import texts
from gluepot.core.errors import ConfigError
from gluepot.core.option_values import flag
from gluepot.frames.schema import choice_to_string
from gluepot.frames.time_zone import UTC, TimeZone


@dataclass(frozen=True, slots=True)
class CsvOutputFormat:
    """Settings of the encoder.

    Args:
        separator: one character.
        quote: one character, or None to quote nothing.
        header: whether a file begins with the names of its columns.
        compression: of the whole file.
        zone: the zone of timestamps.
    """

    separator: str = ","
    quote: str | None = '"'
    header: bool = True
    compression: Compression = Compression.NONE
    zone: TimeZone = UTC

    @classmethod
    def from_glue(cls, options: Mapping[str, object], compression: Compression) -> CsvOutputFormat:
        """Read Glue's `format_options`; options that concern reading are left alone.

        Raises:
            ConfigError: `separator` or `quoteChar` is not one character, the two are equal, or `writeHeader` is
                neither true nor false.
        """
        separator, quote = separator_and_quote(options, ascii_only=False)
        if quote == separator:
            raise ConfigError(f"separator and quoteChar are both {separator!r}; choose two different characters")
        return cls(separator, quote, flag(options, "writeHeader", default=True), compression)

    @property
    def gather_bytes(self) -> int:
        """Bounds memory; rows with new columns after that many bytes begin another file."""
        return GATHER_BYTES

    @property
    def one_schema(self) -> bool:
        """A file has one header."""
        return True

    def ending(self, task: int, ordinal: int) -> str:
        """Return Glue's ending for text."""
        return text_ending(task, ordinal, self.compression)

    def storable(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows without choices and without columns of nulls alone; an empty list is the text `[]`."""
        kept = [field.name for field in rows.schema if not pa.types.is_null(field.type)]
        return choice_to_string(rows if len(kept) == rows.num_columns else rows.select(kept))

    def encoding(self, schema: pa.Schema) -> Mapping[str, Any]:
        """Return the settings, and the columns: without a header nothing in the file tells them."""
        return {
            "format": "csv",
            "compression": self.compression.value,
            "separator": self.separator,
            "quote": self.quote,
            "header": self.header,
            "columns": schema.names,
        }

    def open(self, output: io.RawIOBase, schema: pa.Schema) -> CsvLines:
        """Start a file."""
        return CsvLines(self, TextFile(output, self.compression), schema)


class CsvLines:
    """One CSV file.

    `dialect` says how nulls, quotes and line breaks are written. Nested values are JSON.
    """

    def __init__(self, settings: CsvOutputFormat, file: TextFile, schema: pa.Schema) -> None:
        self._separator = settings.separator
        self._cell = (
            escaped(settings.separator) if settings.quote is None else quoted(settings.separator, settings.quote)
        )
        self._file = file
        self._zone = settings.zone
        if settings.header:
            self._write_lines([schema.names])

    def takes(self, rows: pa.RecordBatch) -> bool:  # noqa: ARG002 - what the format's contract has
        """Tell that a file of lines takes any further ones."""
        return True

    def write(self, rows: pa.RecordBatch) -> None:
        """Write a line for each row."""
        columns = [_cells(field, column, self._zone) for field, column in zip(rows.schema, rows.columns, strict=True)]
        self._write_lines(zip(*columns, strict=True))

    def close(self) -> None:
        """Write what the compressor still holds."""
        self._file.close()

    def _write_lines(self, rows: Iterable[Sequence[str | None]]) -> None:
        lines = []
        for row in rows:
            # Readers skip empty lines; a null that is alone in its row would take the row with it.
            cells = (
                [self._cell("")] if row == (None,) else ["" if value is None else self._cell(value) for value in row]
            )
            lines.append(self._separator.join(cells))
        self._file.write(("\n".join(lines) + "\n").encode())


def _cells(field: pa.Field, column: pa.Array, zone: TimeZone) -> Sequence[str | None]:
    if pa.types.is_nested(column.type):
        values = json_values(field, column, zone)
        return [None if value is None else orjson.dumps(value).decode() for value in values]
    if pa.types.is_timestamp(column.type):
        stamps: Sequence[str | None] = json_values(field, column, zone)
        return stamps
    if pa.types.is_binary(column.type):
        return [None if value is None else base64.b64encode(value).decode() for value in column.to_pylist()]
    return texts(column)
