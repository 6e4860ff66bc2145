"""Aggregated records, made by the letter of the format and not by the product."""

import hashlib

MAGIC = b"\xf3\x89\x9a\xc2"


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field_of(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def aggregate(records):
    """Return the bytes of an aggregate of (key, data) pairs."""
    keys = list(dict.fromkeys(key for key, _ in records))
    message = b"".join(field_of(1, key.encode()) for key in keys)
    for key, data in records:
        message += field_of(3, varint(1 << 3) + varint(keys.index(key)) + field_of(3, data))
    return MAGIC + message + hashlib.md5(message).digest()
