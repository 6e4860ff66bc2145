"""Avro: records with a schema of their own; logical types become the types they mean."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from lzma import LZMAError
from typing import Any, BinaryIO, cast

import fastavro
import pyarrow as pa
from fastavro.schema import SchemaParseException, UnknownType

from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.avro_blocks import PlainBlocks
from gluepot.connectors.files.formats.bounds import gathered
from gluepot.core.errors import PermanentError
from gluepot.frames.chunk import Chunk
from gluepot.frames.objects import batch_from_objects

_BATCH_ROWS = 10_000
# Of a file whose schema does not tell the types of its columns.
_SAMPLE_ROWS = 1000
_PRIMITIVE = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "fixed": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
}
_LOGICAL = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
    "uuid": pa.string(),
}


# What our reading of blocks, the codecs, fastavro and pyarrow raise over bytes that are no Avro file. RecursionError
# means a schema of too many levels.
_UNREADABLE = (
    ValueError,
    OverflowError,
    EOFError,
    LookupError,
    StopIteration,
    OSError,
    RecursionError,
    SchemaParseException,
    UnknownType,
    TypeError,
    AttributeError,
    zlib.error,
    LZMAError,
    struct.error,
    pa.ArrowException,
)
# A schema that names its types can hold each of them twice in the next: twenty levels make a million columns.
_MOST_COLUMNS = 20_000


@dataclass(frozen=True, slots=True)
class AvroInputFormat:
    """The reader; it has no settings."""

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
        try:
            blocks = PlainBlocks(file.plain, file.place)
            schema = _arrow_schema(blocks.schema)
            reader = fastavro.reader(cast("BinaryIO", blocks))
            for rows in gathered(((row, blocks.record_bytes) for row in reader), _BATCH_ROWS):
                yield Chunk(_batch(rows, schema))
        except _UNREADABLE as error:
            raise _unreadable(file.place, error) from error


def schema_of(file: OpenFile) -> tuple[pa.Schema, str]:
    """Return the columns of a file, and its own schema as JSON. Of the records, those of one block are read at most.

    Raises:
        PermanentError: the file is no Avro file.
    """
    try:
        blocks = PlainBlocks(file.plain, file.place)
        schema = _arrow_schema(blocks.schema)
        if schema is None:
            rows: list[Any] = list(islice(fastavro.reader(cast("BinaryIO", blocks)), _SAMPLE_ROWS))
            schema = batch_from_objects(rows).schema
    except _UNREADABLE as error:
        raise _unreadable(file.place, error) from error
    return schema, blocks.schema_text


def _unreadable(place: str, error: Exception) -> PermanentError:
    return PermanentError(
        f"{place} is no Avro file, or was not written to its end ({type(error).__name__}: {error});"
        " write it again, or leave it out with exclusions"
    )


def _batch(rows: list[Any], schema: pa.Schema | None) -> pa.RecordBatch:
    if schema is None:  # a field of several types: the values decide, which makes it a choice
        return batch_from_objects(rows)
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def _arrow_schema(avro: Any) -> pa.Schema | None:
    """Return the Arrow schema of a record; None where a union has several types, or a type refers to itself."""
    try:
        return pa.schema(list(_arrow(avro, {}, (), iter(range(_MOST_COLUMNS)))))
    except LookupError:
        return None


def _arrow(avro: Any, named: dict[str, Any], within: tuple[str, ...], left: Iterator[int]) -> pa.DataType:
    if next(left, None) is None:
        raise ValueError(f"its schema has more than {_MOST_COLUMNS} columns")
    if isinstance(avro, list):
        kinds = [kind for kind in avro if kind != "null"]
        if len(kinds) > 1:
            raise LookupError
        return _arrow(kinds[0], named, within, left) if kinds else pa.null()
    if isinstance(avro, str):
        if avro in _PRIMITIVE:
            return _PRIMITIVE[avro]
        if avro in within:
            raise LookupError
        return _arrow(named[avro], named, within, left)
    return _arrow_complex(avro, named, within, left)


def _arrow_complex(
    avro: Mapping[str, Any], named: dict[str, Any], within: tuple[str, ...], left: Iterator[int]
) -> pa.DataType:
    name = avro.get("name")
    if name is not None:
        named[name] = avro
    if avro.get("logicalType") == "decimal":
        return pa.decimal128(avro["precision"], avro.get("scale", 0))
    if avro.get("logicalType") in _LOGICAL:
        return _LOGICAL[avro["logicalType"]]
    match avro["type"]:
        case "record" | "error":
            inside = (*within, str(name))
            return pa.struct(
                [pa.field(one["name"], _arrow(one["type"], named, inside, left)) for one in avro["fields"]]
            )
        case "array":
            return pa.list_(pa.field("element", _arrow(avro["items"], named, within, left)))
        case "map":
            return pa.map_(pa.string(), _arrow(avro["values"], named, within, left))
        case other:
            return _arrow(other, named, within, left)
