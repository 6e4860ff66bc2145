"""The rows of a chunk as documents, for stores that take them one by one, and as columns, for those that can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import pyarrow as pa

from gluepot.connectors.values import Document
from gluepot.frames.chunk import Chunk
from gluepot.frames.rows import rows


class DocumentRows(Sequence[Document]):
    """Documents that are made when they are asked for: thousands that live at once keep the garbage collector busy.

    Args:
        chunk: the rows.
        ids: id of each row; see `Document`.
    """

    def __init__(self, chunk: Chunk, ids: Sequence[str]) -> None:
        self.batch: pa.RecordBatch = chunk.batch
        self.ids = ids
        self._chunk = chunk

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ids)

    def __iter__(self) -> Iterator[Document]:
        """Yield the documents in order."""
        return map(Document, self.ids, self._fields)

    @overload
    def __getitem__(self, at: int) -> Document: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Document]: ...

    def __getitem__(self, at: int | slice) -> Document | Sequence[Document]:
        """Return a document, or several."""
        if isinstance(at, slice):
            return [*map(Document, self.ids[at], self._fields[at])]
        return Document(self.ids[at], self._fields[at])

    @cached_property
    def _fields(self) -> Sequence[Mapping[str, Any]]:
        made = rows(self._chunk)
        if all(map(_is_full, self.batch.columns)):
            return list(made)
        return [{name: value for name, value in row.items() if value is not None} for row in made]


def _is_full(column: pa.Array) -> bool:
    """Tell whether a column is known to have no null; a choice may be one without being marked as null."""
    return column.null_count == 0 and not pa.types.is_struct(column.type)
