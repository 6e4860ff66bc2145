"""DropNullFields: fields that have no value in any record (docs/glue 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import Column, batch_of, columns_of
from gluepot.frames.transforms.paths import Path
from gluepot.frames.transforms.walk import rewritten


@dataclass(frozen=True, slots=True)
class DropNulls:
    """Removes fields whose type is null, also inside structs; empty text and -1 are values.

    It need not see the other chunks: if a field is removed from this chunk and has values in another, merging the two
    restores it, with null in these rows. For the same reason a struct that loses all of its fields stays; written files
    do not contain it.
    """

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows with fewer fields; the errors stay."""
        return replace(chunk, batch=batch_of(rewritten(columns_of(chunk.batch), _unless_null), chunk.batch.num_rows))


def _unless_null(_: Path, column: Column) -> Sequence[Column]:
    return [] if pa.types.is_null(column.field.type) else [column]
