"""Lines of a CSV file one by one, from its beginning."""

from __future__ import annotations

import re
from typing import BinaryIO

from gluepot.connectors.files.formats.bounds import too_large
from gluepot.connectors.files.formats.text_lines import BOM, behind

LINE_BREAK = re.compile(rb"\r\n|\n|\r")


class FirstLines:
    """Takes lines off a file. A line ends with a line feed, a carriage return or both.

    Args:
        plain: the file.
        place: its URL, for messages.
        most_bytes: of a record.

    Attributes:
        at: the byte that the next line begins at.
    """

    def __init__(self, plain: BinaryIO, place: str, most_bytes: int) -> None:
        self._plain = plain
        self._place = place
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
        if (line := self._whole(self._held)) is None:
            line = self._whole(self._held + self._plain.readline(self._most_bytes + 1)) or b""
        if len(line) + before_bytes > self._most_bytes:
            raise too_large(self._place, f"a record of more than {self._most_bytes >> 20} MiB")
        start = len(BOM) if not self.at and line.startswith(BOM) else 0
        self.at += len(line)
        return line[start:]

    def _whole(self, held: bytes) -> bytes | None:
        """Take the first line off what is held; None if its end may be missing."""
        found = LINE_BREAK.search(held)
        end = found.end() if found else len(held)
        if found is None and held is self._held:
            return None
        self._held = held[end:]
        return held[:end]

    def rest(self, first: bytes) -> BinaryIO:
        """Return what was not taken off, behind some bytes that were."""
        return behind(first + self._held, self._plain)


def is_blank(line: bytes, separator: bytes = b"") -> bool:
    """Return whether a line holds white space alone, and no separator."""
    return not line or (line.isspace() and (not separator or separator not in line))
