"""Lines of a CSV file one by one, from its beginning."""

from __future__ import annotations

import io
import re
from typing import BinaryIO, cast

import numpy as np

from gluepot.connectors.files.formats.bounds import too_large
from gluepot.connectors.files.formats.text_lines import BOM, behind

LINE_BREAK = re.compile(rb"\r\n|\n|\r")
_LINE_FEED = ord("\n")
_COUNTED_BYTES = 128 << 10


class FirstLines:
    """Takes lines off a file. A line ends with a line feed, a carriage return or both.

    Args:
        plain: the file.
        place: its URL, for messages.
        most_bytes: of a record.

    Attributes:
        place: its URL.
        at: the byte that the next line begins at.
    """

    def __init__(self, plain: BinaryIO, place: str, most_bytes: int) -> None:
        self._plain = plain
        self.place = place
        self._most_bytes = most_bytes
        self._held = b""
        self.at = 0

    def next(self, before_bytes: int = 0) -> bytes:
        """Return the next line with its line break; nothing at the end of the file.

        Args:
            before_bytes: what the record has taken already.

        Raises:
            PermanentError: the record is too long.
        """
        found = LINE_BREAK.search(self._held)
        if found is None:
            self._held += self._plain.readline(self._most_bytes + 1)
            found = LINE_BREAK.search(self._held)
        end = found.end() if found else len(self._held)
        line, self._held = self._held[:end], self._held[end:]
        if len(line) + before_bytes > self._most_bytes:
            raise too_large(self.place, f"a record of more than {self._most_bytes >> 20} MiB")
        start = len(BOM) if not self.at and line.startswith(BOM) else 0
        self.at += len(line)
        return line[start:]

    def rest(self, first: bytes) -> BinaryIO:
        """Return what was not taken off, behind some bytes that were."""
        return behind(first + self._held, self._plain)


class WholeBreaks(io.RawIOBase):
    """A stream of which no read ends between a carriage return and a line feed.

    Where a block ends there, Arrow 26.0.1 drops the line feed, also one within a quoted value.

    Attributes:
        last_bytes: the last three bytes that were read.
    """

    def __init__(self, text: BinaryIO) -> None:
        self._text = text
        self._held = b""
        self.last_bytes = b""

    def readable(self) -> bool:  # noqa: D102
        return True

    def read(self, size: int = -1) -> bytes:  # noqa: D102
        data = self._next(size)
        self.last_bytes = (self.last_bytes + data[-3:])[-3:]
        return data

    def _next(self, size: int) -> bytes:
        if size < 0:
            return self._held + self._text.read()
        data, self._held = self._held + self._text.read(max(0, size - len(self._held))), b""
        while data.endswith(b"\r") and (following := self._text.read(1)):
            if len(data) > 1:
                self._held = b"\r" + following
                return data[:-1]
            data += following
        return data


def is_blank(line: bytes, separator: bytes = b"") -> bool:
    """Return whether a line holds white space alone, and no separator."""
    return not line or (line.isspace() and (not separator or separator not in line))


def holds(text: memoryview, part: str) -> bool:
    """Return whether a text that `text_blocks` yields holds an ASCII text."""
    whole = cast("bytes", text.obj)
    return whole.find(part.encode(), 0, len(text)) >= 0


def is_utf8(text: memoryview) -> bool:
    """Return whether a text that `text_blocks` yields is UTF-8."""
    whole = cast("bytes", text.obj)
    if whole.isascii():
        return True
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def line_count(text: memoryview) -> int:
    """Return the number of lines that line feeds end, and of the last one."""
    codes = np.frombuffer(text, np.uint8)
    # A step at a time: large arrays cost more time to allocate than to count in.
    breaks = sum(
        np.count_nonzero(codes[start : start + _COUNTED_BYTES] == _LINE_FEED)
        for start in range(0, len(codes), _COUNTED_BYTES)
    )
    return int(breaks) + (len(codes) > 0 and codes[-1] != _LINE_FEED)
