"""BSON as its specification writes it down: the types that a crawl finds in a dump of MongoDB."""

from __future__ import annotations

import struct
from datetime import UTC, datetime

import pytest

from gluepot.crawl.classify.bson import bson_records, looks_like_bson

# The first two documents of https://bsonspec.org/spec.html, "Specification Version 1.1", Examples.
HELLO = b"\x16\x00\x00\x00\x02hello\x00\x06\x00\x00\x00world\x00\x00"
AWESOME = (
    b"\x31\x00\x00\x00\x04BSON\x00\x26\x00\x00\x00\x02\x30\x00\x08\x00\x00\x00awesome\x00"
    b"\x01\x31\x00\x33\x33\x33\x33\x33\x33\x14\x40\x10\x32\x00\xc2\x07\x00\x00\x00\x00"
)


def document(*elements: bytes) -> bytes:
    body = b"".join(elements)
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def element(kind: int, value: bytes, name: bytes = b"a") -> bytes:
    return bytes([kind]) + name + b"\0" + value


def nested(levels: int) -> bytes:
    found = document()
    for _ in range(levels):
        found = document(element(3, found))
    return found


def test_the_documents_of_the_specification_are_read():
    assert bson_records(HELLO + AWESOME) == [{"hello": "world"}, {"BSON": ["awesome", 5.05, 1986]}]


@pytest.mark.parametrize(
    ("kind", "value", "meant"),
    [
        (0x01, struct.pack("<d", 2.5), 2.5),
        (0x03, document(element(0x10, struct.pack("<i", 7), b"b")), {"b": 7}),
        (0x05, struct.pack("<i", 3) + b"\x00\x01\x02\x03", b"\x01\x02\x03"),
        (0x07, bytes(range(12)), "000102030405060708090a0b"),
        (0x08, b"\x01", True),
        (0x09, struct.pack("<q", -1000), datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (0x0A, b"", None),
        (0x10, struct.pack("<i", -2), -2),
        (0x12, struct.pack("<q", 1 << 40), 1 << 40),
        (0x13, bytes(16), "00" * 16),
    ],
    ids=["double", "document", "binary", "id", "boolean", "date", "null", "int", "long", "decimal"],
)
def test_each_type_has_its_value(kind, value, meant):
    assert bson_records(document(element(kind, value))) == [{"a": meant}]


def test_a_document_that_a_head_cuts_off_is_left_out():
    assert bson_records(HELLO + AWESOME[:-1]) == [{"hello": "world"}]


@pytest.mark.parametrize(
    "data",
    [
        document(element(0x02, struct.pack("<i", 1 << 30) + b"x\0")),
        document(element(0x7B, b"")),
        document(b"\x02name without an end"),
        document(element(0x10, b"\0\0\0\0\0\0\0\0"), element(0x10, b"\0")),
        nested(200),
    ],
    ids=["a long text", "an unknown type", "a name", "a value beyond the end", "too deep"],
)
def test_what_is_no_bson_holds_nothing(data):
    assert bson_records(data) == []


@pytest.mark.parametrize(
    ("data", "is_whole", "looks"),
    [
        (HELLO, True, True),
        (HELLO[:-1], False, True),
        (HELLO[:-1], True, False),
        (b"\x05\0", True, False),
        (b"\x05\0\0\0\0", True, False),
        (b"PAR1" + HELLO, True, False),
        (HELLO[:-1] + b"x", True, False),
    ],
)
def test_a_file_is_told_by_its_first_document(data, is_whole, looks):
    assert looks_like_bson(data, is_whole=is_whole) is looks
