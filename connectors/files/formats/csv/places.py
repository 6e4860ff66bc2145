"""Finds where rejected lines lie in their file. The parser does not say it, and few lines are rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gluepot.frames.chunk import Chunk, ErrorRecord


class Places:
    """The lines of one block of a file.

    Args:
        text: the block.
        at: the byte of the file's text that the block begins at.
    """

    def __init__(self, text: memoryview, at: int) -> None:
        self._text = text
        self._at = at
        self._next = 0

    def placed(self, chunk: Chunk) -> Chunk:
        """Return a chunk whose errors have their positions. Chunks come in the order of their lines."""
        return replace(chunk, errors=self._placed(chunk.errors)) if chunk.errors else chunk

    def _placed(self, errors: Sequence[ErrorRecord]) -> list[ErrorRecord]:
        text = bytes(self._text)
        return [self._with_place(error, text) for error in errors]

    def _with_place(self, error: ErrorRecord, text: bytes) -> ErrorRecord:
        line = error.raw or b""
        found = text.find(line, self._next)
        while found > 0 and text[found - 1] not in b"\r\n":
            found = text.find(line, found + 1)
        if not line or found < 0:
            return error
        self._next = found + len(line)
        return replace(error, at=replace(error.at, position=str(self._at + found)))
