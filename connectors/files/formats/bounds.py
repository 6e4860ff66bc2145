"""Bounds on the memory that the records of a file may take, whatever the file claims.

A small file can describe a record that fills the memory: a compressed run of one byte, an array of a billion nulls, an
element within an element within an element. A reader estimates what a record takes before it builds it, and a file
with a record beyond the bound ends in one sentence.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, TypeVar

from gluepot.core.errors import PermanentError

T = TypeVar("T")

# The largest estimate for one record. It is what the record takes as Python objects; the columns come on top of it.
MOST_RECORD_BYTES = 128 << 20
# Records are gathered for one chunk of columns up to this estimate.
CHUNK_BYTES = 64 << 20
# A rough mean of what Python takes for a number, a short text or a small dictionary, and for the reference to it.
VALUE_BYTES = 150


def too_large(place: str, what: str) -> PermanentError:
    """Return the error of a file that holds a record beyond the bound."""
    return PermanentError(
        f"{place} holds {what}, which is more than a reader may take into memory; skip it with exclusions, or"
        " write it again as smaller records"
    )


def gathered(records: Iterable[tuple[T, int]], most_records: int) -> Iterator[list[T]]:
    """Yield records in lists that are bounded in number and in memory.

    Args:
        records: each with its estimate in bytes.
        most_records: the length of a list at most.
    """
    held: list[T] = []
    held_bytes = 0
    for record, record_bytes in records:
        held.append(record)
        held_bytes += record_bytes
        if len(held) >= most_records or held_bytes >= CHUNK_BYTES:
            yield held
            held, held_bytes = [], 0
    if held:
        yield held


class BoundedReads(io.RawIOBase):
    """A stream that lets a parser read only so far without completing a record.

    Args:
        plain: the stream.
        place: its URL, for the message.
        most_bytes: that may be read between two calls of `completed`.

    Attributes:
        refusal: the error that was raised, for parsers that replace it by their own.
    """

    def __init__(self, plain: BinaryIO, place: str, most_bytes: int) -> None:
        self._plain = plain
        self._place = place
        self._most_bytes = most_bytes
        self._since_bytes = 0
        self.refusal: PermanentError | None = None

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read on.

        Raises:
            PermanentError: the parser has read too much since it completed a record.
        """
        data = self._plain.read(len(buffer))
        self._since_bytes += len(data)
        if self._since_bytes > self._most_bytes:
            self.refusal = too_large(self._place, f"a record of more than {self._most_bytes >> 20} MiB")
            raise self.refusal
        buffer[: len(data)] = data
        return len(data)

    def completed(self) -> int:
        """Note that a record is complete, and return how many bytes were read for it."""
        since_bytes, self._since_bytes = self._since_bytes, 0
        return since_bytes
