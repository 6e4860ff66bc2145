"""Reading Parquet: columns with types of their own, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from gluepot.connectors.files.compression import FREE_BYTES, MOST_TIMES
from gluepot.connectors.files.contracts import OpenFile
from gluepot.connectors.files.formats.arrow_types import glue_types
from gluepot.connectors.files.formats.bounds import CHUNK_BYTES, MOST_RECORD_BYTES, too_large
from gluepot.connectors.files.formats.columnar import BATCH_ROWS, present, refuse_twins, unreadable
from gluepot.connectors.files.formats.parquet.types import glue_columns
from gluepot.frames.chunk import Chunk

_MAGIC = b"PAR1"
# A column of lists may name so many values; beyond that, only `MOST_TIMES` for each of its bytes.
_FREE_VALUES = 10_000_000
_VALUE_BYTES = 8


@dataclass(frozen=True, slots=True)
class ParquetInputFormat:
    """Settings of the reader.

    Args:
        columns: the only ones to read, in lower case, those that a file has of them; None for all.
    """

    columns: frozenset[str] | None = None

    @property
    def needs_seek(self) -> bool:
        """The footer says where everything is."""
        return True

    def only(self, columns: frozenset[str]) -> ParquetInputFormat:
        """See `ColumnarInputFormat`."""
        return replace(self, columns=columns)

    @property
    def splits(self) -> bool:
        """By row groups."""
        return True

    def reader(self) -> ParquetInputFormat:
        """Return itself: nothing is kept from file to file."""
        return self

    def read(self, file: OpenFile) -> Iterator[Chunk]:
        """Yield the records in order."""
        try:
            found = parquet.ParquetFile(file.plain, coerce_int96_timestamp_unit="us")
            refuse_twins(found.schema_arrow.names, file, "Parquet")
            columns = present(found.schema_arrow.names, self.columns)
            types = glue_columns(found, file.place, columns)
            groups = _row_groups(found.metadata, file.piece)
            shapes = [_shape(found.metadata.row_group(group), found.schema, file.place) for group in groups]
            texts = sorted({text for shape in shapes for text in shape.texts_with_dictionary})
            if texts:
                found = parquet.ParquetFile(
                    file.plain, metadata=found.metadata, read_dictionary=texts, coerce_int96_timestamp_unit="us"
                )
            rows = min([BATCH_ROWS, *(shape.rows_at_once for shape in shapes)])
            for batch in found.iter_batches(rows, groups, columns=columns, use_threads=False):
                for part in _parts(batch, file.place):
                    yield Chunk(glue_types(part, pa.schema([types.field(name) for name in part.schema.names])))
        except (pa.ArrowException, OSError) as error:
            raise unreadable(file, "Parquet", _MAGIC, error) from error


def check_sizes(metadata: parquet.FileMetaData, place: str) -> None:
    """Look at what the metadata say about the memory that rows take.

    Raises:
        PermanentError: a row group says that it grows to more than it may.
    """
    for group in range(metadata.num_row_groups):
        _shape(metadata.row_group(group), metadata.schema, place)


def _row_groups(metadata: parquet.FileMetaData, piece: tuple[int, int] | None) -> list[int]:
    """Return the row groups whose middle lies in a piece, as Spark shares them out; all of them for a whole file."""
    groups = range(metadata.num_row_groups)
    if piece is None:
        return list(groups)
    start, end = piece
    return [n for n in groups if start <= _middle(metadata.row_group(n)) < end]


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the metadata of a row group say about the memory that it takes.

    Args:
        rows_at_once: how many rows take little memory, if their numbers are all that counts.
        texts_with_dictionary: paths of columns in which one long text may stand in every row. They are read as
            dictionaries, whose size in rows is known before they are decoded.
    """

    rows_at_once: int
    texts_with_dictionary: tuple[str, ...]


def _shape(group: parquet.RowGroupMetaData, schema: Any, place: str) -> _Shape:
    """Look at a row group.

    Raises:
        PermanentError: it says that it grows to more than it may.
    """
    values = 0
    texts = []
    for index in range(group.num_columns):
        chunk, leaf = group.column(index), schema.column(index)
        packed_bytes, plain_bytes = max(1, chunk.total_compressed_size), chunk.total_uncompressed_size
        if plain_bytes > max(FREE_BYTES, MOST_TIMES * packed_bytes):
            raise too_large(place, f"a column of {plain_bytes} bytes in {packed_bytes}")
        if leaf.max_repetition_level and chunk.num_values > max(_FREE_VALUES, MOST_TIMES * packed_bytes):
            raise too_large(place, f"lists of {chunk.num_values} values in {packed_bytes} bytes")
        values += chunk.num_values
        has_texts = chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page
        if has_texts and plain_bytes * min(chunk.num_values, BATCH_ROWS) > CHUNK_BYTES:
            texts.append(chunk.path_in_schema)
    rows_at_once = 2 * CHUNK_BYTES * group.num_rows // max(1, values * _VALUE_BYTES)
    return _Shape(max(1, rows_at_once), tuple(texts))


def _parts(batch: pa.RecordBatch, place: str) -> Iterator[pa.RecordBatch]:
    """Cut a batch into parts that take bounded memory once their dictionaries are decoded."""
    decoded_bytes = sum(map(_decoded_bytes, batch.columns))
    if decoded_bytes <= CHUNK_BYTES:
        yield batch
    elif batch.num_rows > 1:
        middle = batch.num_rows // 2
        yield from _parts(batch.slice(0, middle), place)
        yield from _parts(batch.slice(middle), place)
    elif decoded_bytes > MOST_RECORD_BYTES:
        raise too_large(place, f"a row of {decoded_bytes} bytes")
    else:
        yield batch


def _decoded_bytes(array: pa.Array) -> int:
    """Return how many bytes the texts in dictionaries take, each as often as it stands in a row."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        if not (pa.types.is_string(kind.value_type) or pa.types.is_binary(kind.value_type)):
            return 0
        lengths = pc.binary_length(array.dictionary).fill_null(0)
        return int(pc.sum(lengths.take(array.indices)).as_py() or 0)
    if pa.types.is_struct(kind):
        return sum(map(_decoded_bytes, array.flatten()))
    if pa.types.is_map(kind):
        return _decoded_bytes(array.keys) + _decoded_bytes(array.items)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        # `flatten` cannot build extension types such as UUID.
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        return _decoded_bytes(array.values.slice(first, last - first))
    return 0


def _middle(group: parquet.RowGroupMetaData) -> int:
    columns = [group.column(n) for n in range(group.num_columns)]
    if not columns:
        return 0
    first = columns[0].dictionary_page_offset or columns[0].data_page_offset
    return int(first + sum(column.total_compressed_size for column in columns) // 2)
