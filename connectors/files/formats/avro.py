"""Avro: records with a schema of their own; logical types become the types they mean."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
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
from gluepot.frames.declared.avro_choices import holds_choices, placing
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.schema.merge import merge_fields

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
            place = None if schema is None else _placing(pa.struct(list(schema)))
            reader = fastavro.reader(cast("BinaryIO", blocks), return_record_name=place is not None)
            records = ((cast("dict[str, Any]", row), blocks.record_bytes) for row in reader)
            for rows in gathered(records, _BATCH_ROWS):
                yield Chunk(_batch(rows if place is None else list(map(place, rows)), schema))
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


def _placing(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """Return what puts the values of records to where their columns want them; None if they are there."""
    return placing(pa.field("", kind)) if holds_choices(kind) else None


def _batch(rows: list[Any], schema: pa.Schema | None) -> pa.RecordBatch:
    if schema is None:  # a type that refers to itself: the values tell how deep it is
        return batch_from_objects(rows)
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def _arrow_schema(avro: Any) -> pa.Schema | None:
    """Return the Arrow schema of a record; None where a type refers to itself. A union of several types is a choice."""
    try:
        return pa.schema(list(_arrow("", avro, {}, (), iter(range(_MOST_COLUMNS))).type))
    except LookupError:
        return None


def _arrow(name: str, avro: Any, named: dict[str, Any], within: tuple[str, ...], left: Iterator[int]) -> pa.Field:
    if next(left, None) is None:
        raise ValueError(f"its schema has more than {_MOST_COLUMNS} columns")
    if isinstance(avro, list):
        held = [_arrow(name, kind, named, within, left) for kind in avro]
        return reduce(merge_fields, held, pa.field(name, pa.null()))
    if isinstance(avro, str):
        if avro in _PRIMITIVE:
            return pa.field(name, _PRIMITIVE[avro])
        if avro in within:
            raise LookupError
        return _arrow(name, named[avro], named, within, left)
    return _arrow_complex(name, avro, named, within, left)


def _arrow_complex(
    name: str, avro: Mapping[str, Any], named: dict[str, Any], within: tuple[str, ...], left: Iterator[int]
) -> pa.Field:
    own = avro.get("name")
    if own is not None:
        named[own] = avro
    if avro.get("logicalType") == "decimal":
        return pa.field(name, pa.decimal128(avro["precision"], avro.get("scale", 0)))
    if avro.get("logicalType") in _LOGICAL:
        return pa.field(name, _LOGICAL[avro["logicalType"]])
    match avro["type"]:
        case "record" | "error":
            inside = (*within, str(own))
            fields = [_arrow(one["name"], one["type"], named, inside, left) for one in avro["fields"]]
            return pa.field(name, pa.struct(fields))
        case "array":
            return pa.field(name, pa.list_(_arrow("element", avro["items"], named, within, left)))
        case "map":
            return pa.field(name, pa.map_(pa.string(), _arrow("value", avro["values"], named, within, left)))
        case other:
            return _arrow(name, other, named, within, left)
