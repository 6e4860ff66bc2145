"""Rows to JSON, one object per line."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa

from gluepot.connectors.files.formats.text_file import GATHER_BYTES, Compression, TextFile, text_ending
from gluepot.connectors.json_values import json_values
from gluepot.frames.time_zone import UTC, TimeZone


@dataclass(frozen=True, slots=True)
class JsonOutputFormat:
    """Settings of the encoder.

    Args:
        compression: of the whole file.
        zone: the zone of timestamps.
    """

    compression: Compression = Compression.NONE
    zone: TimeZone = UTC

    @property
    def gather_bytes(self) -> int:
        """Bounds memory only."""
        return GATHER_BYTES

    @property
    def one_schema(self) -> bool:
        """Each line stands for itself."""
        return False

    def ending(self, task: int, ordinal: int) -> str:
        """Return Glue's ending for text."""
        return text_ending(task, ordinal, self.compression)

    def storable(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows as they are: JSON can hold anything, a choice as the value it has."""
        return rows

    def encoding(self, schema: pa.Schema) -> Mapping[str, Any]:  # noqa: ARG002 - each line names its fields
        """Only the compression is not in the lines."""
        return {"format": "json", "compression": self.compression.value}

    def open(self, output: io.RawIOBase, schema: pa.Schema) -> JsonLines:  # noqa: ARG002 - no schema in the file
        """Start a file."""
        return JsonLines(TextFile(output, self.compression), self.zone)


class JsonLines:
    """One file of JSON lines."""

    def __init__(self, file: TextFile, zone: TimeZone = UTC) -> None:
        self._file = file
        self._zone = zone

    def takes(self, rows: pa.RecordBatch) -> bool:  # noqa: ARG002 - what the format's contract has
        """Tell that a file of lines takes any further ones."""
        return True

    def write(self, rows: pa.RecordBatch) -> None:
        """Write a line for each row, also for one without any column."""
        names = rows.schema.names
        columns = [
            json_values(field, column, self._zone) for field, column in zip(rows.schema, rows.columns, strict=True)
        ]
        values = zip(*columns, strict=True) if columns else [()] * rows.num_rows
        for row in values:
            present = {name: value for name, value in zip(names, row, strict=True) if value is not None}
            self._file.write(orjson.dumps(present, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        """Write what the compressor still holds."""
        self._file.close()
