"""Empty lists and structs with the types that their table has for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from gluepot.frames.chunk import Chunk
from gluepot.frames.schema.align import align
from gluepot.frames.schema.known_types import has_untyped, typed_by


@dataclass(frozen=True, slots=True)
class KnownTypes:
    """Gives values without a type the type of their column in a table, so that they do not depend on other records.

    Such values are `[]`, `[null]` and structs without values. All other values stay as they are.

    Args:
        types: of the table's columns.
    """

    types: Mapping[str, pa.DataType]

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows with types; the errors stay."""
        schema = chunk.batch.schema
        if not has_untyped(schema):
            return chunk
        typed = pa.schema([self._typed(field) for field in schema])
        return chunk if typed.equals(schema) else replace(chunk, batch=align(chunk.batch, typed))

    def _typed(self, field: pa.Field) -> pa.Field:
        known = self.types.get(field.name, self.types.get(field.name.lower()))
        return field if known is None else typed_by(field, known)
