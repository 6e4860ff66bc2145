"""JSON records read into the columns a script declares for them, as Spark's `from_json` reads in its permissive mode.

Fields are matched by their exact names; those not declared disappear, missing ones are null. A value that does not fit
makes its field null (`columns_fit`), and the row stays. Unlike in Spark

- a record that is not a JSON object becomes an error, not a row of nulls, and NaN and Infinity are not JSON;
- a value in a map that does not fit makes the map null; Spark then also loses its place in the record;
- text that is no base64 makes a BINARY field null; Spark then sometimes makes the whole row null;
- TINYINT holds -128 to 127, not 255, and a FLOAT beyond its range is null, not infinite;
- times without a zone are in that of the session, UTC by default; those with one are also taken for TIMESTAMP_NTZ;
- dates and times are written in full (`2026-01-02`, not `2026-1-2`, `2026` or a number of days), zones as offsets or Z,
  and years have four digits;
- decimals in text have no thousands separators;
- where text is declared and a number with a fraction comes, it is written as Python writes it: `1.5` for 1.50 as in
  Spark, but `1e+22`, not `1.0E22`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import Column, batch_of, children_of, columns_of, struct_column
from gluepot.frames.declared.columns_fit import fitted
from gluepot.frames.declared.json_decimals import as_doubles, hold_in_wide
from gluepot.frames.declared.json_values import parse, reader, type_as_read
from gluepot.frames.declared.types import readable
from gluepot.frames.json_reader import read_uniform
from gluepot.frames.json_record import read_record
from gluepot.frames.json_screen import screened
from gluepot.frames.refusal import Refusal, read_each, refused
from gluepot.frames.time_zone import UTC, TimeZone

# A piece with an odd record in it is read value by value, some 10 us a record.
_PIECE_RECORDS = 512


@dataclass(frozen=True)
class DeclaredJson:
    """A `DeclaredPayload` of one JSON object a record; made by `of`.

    Args:
        schema: the columns.
        zone: the zone of times without one.
    """

    schema: pa.Schema
    zone: TimeZone = UTC

    @classmethod
    def of(cls, schema: pa.Schema, zone: TimeZone = UTC) -> DeclaredJson:
        """Check a script's schema.

        Raises:
            ConfigError: JSON cannot be read into it; see `types.readable`.
        """
        return cls(readable(schema), zone)

    def decoder(self) -> JsonRecordDecoder:
        """See `DeclaredPayload.decoder`."""
        return JsonRecordDecoder(self.schema, self.zone)


class JsonRecordDecoder:
    """A `RecordDecoder` for JSON.

    A piece of records that all have the declared types is read as columns; any other is read value by value, with the
    same rows as its outcome. Maps, whose keys are data, are always read the second way.

    Args:
        schema: the columns; what `types.readable` returns.
        zone: the zone of times without one.
    """

    def __init__(self, schema: pa.Schema, zone: TimeZone = UTC) -> None:
        self._zone = zone
        declared = pa.struct(list(schema))
        self._declared = pa.field("", declared)
        self._as_read = type_as_read(declared)
        self._misfits = Counter[str]()
        self._read = reader(declared, self._misfits)
        self._in_columns = not _holds_map(declared)
        self._doubles = as_doubles(declared)

    def decode(self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str) -> Chunk:
        """See `RecordDecoder.decode`."""
        self._misfits.clear()
        chunk = self._decoded(values, positions, stream, shard)
        return replace(chunk, misfits=dict(self._misfits)) if self._misfits else chunk

    def _decoded(self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str) -> Chunk:
        if self._in_columns:
            chunk = self._at_once(values, positions, stream, shard)
            if chunk is not None:
                return chunk
            if len(values) > _PIECE_RECORDS:
                cuts = [slice(at, at + _PIECE_RECORDS) for at in range(0, len(values), _PIECE_RECORDS)]
                pieces = [self._decoded(values[cut], positions[cut], stream, shard) for cut in cuts]
                errors = [error for piece in pieces for error in piece.errors]
                return Chunk(pa.concat_batches([piece.batch for piece in pieces]), errors)
        rows, errors = read_each(self._row, values, positions, stream, shard)
        return Chunk(self._in_schema(pa.array(rows, self._as_read)), errors)

    def _at_once(
        self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str
    ) -> Chunk | None:
        """Return all records, or None when that takes a closer look."""
        records, refusals = screened(values)
        found = read_uniform(records, pa.schema(list(self._as_read)), exactly=False) if len(records) else None
        if found is None or not (self._doubles is None or hold_in_wide(records.text, self._doubles)):
            return None
        errors = [refused(refusals[at], values[at], stream, shard, positions[at]) for at in sorted(refusals)]
        return Chunk(self._in_schema(struct_column("", columns_of(found), found.num_rows).array), errors)

    def _row(self, value: bytes | None) -> dict[str, Any] | Refusal:
        verdict = read_record(value)
        if isinstance(verdict, Refusal):
            return verdict
        assert value is not None  # refused
        row: dict[str, Any] = self._read(parse(value))
        return row

    def _in_schema(self, read: pa.StructArray) -> pa.RecordBatch:
        column = Column(pa.field("", read.type), read)
        return batch_of(children_of(fitted(column, self._declared, self._misfits, self._zone)), len(read))


def _holds_map(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_holds_map(child.type) for child in kind)
    if pa.types.is_list(kind):
        return _holds_map(kind.value_type)
    return bool(pa.types.is_map(kind))
