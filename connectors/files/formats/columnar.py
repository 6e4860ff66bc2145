"""Parquet and ORC: columns with types of their own, read by row group and stripe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyarrow import orc, parquet

from connectors.files.formats.arrow_types import glue_types
from connectors.files.formats.port import OpenFile
from dynamicframe.chunk import Chunk
from etlcore.errors import PermanentError

_BATCH_ROWS = 64 << 10


@dataclass(frozen=True, slots=True)
class ParquetFormat:
    """Settings of the reader.

    Args:
        columns: the only ones to read, in lower case, those that a file has of them; None for all.
    """

    columns: frozenset[str] | None = None

    @property
    def needs_seek(self) -> bool:
        """The footer says where everything is."""
        return True

    def only(self, columns: frozenset[str]) -> ParquetFormat:
        """See `ColumnarFormat`."""
        return replace(self, columns=columns)

    def reader(self) -> ParquetFormat:
        """Return itself: nothing is kept from file to file."""
        return self

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order."""
        try:
            found = parquet.ParquetFile(file.plain, coerce_int96_timestamp_unit="us")
            columns = _present(found.schema_arrow.names, self.columns)
            instants = {one.path for one in _leaves(found.schema) if one.physical_type == "INT96"}
            for batch in found.iter_batches(_BATCH_ROWS, columns=columns, use_threads=False):
                yield Chunk(glue_types(_with_instants(batch, instants)))
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(file.place, "Parquet", error) from error


@dataclass(frozen=True, slots=True)
class OrcFormat:
    """Settings of the reader.

    Args:
        columns: the only ones to read, in lower case, those that a file has of them; None for all.
    """

    columns: frozenset[str] | None = None

    @property
    def needs_seek(self) -> bool:
        """The footer says where everything is."""
        return True

    def only(self, columns: frozenset[str]) -> OrcFormat:
        """See `ColumnarFormat`."""
        return replace(self, columns=columns)

    def reader(self) -> OrcFormat:
        """Return itself: nothing is kept from file to file."""
        return self

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order."""
        try:
            found = orc.ORCFile(pa.PythonFile(file.plain, "r"))
            columns = _present(found.schema.names, self.columns)
            for stripe in range(found.nstripes):
                yield Chunk(glue_types(found.read_stripe(stripe, columns=columns)))
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(file.place, "ORC", error) from error


def _leaves(schema: Any) -> Iterator[Any]:
    return (schema.column(index) for index in range(len(schema.names)))


def _with_instants(batch: pa.RecordBatch, names: set[str]) -> pa.RecordBatch:
    """Give columns that Spark wrote as INT96 their meaning: a point in time."""
    if not names.intersection(batch.schema.names):
        return batch
    fields = [pa.field(one.name, pa.timestamp("us", "UTC") if one.name in names else one.type) for one in batch.schema]
    return batch.cast(pa.schema(fields))


def _present(names: Sequence[str], wanted: frozenset[str] | None) -> list[str] | None:
    """Return the names to read; all of them where a file has none of those, for its rows count all the same."""
    return None if wanted is None else [name for name in names if name.lower() in wanted] or None


def _unreadable(place: str, kind: str, error: Exception) -> PermanentError:
    return PermanentError(
        f"{place} is no {kind} file, or was not written to its end ({error}); write it again, or leave it out with"
        " exclusions"
    )
