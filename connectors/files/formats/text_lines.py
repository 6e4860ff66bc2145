"""Text in blocks of whole lines."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, BinaryIO, cast

from gluepot.core.errors import PermanentError

BLOCK_BYTES = 4 << 20
MOST_LINE_BYTES = 64 << 20
BOM = b"\xef\xbb\xbf"


def line_blocks(plain: BinaryIO, place: str, at: int = 0) -> Iterator[tuple[list[bytes], list[int]]]:
    """Yield the lines of `text_blocks` that are not blank, without their ends, with the byte each begins at."""
    for text, start in text_blocks(plain, place, at):
        if found := lines(text, start):
            yield found


def text_blocks(
    plain: BinaryIO,
    place: str,
    at: int = 0,
    advice: str = "if it is one document, say multiLine, or skip it with exclusions",
) -> Iterator[tuple[memoryview, int]]:
    """Yield texts of whole lines, with the byte each begins at; the last line may have no end.

    Args:
        plain: the text.
        place: its URL, for messages.
        at: the byte of the file that it begins at.
        advice: what to do about a line that is too long.

    Raises:
        PermanentError: a line is longer than `MOST_LINE_BYTES`.
    """
    held = [plain.read(BLOCK_BYTES)]
    if not at and held[0].startswith(BOM):
        held[0], at = held[0][len(BOM) :], len(BOM)
    held_bytes = len(held[0])
    while True:
        block = plain.read(BLOCK_BYTES)
        if block and b"\n" not in held[-1]:
            held.append(block)
            held_bytes += len(block)
            if held_bytes > MOST_LINE_BYTES:
                raise PermanentError(
                    f"{place} has a line of more than {MOST_LINE_BYTES >> 20} MiB at byte {at}; {advice}"
                )
            continue
        text = b"".join(held)
        cut = text.rfind(b"\n") + 1 if block else len(text)
        yield memoryview(text)[:cut], at
        if not block:
            return
        at += cut
        held = [text[cut:], block]
        held_bytes = len(text) - cut + len(block)


def lines(text: memoryview, at: int) -> tuple[list[bytes], list[int]] | None:
    """Return lines that are not blank, without their ends, with the byte each begins at; None if there are none."""
    found = bytes(text).removesuffix(b"\n").split(b"\n")
    starts = list(accumulate((len(line) + 1 for line in found[:-1]), initial=at))
    kept = [index for index, line in enumerate(found) if line and not line.isspace()]
    if len(kept) == len(found):
        return found, starts
    return ([found[index] for index in kept], [starts[index] for index in kept]) if kept else None


def lines_of(raw: BinaryIO, piece: tuple[int, int], first: int = 0) -> tuple[BinaryIO, int]:
    """Return the lines that begin in a piece, as one stream, and the byte of the file that it begins at.

    Args:
        raw: the whole file; seekable.
        piece: first byte and the one after the last.
        first: the byte that the first line begins at, behind a header.
    """
    start, end = piece
    if start <= first:
        raw.seek(first)
    else:
        raw.seek(start - 1)
        raw.readline()  # the end of a line that began before; nothing but its line break where one begins at `start`
    at = raw.tell()
    return cast("BinaryIO", io.BufferedReader(_ToLineEnd(raw, max(0, end - at)), BLOCK_BYTES)), at


class _ToLineEnd(io.RawIOBase):
    """Some bytes of a stream, and what follows up to the end of the line that they end in."""

    def __init__(self, raw: BinaryIO, left_bytes: int) -> None:
        self._raw = raw
        self._left_bytes = left_bytes
        self._last = b"\n"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._left_bytes > 0:
            data = self._raw.read(min(len(buffer), self._left_bytes))
            self._left_bytes = self._left_bytes - len(data) if data else 0
        elif self._last != b"\n":
            data = self._raw.readline(len(buffer))
        else:
            return 0
        self._last = data[-1:] or b"\n"
        buffer[: len(data)] = data
        return len(data)


def behind(first: bytes, rest: BinaryIO) -> BinaryIO:
    """Return a stream of bytes that were read already, then the rest."""
    return cast("BinaryIO", _Behind(first, rest))


class _Behind(io.RawIOBase):
    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first = first
        self._rest = rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        taken, self._first = (self._first, b"") if size < 0 else (self._first[:size], self._first[size:])
        if len(taken) == size:
            return taken
        return taken + self._rest.read(size if size < 0 else size - len(taken)) if taken else self._rest.read(size)

    def readline(self, size: int | None = -1) -> bytes:
        limit = -1 if size is None else size
        end = self._first.find(b"\n") + 1
        if end:
            taken, self._first = self._first[:end], self._first[end:]
            return taken
        taken, self._first = self._first, b""
        return taken + self._rest.readline(limit)
