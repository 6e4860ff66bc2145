"""The contract of a file format: how rows become the bytes of one file."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa


class RowWriter(Protocol):
    """One file's encoder. It never closes the bytes it writes to."""

    def write(self, rows: pa.RecordBatch) -> None:
        """Encode rows, all in the schema the file was opened with where the format has one schema per file."""

    def close(self) -> None:
        """Write what the format puts at a file's end."""


class FileFormat(Protocol):
    """Frozen and picklable: it travels to the tasks inside the sink."""

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
