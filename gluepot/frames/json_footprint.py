"""Estimates how much memory a JSON text will take, before it is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gluepot.frames.refusal import Refusal

# Arrow's IPC format allows 64 levels of nesting; a choice adds a level to each of JSON's.
MAX_DEPTH: Final = 31
# A record becomes a column for each of its fields, and each column takes some 3 kB.
MOST_FIELDS: Final = 20_000
# The largest estimate for one record. It is what the record takes as Python objects; the columns come on top of it.
MOST_RECORD_BYTES: Final = 128 << 20

# What values take as Python objects, rounded up; a value is counted by the comma or the colon before it.
_VALUE_BYTES = 30
_ARRAY_BYTES = 60
_OBJECT_BYTES = 200
_SPACE = b" \t\r\n"
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\],:]', re.DOTALL)


def excess(
    text: bytes, most_bytes: int = MOST_RECORD_BYTES, most_levels: int = MAX_DEPTH, most_fields: int = MOST_FIELDS
) -> Refusal | None:
    """Return why a text is too large to be read; None if it is not too large.

    The text after an unterminated string is ignored, because parsers ignore it, too.

    Args:
        text: one document, or several.
        most_bytes: the largest estimate of its memory.
        most_levels: how many objects and arrays may be open at once.
        most_fields: the largest number of fields in one object.
    """
    objects, arrays, colons = text.count(b"{"), text.count(b"["), text.count(b":")
    # These counts include characters within strings, so this is an upper bound.
    most = len(text) + (text.count(b",") + colons) * _VALUE_BYTES + arrays * _ARRAY_BYTES + objects * _OBJECT_BYTES
    if most <= most_bytes and objects + arrays <= most_levels and colons <= most_fields:
        return None
    taken_bytes = len(text)
    fields: list[int] = []  # of each object or array that is open
    for token in _TOKEN.finditer(text):
        match text[token.start()]:
            case 0x7B | 0x5B as opener:  # { [
                taken_bytes += _OBJECT_BYTES if opener == 0x7B else _ARRAY_BYTES
                fields.append(0)
            case 0x7D | 0x5D:  # } ]
                del fields[-1:]
            case 0x2C:  # ,
                taken_bytes += _VALUE_BYTES
            case 0x3A if fields:  # :
                taken_bytes += _VALUE_BYTES
                fields[-1] += 1
            case 0x22 if token.end() - token.start() == 1:  # an unterminated string
                return None
        if taken_bytes > most_bytes:
            return Refusal("too_large", f"The record takes more than {most_bytes >> 20} MiB of memory.")
        if len(fields) > most_levels:
            return Refusal("too_deep", f"The record is nested more than {most_levels} levels deep.")
        if fields and fields[-1] > most_fields:
            return Refusal("too_large", f"The record has an object of more than {most_fields} fields.")
    return None


def cut(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of documents without building them, each with the byte it begins at.

    Each top-level object is a record, and so is each element of a top-level array. Text that is not JSON belongs to the
    record in which or before which it stands.
    """
    depth = start = 0
    in_array = False
    for token in _TOKEN.finditer(text):
        match text[token.start()]:
            case 0x7B | 0x5B as opener:
                if not depth and (in_array := opener == 0x5B):
                    start = token.end()
                depth += 1
            case 0x7D | 0x5D:
                depth = max(0, depth - 1)
                if not depth:
                    yield start, text[start : token.start() if in_array else token.end()].strip(_SPACE)
                    start, in_array = token.end(), False
            case 0x2C if depth == 1 and in_array:
                yield start, text[start : token.start()].strip(_SPACE)
                start = token.end()
            case 0x22 if token.end() - token.start() == 1:  # an unterminated string
                break
    if rest := text[start:].strip(_SPACE):
        yield start, rest


def ends(text: bytes) -> Iterator[int]:
    """Yield the position after each top-level object or array."""
    depth = 0
    for token in _TOKEN.finditer(text):
        match text[token.start()]:
            case 0x7B | 0x5B:
                depth += 1
            case 0x7D | 0x5D:
                depth = max(0, depth - 1)
                if not depth:
                    yield token.end()
            case 0x22 if token.end() - token.start() == 1:  # an unterminated string
                return
