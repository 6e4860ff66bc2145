"""The contracts of a file format: of reading what others wrote, of writing, and of reading again what we wrote."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, runtime_checkable

import pyarrow as pa

from gluepot.frames.chunk import Chunk


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file being read.

    Args:
        plain: its bytes, decompressed; seekable where `InputFormat.needs_seek`.
        place: its URL, for errors and messages.
        partition: its folder below the root.
        piece: first byte and the one after the last of the records to read; None for all. Only where
            `InputFormat.splits`, and then the bytes are seekable.
        is_unpacked: whether the file is compressed, so that it may be much smaller than its bytes here.
    """

    plain: BinaryIO
    place: str
    partition: str
    piece: tuple[int, int] | None = None
    is_unpacked: bool = False


class ChunkReader(Protocol):
    """Reads the files of one task, one after the other; what it learns of their schema it keeps."""

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order; broken ones as errors.

        Raises:
            PermanentError: the file as a whole cannot be read; the message names it.
        """


class InputFormat(Protocol):
    """A format to read, with its options. Picklable."""

    @property
    def needs_seek(self) -> bool:
        """Whether it jumps about in the file, and compresses inside of it."""

    @property
    def splits(self) -> bool:
        """Whether a file that is not compressed can be read in pieces: each record by the piece it begins in."""

    def reader(self) -> ChunkReader:
        """Return a reader for one task."""


@runtime_checkable
class ColumnarInputFormat(InputFormat, Protocol):
    """A format whose columns can be read one without the other."""

    def only(self, columns: frozenset[str]) -> InputFormat:
        """Return the format that reads these, named in lower case, and no others."""


class RowWriter(Protocol):
    """One file's encoder. It never closes the bytes it writes to."""

    def takes(self, rows: pa.RecordBatch) -> bool:
        """Tell whether the file can have these rows beside those it has; another file is started otherwise."""

    def write(self, rows: pa.RecordBatch) -> None:
        """Encode rows, all in the schema the file was opened with where the format has one schema per file."""

    def close(self) -> None:
        """Write what the format puts at a file's end."""


class OutputFormat(Protocol):
    """A format to write, with its options. Frozen and picklable: it travels to the tasks inside the sink."""

    @property
    def gather_bytes(self) -> int:
        """How many bytes of Arrow data are encoded at once, where a file gets that many."""

    @property
    def one_schema(self) -> bool:
        """Whether all rows of a file share one schema."""

    def ending(self, task: int, ordinal: int) -> str:
        """Return a file name's part after the run prefix; different for each `ordinal` of a task, starting with 0."""

    def storable(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows in the types the format can hold, no value lost. It may leave no column."""

    def encoding(self, schema: pa.Schema) -> Mapping[str, Any]:
        """Return what a reader of a file opened with `schema` must know beside its bytes.

        The manifest keeps it, so it is JSON: `format`, a key of `READERS` in `gluepot.connectors.registry`, and what
        that needs.
        """

    def open(self, output: io.RawIOBase, schema: pa.Schema) -> RowWriter:
        """Start a file."""


class RowReader(Protocol):
    """Reads a file that a sink wrote."""

    def __call__(
        self, file: BinaryIO, encoding: Mapping[str, Any], schema: pa.Schema, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a file in order, in bounded batches.

        Args:
            file: can be read at any position; the caller closes it.
            encoding: what the manifest says of the file.
            schema: what the manifest says of the columns of all files of the write; formats without types need it.
            columns: names to read, in this order; those that the file lacks are not in the result.

        Raises:
            ValueError: the bytes are not such a file. Also OSError or EOFError, from the libraries below.
        """
