"""Avro: records with a schema of their own; logical types become the types they mean (docs/glue 5.2)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import fastavro
import pyarrow as pa

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.avro_blocks import PlainBlocks, broken, unusable
from gluepot.connectors.files.formats.avro_schema import (
    ALL_LOGIC,
    LOGIC_BY_VERSION,
    AvroSchema,
    UnusableSchemaError,
    in_microseconds,
)
from gluepot.connectors.files.formats.bounds import gathered
from gluepot.connectors.files.formats.retyping import as_type
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.frames.chunk import Chunk
from gluepot.frames.declared.avro_choices import holds_choices, placing
from gluepot.frames.declared.avro_logic import mixes_numbers

_BATCH_ROWS = 10_000
# What fastavro and the placing of values raise over a block whose bytes are not records of the schema.
_UNDECODABLE = (
    ValueError,
    ArithmeticError,
    EOFError,
    LookupError,
    StopIteration,
    RecursionError,
    TypeError,
    struct.error,
)


@dataclass(frozen=True, slots=True)
class AvroInputFormat:
    """Settings of the reader.

    Args:
        logic: the logical types that become columns of their own; values of others are what they are stored as.
    """

    logic: frozenset[str] = ALL_LOGIC

    @classmethod
    def from_glue(cls, options: Mapping[str, Any]) -> AvroInputFormat:
        """Read Glue's `format_options`.

        Raises:
            ConfigError: `version` is none that Glue has.
        """
        version = options.get("version")
        if version is None or version == "":
            return cls()
        if str(version) not in LOGIC_BY_VERSION:
            raise ConfigError(
                f"version is {version!r}; give '1.8' to read logical types, '1.7' to read values as they are stored, or"
                " leave it out."
            )
        return cls(LOGIC_BY_VERSION[str(version)])

    @property
    def needs_seek(self) -> bool:
        """It compresses inside of the file."""
        return True

    @property
    def splits(self) -> bool:
        """Blocks are not looked for."""
        return False

    def reader(self) -> AvroInputFormat:
        """Return itself: nothing is kept from file to file."""
        return self

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order."""
        blocks = PlainBlocks(file.plain, file.place, self.logic)
        stored = _columns(blocks, file.place)
        place = _placing(pa.struct(list(stored)), blocks.schema)
        columns = in_microseconds(stored)
        done = 0
        for rows in gathered(_records(blocks, place), _BATCH_ROWS):
            try:
                batch = pa.RecordBatch.from_struct_array(pa.array(rows, pa.struct(list(stored))))
                retyped = [as_type(column, field.type) for column, field in zip(batch.columns, columns, strict=True)]
                yield Chunk(pa.RecordBatch.from_arrays(retyped, schema=columns) if retyped else batch)
            except (pa.ArrowException, OverflowError) as error:
                raise _misfit(rows, stored, columns, done, file.place) from error
            done += len(rows)


def schema_of(file: OpenFile) -> tuple[pa.Schema, str]:
    """Return the columns of a file, and its own schema as JSON. Records are not read.

    Raises:
        PermanentError: the file is not an Avro file, or its header or its schema cannot be read.
    """
    blocks = PlainBlocks(file.plain, file.place, ALL_LOGIC)
    return in_microseconds(_columns(blocks, file.place)), blocks.schema_text


def _columns(blocks: PlainBlocks, place: str) -> pa.Schema:
    try:
        return blocks.schema.columns()
    except UnusableSchemaError as error:
        raise unusable(place, error) from error
    except (LookupError, TypeError, RecursionError) as error:
        raise unusable(place, f"its schema cannot be read ({error!r}); write it again") from error


def _placing(kind: pa.DataType, schema: AvroSchema) -> Callable[[Any], Any] | None:
    """Return what puts the values of records to where their columns want them; None if they are there."""
    is_needed = holds_choices(kind) or mixes_numbers(schema.parsed, schema.named)
    return placing(pa.field("", kind)) if is_needed else None


def _records(blocks: PlainBlocks, place: Callable[[Any], Any] | None) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield each record with an estimate of its memory in bytes."""
    try:
        reader: Any = fastavro.block_reader(cast("BinaryIO", blocks), return_record_name=place is not None)
        for block in reader:
            for row in block:
                yield cast("dict[str, Any]", row if place is None else place(row)), blocks.record_bytes
            if block.bytes_.read(1):
                raise ValueError("it has bytes beyond its last record")
    except _UNDECODABLE as error:
        raise blocks.undecodable(error) from error


def _misfit(rows: list[dict[str, Any]], stored: pa.Schema, columns: pa.Schema, done: int, place: str) -> PermanentError:
    """Return the error of a file in which a value does not fit the type of its column."""
    for number, row in enumerate(rows, done + 1):
        for field, column in zip(stored, columns, strict=True):
            try:
                as_type(pa.array([row.get(field.name)], field.type), column.type)
            except (pa.ArrowException, OverflowError) as error:
                where = f"in record {number} that the column {field.name!r} of type {column.type}"
                return broken(place, f"has a value {where} cannot hold ({error})")
    return broken(place, "has a value that its column cannot hold")
