"""Unbox: a field that holds a document as text becomes the document (docs/glue 6.2)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord, is_choice
from gluepot.frames.columns import Column, children_of, columns_of, struct_column
from gluepot.frames.json_text import json_bytes
from gluepot.frames.rows import rows
from gluepot.frames.schema.merge import family
from gluepot.frames.transforms.boxed import BoxFormat
from gluepot.frames.transforms.fields import with_columns
from gluepot.frames.transforms.paths import Path, find, parse_path
from gluepot.frames.transforms.structs import put


@dataclass(frozen=True, slots=True)
class Unbox:
    """Replaces a text by the struct that it stands for; null stays null.

    A record whose text is not a document, or whose field does not hold text, becomes an error record. Nothing changes
    if there is no such field. The types come from the documents, so the schema is unknown until they are read.

    Args:
        path: of the field, see `parse_path`; case counts.
        format: reads the texts.
    """

    path: str
    format: BoxFormat
    _parsed: Path = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parsed", parse_path(self.path))

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows that could be read; new errors after the old."""
        column = find(columns_of(chunk.batch), self._parsed)
        if column is None or pa.types.is_null(column.field.type):
            return chunk
        texts = _texts(column)
        given = np.flatnonzero(texts.is_valid())
        read = self.format.read(texts.take(pa.array(given)).cast(pa.binary()).to_pylist())
        refused = {int(given[int(error.at.position or 0)]): error for error in read.errors}
        other = np.flatnonzero(pc.and_(column.array.is_valid(), texts.is_null()))
        refused |= {int(index): ErrorRecord(None, "not_text", "The field is not a string.") for index in other}
        kept = np.setdiff1d(np.arange(chunk.batch.num_rows), list(refused))
        good = chunk.taken(kept)
        # Where in the documents each kept row finds its own.
        at = pa.array(np.searchsorted(np.setdiff1d(given, list(refused)), kept), pa.int64(), mask=~np.isin(kept, given))
        document = struct_column("", columns_of(read.batch), read.batch.num_rows)
        unboxed = Column(document.field, document.array.take(at))
        errors = [*chunk.errors, *_errors(chunk, refused)]
        return replace(with_columns(good, put(columns_of(good.batch), self._parsed, unboxed)), errors=errors)


def _texts(column: Column) -> pa.StringArray:
    sides = children_of(column) if is_choice(column.field) else [column]
    text = [side.array for side in sides if family(side.field.type) == "string"]
    return text[0] if text else pa.nulls(len(column.array), pa.string())


def _errors(chunk: Chunk, refused: dict[int, ErrorRecord]) -> list[ErrorRecord]:
    ordered = sorted(refused)
    records = rows(Chunk(chunk.batch.take(pa.array(ordered, pa.int64()))))
    return [
        replace(refused[index], raw=json_bytes(record), at=Coordinates())
        for index, record in zip(ordered, records, strict=True)
    ]
