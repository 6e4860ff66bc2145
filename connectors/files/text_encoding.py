"""Converts text files in other encodings to UTF-8 for the readers."""

from __future__ import annotations

import codecs
import io
from typing import BinaryIO, cast

from gluepot.core.errors import ConfigError, PermanentError

_BLOCK_BYTES = 1 << 20
_MOST_NAME_CHARS = 64


def text_encoding(given: object) -> str | None:
    """Return the encoding that an option names; None for UTF-8, which needs no work.

    Raises:
        ConfigError: it is not a text encoding.
    """
    if not given:
        return None
    try:
        found = codecs.lookup(str(given)[:_MOST_NAME_CHARS])
        "".encode(found.name)  # some codecs are not for text
    except (LookupError, ValueError):
        raise ConfigError(f"encoding is {given!r}, which is not known; use UTF-8, UTF-16 or ISO-8859-1.") from None
    return None if found.name == "utf-8" else found.name


def as_utf8(plain: BinaryIO, encoding: str, place: str) -> BinaryIO:
    """Return a stream of UTF-8.

    Args:
        plain: the file's bytes.
        encoding: from `text_encoding`.
        place: URL of the file, for messages.
    """
    return cast("BinaryIO", io.BufferedReader(_Utf8(plain, encoding, place), _BLOCK_BYTES))


class _Utf8(io.RawIOBase):
    def __init__(self, plain: BinaryIO, encoding: str, place: str) -> None:
        self._plain = plain
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._encoding = encoding
        self._place = place
        self._held = memoryview(b"")
        self._is_over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer.

        Raises:
            PermanentError: the file has bytes that are invalid in this encoding.
        """
        while not self._held and not self._is_over:
            block = self._plain.read(_BLOCK_BYTES)
            self._is_over = not block
            try:
                self._held = memoryview(self._decoder.decode(block, final=self._is_over).encode("utf-8"))
            except UnicodeError as error:
                raise PermanentError(
                    f"{self._place} cannot be read as {self._encoding}: {error}. Correct the encoding in"
                    " format_options."
                ) from error
        size = min(len(buffer), len(self._held))
        buffer[:size] = self._held[:size]
        self._held = self._held[size:]
        return size
