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

    @property
    def splits(self) -> bool:
        """By row groups."""
        return True

    def reader(self) -> ParquetFormat:
        """Return itself: nothing is kept from file to file."""
        return self

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order."""
        try:
            found = parquet.ParquetFile(file.plain, coerce_int96_timestamp_unit="us")
            columns = _present(found.schema_arrow.names, self.columns)
            instants = {one.path for one in _leaves(found.schema) if one.physical_type == "INT96"}
            groups = _row_groups(found.metadata, file.piece)
            for batch in found.iter_batches(_BATCH_ROWS, groups, columns=columns, use_threads=False):
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

    @property
    def splits(self) -> bool:
        """By stripes."""
        return False

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


def _row_groups(metadata: parquet.FileMetaData, piece: tuple[int, int] | None) -> list[int]:
    """Return the row groups whose middle lies in a piece, as Spark shares them out; all of them for a whole file."""
    groups = range(metadata.num_row_groups)
    if piece is None:
        return list(groups)
    start, end = piece
    return [n for n in groups if start <= _middle(metadata.row_group(n)) < end]


def _middle(group: parquet.RowGroupMetaData) -> int:
    columns = [group.column(n) for n in range(group.num_columns)]
    if not columns:
        return 0
    first = columns[0].dictionary_page_offset or columns[0].data_page_offset
    return int(first + sum(column.total_compressed_size for column in columns) // 2)


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
