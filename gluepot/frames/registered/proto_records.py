"""Messages of Protocol Buffers read into columns (`proto_schemas`).

A field that can be absent and is so is null; one of proto3 without a label has its default value then. Fields that the
schema does not know are left out. What is not a message, or holds a time outside of the years 1 to 9999, becomes an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gluepot.frames.chunk import Chunk
from gluepot.frames.refusal import Refusal, no_value, read_each
from gluepot.frames.registered.proto_schemas import (
    AS_JSON,
    ENUM,
    MESSAGE,
    TIMESTAMP,
    WRAPPERS,
    columns,
    is_map,
    message_of,
)

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

_Read = Callable[[Any], Any]

_FIRST_SECS, _LAST_SECS = -62_135_596_800, 253_402_300_799  # the years 1 and 9999


class ProtoRecordDecoder:
    """A `RecordDecoder` for one message.

    Args:
        message: its descriptor.

    Attributes:
        schema: the columns.

    Raises:
        ProtoProblem: the message has no columns.
    """

    def __init__(self, message: Descriptor) -> None:
        from google.protobuf.message import DecodeError  # noqa: PLC0415  an extra
        from google.protobuf.message_factory import GetMessageClass  # noqa: PLC0415

        self.schema = columns(message)
        self._new = GetMessageClass(message)
        self._struct = pa.struct(list(self.schema))
        self._read = _struct(message, self._struct)
        self._undecodable = (DecodeError, ValueError, OverflowError)

    def decode(self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str) -> Chunk:
        """See `RecordDecoder.decode`."""
        rows, errors = read_each(self._row, values, positions, stream, shard)
        return Chunk(pa.RecordBatch.from_struct_array(pa.array(rows, self._struct)), errors)

    def _row(self, value: bytes | None) -> Mapping[str, Any] | Refusal:
        if value is None:
            return no_value()
        message = self._new()
        try:
            message.ParseFromString(value)
            row: Mapping[str, Any] = self._read(message)
        except self._undecodable as wrong:
            return Refusal("malformed_protobuf", f"The record is no message of the schema: {wrong}.")
        return row


def _struct(message: Descriptor, kind: pa.StructType) -> _Read:
    names = {one.name for one in kind}
    plain: list[tuple[str, _Read]] = []
    absent: list[tuple[str, _Read]] = []
    for field in message.fields:
        if field.name in names:
            read = _value(field, kind.field(field.name).type)
            (absent if field.has_presence else plain).append((field.name, read))

    def read_struct(given: Any) -> dict[str, Any]:
        row = {name: read(getattr(given, name)) for name, read in plain}
        for name, read in absent:
            row[name] = read(getattr(given, name)) if given.HasField(name) else None
        return row

    return read_struct


def _value(field: FieldDescriptor, kind: pa.DataType) -> _Read:
    if is_map(field):
        read = _single(message_of(field).fields_by_name["value"], kind.item_type)
        return lambda given: [(key, read(given[key])) for key in given]
    if field.is_repeated:
        read = _single(field, kind.value_type)
        return lambda given: [read(one) for one in given]
    return _single(field, kind)


def _single(field: FieldDescriptor, kind: pa.DataType) -> _Read:
    if field.type == ENUM:
        assert field.enum_type is not None  # None for other types only
        names = {number: one.name for number, one in field.enum_type.values_by_number.items()}
        return lambda given: names.get(given, str(given))
    if field.type != MESSAGE:
        return _as_it_is
    name = message_of(field).full_name
    if name == TIMESTAMP:
        return _micros
    if name in AS_JSON:
        return _json
    if name in WRAPPERS:
        return _wrapped
    return _struct(message_of(field), kind)


def _as_it_is(given: Any) -> Any:
    return given


def _micros(given: Any) -> int:
    if not _FIRST_SECS <= given.seconds <= _LAST_SECS:
        raise ValueError(f"a time stamp is {given.seconds} s from 1970, outside of the years 1 to 9999")
    return int(given.seconds) * 1_000_000 + int(given.nanos) // 1000


def _json(given: Any) -> str:
    from google.protobuf.json_format import MessageToJson  # noqa: PLC0415  an extra

    return MessageToJson(given, indent=None)


def _wrapped(given: Any) -> Any:
    return given.value
