"""Avro datums read into the columns of the schema they were written with, or of one that a reader wants.

A record is one datum in Avro's binary encoding and nothing else: no container file, no header of a schema registry.
What does not decode, has bytes left over, holds a time beyond year 9999, or takes too much memory becomes an error.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, cast

import pyarrow as pa

from gluepot.frames.chunk import Chunk
from gluepot.frames.declared.avro_choices import holds_choices, placing
from gluepot.frames.declared.avro_footprint import AvroFootprint, TooLarge
from gluepot.frames.declared.avro_logic import mixes_numbers
from gluepot.frames.declared.avro_types import columns, parsed
from gluepot.frames.refusal import Refusal, no_value, read_each

# What fastavro raises over bytes that are no datum, whichever of its readers meets them.
_UNDECODABLE = (EOFError, LookupError, ValueError, ArithmeticError, TypeError, struct.error)


@dataclass(frozen=True)
class DeclaredAvro:
    """A `DeclaredPayload` of one datum a record; made by `of`.

    Args:
        schema: the columns.
        written: the Avro schema, as JSON.
    """

    schema: pa.Schema
    written: str

    @classmethod
    def of(cls, written: str) -> DeclaredAvro:
        """Check a script's schema.

        Raises:
            ConfigError: it is no Avro schema of a record, or holds a type that has no column.
        """
        return cls(columns(*parsed(written)), written)

    def decoder(self) -> AvroRecordDecoder:
        """See `DeclaredPayload.decoder`."""
        return AvroRecordDecoder(self.schema, self.written)


class AvroRecordDecoder:
    """A `RecordDecoder` for Avro; see `DeclaredAvro` for its arguments.

    Args:
        schema: the columns, of `wanted` if that is given.
        written: the Avro schema with which the records were written, as JSON.
        wanted: the reader's schema, by Avro's rules of schema resolution; None for `written`.
        beside: schemas of types that `written` names and does not define, each after those that it needs.
    """

    def __init__(self, schema: pa.Schema, written: str, wanted: str | None = None, beside: Sequence[str] = ()) -> None:
        from fastavro import schemaless_reader  # noqa: PLC0415  of use to Avro streams only
        from fastavro.read import SchemaResolutionError  # noqa: PLC0415

        self._read_datum = schemaless_reader
        self._written, named = parsed(written, beside)
        self._wanted = None if wanted is None else parsed(wanted)[0]
        self._undecodable = (*_UNDECODABLE, SchemaResolutionError)
        self._footprint = AvroFootprint(self._written, named)
        self._struct = pa.struct(list(schema))
        is_needed = holds_choices(self._struct) or mixes_numbers(self._written, named)
        self._place = placing(pa.field("", self._struct)) if is_needed else None

    def decode(self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str) -> Chunk:
        """See `RecordDecoder.decode`."""
        rows, errors = read_each(self._row, values, positions, stream, shard)
        try:
            array = pa.array(rows, self._struct)
        except pa.ArrowException:  # a value that its type cannot hold, such as a decimal with more digits than declared
            rows, errors = read_each(self._fitting_row, values, positions, stream, shard)
            array = pa.array(rows, self._struct)
        return Chunk(pa.RecordBatch.from_struct_array(array), errors)

    def _row(self, value: bytes | None) -> dict[str, Any] | Refusal:
        if value is None:
            return no_value()
        datum = BytesIO(value)
        try:
            self._footprint.check(value)
            is_placed = self._place is not None
            read = self._read_datum(datum, self._written, self._wanted, return_record_name=is_placed)
            row = cast("dict[str, Any]", read)
        except TooLarge as wrong:
            return Refusal("too_large", f"The record is not read, because {wrong}.")
        except self._undecodable as wrong:
            return Refusal("malformed_avro", f"The record is no datum of the schema: {wrong!r}.")
        if left := len(value) - datum.tell():
            return Refusal("malformed_avro", f"The record has {left} bytes beyond a datum of the schema.")
        return row if self._place is None else cast("dict[str, Any]", self._place(row))

    def _fitting_row(self, value: bytes | None) -> dict[str, Any] | Refusal:
        row = self._row(value)
        if not isinstance(row, Refusal):
            try:
                pa.array([row], self._struct)
            except pa.ArrowException as wrong:
                return Refusal("malformed_avro", f"The record holds a value beyond the schema: {wrong}.")
        return row
