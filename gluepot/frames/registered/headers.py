"""The headers that serializers put before a record. Pure.

AWS Glue's serializers write a version (3), a compression (0 for none, 5 for zlib) and the 16 bytes of the version's id
(docs/glue 11.10). Confluent's write a zero and four bytes of an id, the most significant first. Before a message of
Protocol Buffers both say which message of the schema it is: Glue's by its place in the names of all messages in
alphabetical order, Confluent's by the path of places that leads to it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

from gluepot.frames.refusal import Refusal, no_value

# The largest payload that a compressed record may become.
MOST_INFLATED_BYTES: Final = 64 << 20
_MOST_PATH = 64


@dataclass(frozen=True, slots=True)
class Framed:
    """A record in its parts.

    Args:
        id: names the schema.
        payload: the record without its header.
    """

    id: str
    payload: bytes


class Header(Protocol):
    """What serializers of one registry write."""

    def framed(self, value: bytes | None) -> Framed | Refusal:
        """Return the parts of a record, or why it has none."""

    def message(self, payload: bytes, schema: Messages) -> tuple[str, bytes] | Refusal:
        """Return the full name of the message that a payload of Protocol Buffers is, and its bytes."""


class Messages(Protocol):
    """The messages of a schema, by which headers name them."""

    @property
    def names(self) -> Sequence[str]:
        """The full names of all messages, in alphabetical order."""

    def at(self, path: Sequence[int]) -> str | None:
        """Return the full name of the message at a path of places; None if there is none."""


@dataclass(frozen=True, slots=True)
class GlueHeader:
    """The header of AWS Glue's serializers."""

    def framed(self, value: bytes | None) -> Framed | Refusal:
        """See `Header`."""
        if value is None:
            return no_value()
        if len(value) < 18 or value[0] != 3:
            return _no_header("AWS Glue's schema registry: a byte 3, a compression, and 16 bytes of an id")
        payload = value[18:]
        if value[1] == 5:
            inflated = _inflated(payload)
            if isinstance(inflated, Refusal):
                return inflated
            payload = inflated
        elif value[1]:
            return Refusal("no_schema_header", f"The record has the compression {value[1]}; 0 and 5 (zlib) are known.")
        return Framed(str(UUID(bytes=value[2:18])), payload)

    def message(self, payload: bytes, schema: Messages) -> tuple[str, bytes] | Refusal:
        """See `Header`."""
        found = _varint(payload, 0)
        if found is None:
            return _no_message("it ends within the number of its message")
        number, at = found
        if number >= len(schema.names):
            return _no_message(f"it is message {number} of a schema that has {len(schema.names)}")
        return schema.names[number], payload[at:]


@dataclass(frozen=True, slots=True)
class ConfluentHeader:
    """The header of Confluent's serializers."""

    def framed(self, value: bytes | None) -> Framed | Refusal:
        """See `Header`."""
        if value is None:
            return no_value()
        if len(value) < 5 or value[0] != 0:
            return _no_header("Confluent's schema registry: a byte 0 and four bytes of an id")
        return Framed(str(int.from_bytes(value[1:5], "big")), value[5:])

    def message(self, payload: bytes, schema: Messages) -> tuple[str, bytes] | Refusal:
        """See `Header`."""
        found = _path(payload)
        if found is None:
            return _no_message("it ends within the path of its message")
        path, at = found
        # An empty path stands for the first message.
        name = schema.at(path or [0])
        return _no_message(f"the schema has no message at {path}") if name is None else (name, payload[at:])


def _path(payload: bytes) -> tuple[list[int], int] | None:
    """Return the places that lead to a message, and the byte behind them."""
    head = _signed(payload, 0)
    if head is None or not 0 <= head[0] <= _MOST_PATH:
        return None
    count, at = head
    path = []
    for _ in range(count):
        one = _signed(payload, at)
        if one is None:
            return None
        path.append(one[0])
        at = one[1]
    return path, at


def _inflated(payload: bytes) -> bytes | Refusal:
    inflating = zlib.decompressobj()
    try:
        text = inflating.decompress(payload, MOST_INFLATED_BYTES)
    except zlib.error as wrong:
        return Refusal("no_schema_header", f"The record says that it is compressed and cannot be inflated: {wrong}.")
    if inflating.unconsumed_tail:
        return Refusal("too_large", f"The record is larger than {MOST_INFLATED_BYTES >> 20} MiB when it is inflated.")
    if not inflating.eof:
        return Refusal("no_schema_header", "The record says that it is compressed, and ends too early.")
    return text


def _no_header(wanted: str) -> Refusal:
    return Refusal("no_schema_header", f"The record does not begin with the header of {wanted}.")


def _no_message(why: str) -> Refusal:
    return Refusal("malformed_protobuf", f"The record does not say which message it is: {why}.")


def _varint(data: bytes, at: int) -> tuple[int, int] | None:
    """Return an unsigned number and the byte behind it."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return None


def _signed(data: bytes, at: int) -> tuple[int, int] | None:
    """Return a zigzag number and the byte behind it."""
    found = _varint(data, at)
    return None if found is None else ((found[0] >> 1) ^ -(found[0] & 1), found[1])
