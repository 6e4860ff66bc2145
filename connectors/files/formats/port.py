"""The contract of a file format, and what readers share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol, runtime_checkable

from gluepot.frames.chunk import Chunk


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file being read.

    Args:
        plain: its bytes, decompressed; seekable where `Format.needs_seek`.
        place: its URL, for errors and messages.
        partition: its folder below the root.
        piece: first byte and the one after the last of the records to read; None for all. Only where `Format.splits`,
            and then the bytes are seekable.
        is_unpacked: whether the file is compressed, so that it may be much smaller than its bytes here.
    """

    plain: BinaryIO
    place: str
    partition: str
    piece: tuple[int, int] | None = None
    is_unpacked: bool = False


class FileReader(Protocol):
    """Reads the files of one task, one after the other; what it learns of their schema it keeps."""

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order; broken ones as errors.

        Raises:
            PermanentError: the file as a whole cannot be read; the message names it.
        """


class Format(Protocol):
    """A format with its options. Picklable."""

    @property
    def needs_seek(self) -> bool:
        """Whether it jumps about in the file, and compresses inside of it."""

    @property
    def splits(self) -> bool:
        """Whether a file that is not compressed can be read in pieces: each record by the piece it begins in."""

    def reader(self) -> FileReader:
        """Return a reader for one task."""


@runtime_checkable
class ColumnarFormat(Format, Protocol):
    """A format whose columns can be read one without the other."""

    def only(self, columns: frozenset[str]) -> Format:
        """Return the format that reads these, named in lower case, and no others."""
