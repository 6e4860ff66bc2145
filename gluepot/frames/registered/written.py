"""A schema with which records were written, and the decoders for such records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Chunk
from gluepot.frames.declared import RecordDecoder
from gluepot.frames.declared.avro_records import AvroRecordDecoder
from gluepot.frames.declared.avro_types import columns, parsed
from gluepot.frames.declared.json_records import JsonRecordDecoder
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.refusal import Refusal
from gluepot.frames.registered.headers import Header
from gluepot.frames.registered.proto_records import ProtoRecordDecoder
from gluepot.frames.registered.proto_schemas import ProtoSchema
from gluepot.frames.registered.proto_text import ProtoProblem

AVRO, JSON, PROTOBUF = "AVRO", "JSON", "PROTOBUF"
FORMATS = (AVRO, JSON, PROTOBUF)


@dataclass(frozen=True, slots=True)
class WrittenSchema:
    """A schema of a registry.

    Args:
        format: `AVRO`, `JSON` or `PROTOBUF`.
        text: the schema.
        beside: the schemas that it refers to, by the names by which it does, each after those that it needs.
    """

    format: str
    text: str
    beside: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns that a script wants of all records, whatever schema they were written with.

    Args:
        schema: the columns.
        avro: the reader's schema for records of Avro, as JSON; empty if only columns are declared.
    """

    schema: pa.Schema
    avro: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """Payloads that one decoder reads.

    Args:
        decoder: reads them.
        indices: their places among the payloads that were divided.
        payloads: what the decoder takes.
    """

    decoder: RecordDecoder
    indices: Sequence[int]
    payloads: Sequence[bytes]


class Reading(Protocol):
    """Divides payloads that were written with one schema among decoders."""

    def parts(self, payloads: Sequence[bytes]) -> Iterator[Part | tuple[int, Refusal]]:
        """Yield the parts, and the refusals of payloads that no decoder can be found for."""


def reading_of(written: WrittenSchema, header: Header, wanted: Wanted | None) -> Reading | Refusal:
    """Return how payloads of a schema are read, or why they cannot be.

    Args:
        written: the schema.
        header: says which message a payload of Protocol Buffers is.
        wanted: the columns; None for those of the schema, or of the documents if they are JSON.

    Raises:
        ConfigError: a library is not installed.
    """
    try:
        match written.format:
            case "AVRO":
                return _OneDecoder(_avro_decoder(written, wanted))
            case "JSON":
                return _OneDecoder(JsonDecoder() if wanted is None else JsonRecordDecoder(wanted.schema))
            case "PROTOBUF":
                schema = ProtoSchema(written.text, written.beside)
                return _Messages(schema, header, lambda name: ProtoRecordDecoder(schema.message(name)))
    except ProtoProblem as problem:
        return _unreadable(str(problem))
    return _unreadable(f"Its format is {written.format}; {', '.join(FORMATS)} are known.")


def _avro_decoder(written: WrittenSchema, wanted: Wanted | None) -> RecordDecoder | Refusal:
    beside = [text for _, text in written.beside]
    try:
        if wanted is not None and wanted.avro:
            return AvroRecordDecoder(wanted.schema, written.text, wanted.avro, beside)
        return AvroRecordDecoder(columns(*parsed(written.text, beside), has_choices=True), written.text, beside=beside)
    except ConfigError as problem:
        return _unreadable(str(problem))


def _unreadable(why: str) -> Refusal:
    return Refusal("unreadable_schema", f"Records of the schema cannot become columns. {why}")


@dataclass(frozen=True, slots=True)
class _OneDecoder:
    decoder: RecordDecoder | Refusal

    def parts(self, payloads: Sequence[bytes]) -> Iterator[Part | tuple[int, Refusal]]:
        if isinstance(self.decoder, Refusal):
            for index in range(len(payloads)):
                yield index, self.decoder
        else:
            yield Part(self.decoder, range(len(payloads)), payloads)


class _Messages:
    """Divides payloads by the messages that they are."""

    def __init__(self, schema: ProtoSchema, header: Header, decoder: Callable[[str], RecordDecoder]) -> None:
        self._schema = schema
        self._header = header
        self._decoder = decoder
        self._decoders: dict[str, RecordDecoder | Refusal] = {}

    def parts(self, payloads: Sequence[bytes]) -> Iterator[Part | tuple[int, Refusal]]:
        by_name: dict[str, tuple[list[int], list[bytes]]] = {}
        for index, payload in enumerate(payloads):
            match self._header.message(payload, self._schema):
                case Refusal() as refusal:
                    yield index, refusal
                case name, body:
                    indices, bodies = by_name.setdefault(name, ([], []))
                    indices.append(index)
                    bodies.append(body)
        for name, (indices, bodies) in by_name.items():
            decoder = self._decoder_of(name)
            if isinstance(decoder, Refusal):
                for index in indices:
                    yield index, decoder
            else:
                yield Part(decoder, indices, bodies)

    def _decoder_of(self, name: str) -> RecordDecoder | Refusal:
        if name not in self._decoders:
            try:
                self._decoders[name] = self._decoder(name)
            except ProtoProblem as problem:
                self._decoders[name] = _unreadable(str(problem))
        return self._decoders[name]


def decoded(part: Part, stream: str, shard: str) -> Chunk:
    """Return the rows of a part; the positions of its errors are places in the part."""
    return part.decoder.decode(part.payloads, range(len(part.payloads)), stream, shard)
