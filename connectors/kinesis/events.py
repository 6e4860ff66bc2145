"""Decodes `application/vnd.amazon.eventstream`, the form in which SubscribeToShard sends its events. Pure.

A message is: its length, the length of its headers, the CRC-32 of these eight bytes; the headers; the payload; the
CRC-32 of everything before it. Numbers are big-endian. A header is: length of the name, name, type of the value, value.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from struct import error as StructError  # noqa: N812  the module names it in lower case

_PRELUDE = Struct(">III")
_CRC = Struct(">I")
_SHORT = Struct(">H")
_SMALLEST = _PRELUDE.size + _CRC.size
MOST_BYTES = 24 * 1024 * 1024 + 128 * 1024 + _SMALLEST
"""AWS's own clients refuse longer messages."""

_STRING, _BYTES = 7, 6
_WIDTHS = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}


class GarbledMessage(Exception):
    """The bytes are not a message, or the message was cut off."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Args:
        headers: the headers that hold strings; the others are left out.
        payload: the content.
    """

    headers: dict[str, str]
    payload: bytes


def read_message(read: Callable[[int], bytes]) -> Message | None:
    """Read the next message; None at the end of the stream.

    Args:
        read: returns the number of bytes it is asked for, or fewer at the end of the stream.

    Raises:
        GarbledMessage: what comes is not a complete message.
    """
    prelude = read(_PRELUDE.size)
    if not prelude:
        return None
    if len(prelude) < _PRELUDE.size:
        raise GarbledMessage("the stream ends within a message")
    length, headers_length, crc = _PRELUDE.unpack(prelude)
    if zlib.crc32(prelude[:8]) != crc or not _SMALLEST + headers_length <= length <= MOST_BYTES:
        raise GarbledMessage("the bytes are not the beginning of a message")
    rest = read(length - _PRELUDE.size)
    if len(rest) < length - _PRELUDE.size:
        raise GarbledMessage("the stream ends within a message")
    content = rest[: -_CRC.size]
    if zlib.crc32(content, zlib.crc32(prelude)) != _CRC.unpack(rest[-_CRC.size :])[0]:
        raise GarbledMessage("the checksum of a message is wrong")
    return Message(_headers(content[:headers_length]), content[headers_length:])


def _headers(block: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(block):
            name_end = at + 1 + block[at]
            name, kind = block[at + 1 : name_end].decode(), block[name_end]
            at = name_end + 1
            if kind in (_STRING, _BYTES):
                (width,) = _SHORT.unpack_from(block, at)
                at += _SHORT.size
            else:
                width = _WIDTHS[kind]
            if kind == _STRING:
                found[name] = block[at : at + width].decode()
            at += width
    except (IndexError, KeyError, ValueError, StructError) as wrong:
        raise GarbledMessage("the headers of a message cannot be read") from wrong
    if at != len(block):
        raise GarbledMessage("the headers of a message are cut off")
    return found
