"""Rows of a CSV file as chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pyarrow as pa

from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord

_CHUNK_ROWS = 1 << 14


class Rows:
    """Makes chunks of rows with the columns of one file.

    Args:
        names: of the columns.
        at: where errors come from.
    """

    def __init__(self, names: list[str], at: Coordinates) -> None:
        self.names = names
        self._at = at
        self._schema = pa.schema([(name, pa.string()) for name in names])

    def none(self) -> pa.Table:
        """Return no rows."""
        return self._schema.empty_table()

    def no_rows(self) -> pa.RecordBatch:
        """Return a batch without rows that has the columns."""
        return pa.RecordBatch.from_pylist([], schema=self._schema)

    def chunks(self, batches: Sequence[pa.RecordBatch], errors: list[ErrorRecord]) -> Iterator[Chunk]:
        """Yield a chunk of at most one batch and errors, unless there is nothing in it."""
        if batches or errors:
            yield Chunk(batches[0] if batches else self.no_rows(), errors)

    def parsed(self, records: Iterable[tuple[bytes, list[str]]]) -> Iterator[Chunk]:
        """Yield records that were read as bytes and values; of bytes that are no text `as_text` made the values."""
        rest = iter(records)
        while some := list(islice(rest, _CHUNK_ROWS)):
            good: list[list[str]] = []
            errors: list[ErrorRecord] = []
            for line, cells in some:
                if len(cells) != len(self.names):
                    errors.append(self.misfit(line.rstrip(b"\r\n"), len(cells)))
                elif not _is_text(line):
                    errors.append(self._unreadable(line.rstrip(b"\r\n")))
                else:
                    good.append(cells)
            columns = zip(*good, strict=True) if good else [()] * len(self.names)
            arrays = [pa.array(column, pa.string()) for column in columns]
            yield Chunk(pa.RecordBatch.from_arrays(arrays, schema=self._schema), errors)

    def texts(self, batch: pa.RecordBatch, errors: list[ErrorRecord]) -> Chunk:
        """Return rows of bytes as texts; rows with bytes that are no text are set aside."""
        try:
            return Chunk(batch.cast(self._schema), errors)
        except pa.ArrowInvalid:
            rows = batch.to_pylist()
            readable = [all(map(_is_text, row.values())) for row in rows]
            unreadable = [
                self._unreadable(b",".join(row.values())) for row, good in zip(rows, readable, strict=True) if not good
            ]
            return Chunk(batch.filter(pa.array(readable, pa.bool_())).cast(self._schema), [*errors, *unreadable])

    def misfit(self, line: bytes, cells: int) -> ErrorRecord:
        """Return the error of a line with another number of values than the first one."""
        message = f"The line has {cells} values instead of {len(self.names)}."
        return ErrorRecord(line, "malformed_csv", message, self._at)

    def _unreadable(self, line: bytes) -> ErrorRecord:
        return ErrorRecord(line, "invalid_utf8", "The line is not UTF-8.", self._at)


def as_text(line: bytes) -> str:
    """Return a line as text, also one that is not UTF-8."""
    return line.decode("utf-8", "replace")


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
