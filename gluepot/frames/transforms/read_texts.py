"""Texts that a catalog declares to be something else: columns of CSV, names of partition folders (docs/glue 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast import try_cast
from gluepot.frames.cast.masks import filled, keep
from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import Column, batch_of, columns_of, struct_column
from gluepot.frames.schema import choice_field
from gluepot.frames.time_zone import UTC, TimeZone

# A digit other than zero behind the point.
_FRACTION = r"\.[0-9]*[1-9]"


@dataclass(frozen=True, slots=True)
class ReadTexts:
    """Reads text columns as their declared types. A text that does not fit stays text, so its column becomes a choice.

    An empty text in a column of another type is null: nothing stands there (docs/decisions/0062).

    Args:
        types: declared types by column name. Columns that do not hold text are left alone, as are nested types.
        zone: the zone of times without one.
    """

    types: Mapping[str, pa.DataType]
    zone: TimeZone = UTC

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows with types; the errors stay."""
        columns = [self._read(column) for column in columns_of(chunk.batch)]
        return replace(chunk, batch=batch_of(columns, chunk.batch.num_rows))

    def _read(self, column: Column) -> Column:
        declared = self.types.get(column.field.name)
        if declared is None or declared == pa.string() or pa.types.is_nested(declared):
            return column
        if not pa.types.is_string(column.field.type):
            return column
        name = column.field.name
        texts = filled(column.array)
        read = try_cast(texts, declared, self.zone)
        odd = pc.and_(pc.is_null(read), pc.is_valid(texts))
        if pa.types.is_integer(declared):  # the cast, as Spark's, would cut 1.5 to 1
            cut = pc.match_substring_regex(texts, _FRACTION)
            odd = pc.or_(odd, pc.fill_null(cut, fill_value=False))
        if not pc.any(odd).as_py():
            return Column(pa.field(name, declared), read)
        wanted = choice_field(name, [pa.field(name, declared), column.field])
        # Of a choice's alternatives a text comes after every type that a text may fail to be.
        values = (keep(read, pc.invert(odd)), keep(texts, odd))
        sides = [Column(side, array) for side, array in zip(wanted.type, values, strict=True)]
        return Column(wanted, struct_column(name, sides, len(read), pc.is_valid(texts)).array)
