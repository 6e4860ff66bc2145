"""BSON as MongoDB dumps it: enough of the format for the types of a document's fields. Pure."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from typing import Any

_LEAST_BYTES, _MOST_BYTES = 5, 16 << 20
_MOST_RECORDS, _MOST_LEVELS = 1000, 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Lengths of the types that always take the same number of bytes.
_FIXED = {0x01: 8, 0x06: 0, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16, 0x7F: 0, 0xFF: 0}
_TEXTS = frozenset({0x02, 0x0D, 0x0E})


class NoBson(ValueError):
    """The bytes are no BSON, or end in the middle of a document."""


def looks_like_bson(data: bytes, *, is_whole: bool) -> bool:
    """Tell whether a file begins with a document's length, and the document ends where that says."""
    if len(data) < _LEAST_BYTES:
        return False
    size = int.from_bytes(data[:4], "little")
    if not _LEAST_BYTES < size <= _MOST_BYTES or data[4] not in {*_FIXED, *_TEXTS, 0x03, 0x04, 0x05, 0x0B}:
        return False
    return data[size - 1] == 0 if size <= len(data) else not is_whole


def bson_records(data: bytes) -> list[dict[str, Any]]:
    """Return the documents that a head holds from begin to end."""
    found: list[dict[str, Any]] = []
    at = 0
    while at + 4 <= len(data) and len(found) < _MOST_RECORDS:
        size = int.from_bytes(data[at : at + 4], "little")
        if size < _LEAST_BYTES or at + size > len(data):
            break
        try:
            found.append(_document(data[at : at + size], 0))
        except (NoBson, struct.error, IndexError, OverflowError, UnicodeDecodeError):
            return []
        at += size
    return found


def _document(data: bytes, level: int) -> dict[str, Any]:
    if level > _MOST_LEVELS:
        raise NoBson
    fields: dict[str, Any] = {}
    at, end = 4, len(data) - 1
    while at < end:
        kind = data[at]
        stop = data.index(b"\0", at + 1) if b"\0" in data[at + 1 : end] else end
        if stop >= end:
            raise NoBson
        fields[data[at + 1 : stop].decode()], at = _value(kind, data, stop + 1, level)
    if at != end:
        raise NoBson
    return fields


def _value(kind: int, data: bytes, at: int, level: int) -> tuple[Any, int]:
    if kind in _FIXED:
        end = at + _FIXED[kind]
        return _scalar(kind, data[at:end]), end
    if kind not in {*_TEXTS, 0x03, 0x04, 0x05}:
        raise NoBson
    size = int.from_bytes(data[at : at + 4], "little")
    if size < 0 or at + size > len(data):
        raise NoBson
    if kind in _TEXTS:
        return data[at + 4 : at + 3 + size].decode(), at + 4 + size
    if kind == 0x05:
        return data[at + 5 : at + 5 + size], at + 5 + size
    inner = _document(data[at : at + size], level + 1)
    return (list(inner.values()) if kind == 0x04 else inner), at + size


def _scalar(kind: int, data: bytes) -> Any:
    match kind:
        case 0x01:
            return struct.unpack("<d", data)[0]
        case 0x07:
            return data.hex()
        case 0x08:
            return data != b"\0"
        case 0x09:
            return _EPOCH + timedelta(milliseconds=struct.unpack("<q", data)[0])
        case 0x10:
            return struct.unpack("<i", data)[0]
        case 0x11 | 0x12:
            return struct.unpack("<q", data)[0]
        case 0x13:
            return data.hex()
    return None
