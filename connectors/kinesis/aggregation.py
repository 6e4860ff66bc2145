"""Unpacks the records that the Kinesis Producer Library packed into one record of the stream.

The format (awslabs/amazon-kinesis-producer, aggregation-format.md): four magic bytes, a protobuf message, the MD5 of
the message.

    AggregatedRecord: repeated string partition_key_table = 1; repeated string explicit_hash_key_table = 2;
                      repeated Record records = 3
    Record:           uint64 partition_key_index = 1; optional uint64 explicit_hash_key_index = 2; bytes data = 3;
                      repeated Tag tags = 4

A record that begins like an aggregate but is not a complete one counts as an ordinary record, as in Amazon's library.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

MAGIC = b"\xf3\x89\x9a\xc2"
_DIGEST_BYTES = 16
_KEYS, _RECORDS = 1, 3
_KEY_INDEX, _DATA = 1, 3
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}


@dataclass(frozen=True, slots=True)
class SubRecord:
    """A record within an aggregate, in the order in which they were packed."""

    key: str
    data: bytes


def taken_apart(data: bytes) -> list[SubRecord] | None:
    """Return the records of an aggregate; None for a record that is not one."""
    if not data.startswith(MAGIC) or len(data) < len(MAGIC) + _DIGEST_BYTES:
        return None
    message, digest = data[len(MAGIC) : -_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if hashlib.md5(message, usedforsecurity=False).digest() != digest:
        return None
    try:
        return _records(message)
    except (ValueError, IndexError, UnicodeDecodeError):
        return None


def _records(message: bytes) -> list[SubRecord]:
    keys: list[str] = []
    records: list[bytes] = []
    for number, value in _fields(message):
        if number == _KEYS and isinstance(value, bytes):
            keys.append(value.decode())
        elif number == _RECORDS and isinstance(value, bytes):
            records.append(value)
    return [_record(one, keys) for one in records]


def _record(message: bytes, keys: list[str]) -> SubRecord:
    index, data = 0, b""
    for number, value in _fields(message):
        if number == _KEY_INDEX and isinstance(value, int):
            index = value
        elif number == _DATA and isinstance(value, bytes):
            data = value
    return SubRecord(keys[index], data)


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and value of each field; ValueError or IndexError for bytes that are no message."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == _LENGTH:
            length, at = _varint(message, at)
        elif kind in _FIXED_BYTES:
            length = _FIXED_BYTES[kind]
        else:
            raise ValueError(f"wire type {kind}")
        if at + length > len(message):
            raise ValueError("a field ends behind the message")
        yield number, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
