"""Rows to Parquet files that Spark, Athena and DuckDB read without further ado."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.connectors.files.formats.parquet.codecs import LEAST_ROWS, TRIED_ROWS, codecs
from gluepot.connectors.files.formats.parquet.dictionaries import LEAST_SAMPLE, repeated_columns
from gluepot.connectors.files.formats.parquet.statistics import columns_with_statistics, float_columns, nan_columns
from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.frames.schema import choice_to_string, without_nulls
from gluepot.frames.sizes import memory_bytes

# Glue's names, and those Spark knows beside them, to pyarrow's.
_CODECS = {
    "snappy": "snappy",
    "gzip": "gzip",
    "zstd": "zstd",
    "lz4": "lz4",
    "brotli": "brotli",
    "none": "none",
    "uncompressed": "none",
}
_BLOCK_SIZE_BYTES = 128 << 20
_PAGE_SIZE_BYTES = 1 << 20
# The encoder writes each column of a row group in some pieces, and a call of Python for each costs more than a copy.
_BUFFER_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Columns:
    """How the columns of a file are written.

    Args:
        repeated: paths of those that get a dictionary.
        compression: a codec for all of them, or of each path.
    """

    repeated: Sequence[str]
    compression: str | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ParquetOutputFormat:
    """Settings of the encoder.

    Args:
        compression: a key of pyarrow's codecs.
        block_size_bytes: Arrow bytes that become one row group; encoded and compressed they are fewer.
        page_size_bytes: aimed at for a page.
        float_statistics: whether floating-point columns without NaN in their first rows have statistics. If so, rows
            must be offered to `ParquetRows.takes` first.
        known: how columns are written, by schema; remembered in a task, whose files are much alike.
    """

    compression: str = "snappy"
    block_size_bytes: int = _BLOCK_SIZE_BYTES
    page_size_bytes: int = _PAGE_SIZE_BYTES
    float_statistics: bool = True
    known: dict[pa.Schema, Columns] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def from_glue(cls, options: Mapping[str, object]) -> ParquetOutputFormat:
        """Read Glue's `format_options`; numbers may be text. Options of other formats are none of ours.

        Raises:
            ConfigError: a value is not allowed; `lzo` is not, because pyarrow has no such encoder.
        """
        return cls(
            _codec(str(options.get("compression", "snappy"))),
            _size(options, "blockSize", _BLOCK_SIZE_BYTES),
            _size(options, "pageSize", _PAGE_SIZE_BYTES),
        )

    @property
    def gather_bytes(self) -> int:
        """One row group."""
        return self.block_size_bytes

    @property
    def one_schema(self) -> bool:
        """A Parquet file has one schema."""
        return True

    def ending(self, task: int, ordinal: int) -> str:
        """Return Glue's ending; its second zero counts the further files of a task."""
        codec = "" if self.compression == "none" else f"-{self.compression}"
        return f"part-block-0-{ordinal}-r-{task:05d}{codec}.parquet"

    def storable(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows without choices and without columns that never had a value."""
        return without_nulls(choice_to_string(rows))

    def encoding(self, schema: pa.Schema) -> Mapping[str, Any]:  # noqa: ARG002 - the file holds it
        """A Parquet file describes itself."""
        return {"format": "parquet"}

    def open(self, output: io.RawIOBase, schema: pa.Schema) -> ParquetRows:
        """Start a file."""
        return ParquetRows(self, output, schema)


class ParquetRows:
    """One Parquet file."""

    def __init__(self, settings: ParquetOutputFormat, output: io.RawIOBase, schema: pa.Schema) -> None:
        self._settings = settings
        self._output = io.BufferedWriter(output, _BUFFER_BYTES)
        self._schema = schema
        self._writer: pq.ParquetWriter | None = None
        self._without_statistics: frozenset[str] = frozenset()

    def takes(self, rows: pa.RecordBatch) -> bool:
        """Tell whether the rows have NaN only in columns without statistics in this file."""
        return self._writer is None or nan_columns(rows) <= self._without_statistics

    def write(self, rows: pa.RecordBatch) -> None:
        """Encode rows as row groups of the block size."""
        if self._writer is None:
            may_have_nan = nan_columns(rows) if self._settings.float_statistics else float_columns(self._schema)
            self._without_statistics = may_have_nan
            self._writer = self._begun(self._output, self._columns(rows))
        groups = -(-memory_bytes(rows) // self._settings.block_size_bytes) or 1
        self._writer.write_batch(rows, row_group_size=-(-rows.num_rows // groups))
        self._output.flush()

    def close(self) -> None:
        """Write the footer."""
        (self._writer or self._begun(self._output, Columns([], self._settings.compression))).close()
        self._output.detach()

    def _columns(self, rows: pa.RecordBatch) -> Columns:
        codec = self._settings.compression
        known = self._settings.known.get(self._schema)
        columns = known or Columns(repeated_columns(rows), codec)
        if columns.compression == codec != "none" and rows.num_rows >= LEAST_ROWS:
            columns = replace(columns, compression=self._codecs(rows.slice(0, TRIED_ROWS), columns))
        if columns is not known and rows.num_rows >= LEAST_SAMPLE:
            self._settings.known[self._schema] = columns
        return columns

    def _codecs(self, rows: pa.RecordBatch, columns: Columns) -> Mapping[str, str]:
        trial = io.BytesIO()
        with self._begun(trial, columns) as writer:
            writer.write_batch(rows)
        return codecs(pq.read_metadata(trial), self._settings.compression)

    def _begun(self, output: io.BufferedIOBase, columns: Columns) -> pq.ParquetWriter:
        return pq.ParquetWriter(
            output,
            self._schema,
            version="2.6",
            use_dictionary=columns.repeated,
            compression=columns.compression,
            data_page_size=self._settings.page_size_bytes,
            write_statistics=columns_with_statistics(self._schema, self._without_statistics),
            coerce_timestamps="us",  # the one unit that Spark writes, and Athena reads as timestamp
            allow_truncated_timestamps=True,
        )


def _codec(name: str) -> str:
    lowered = name.lower()
    if lowered == "lzo":
        raise ConfigError(
            "compression 'lzo' cannot be written: pyarrow has no LZO encoder; use snappy for speed or zstd for size",
        )
    if lowered not in _CODECS:
        allowed = ", ".join(_CODECS)
        raise ConfigError(f"compression {name!r} is not known; use one of {allowed}.{did_you_mean(name, _CODECS)}")
    return _CODECS[lowered]


def _size(options: Mapping[str, object], name: str, default: int) -> int:
    value = options.get(name, default)
    if not str(value).strip().isdecimal() or not int(str(value)):
        raise ConfigError(f"{name} is {value!r}; give a number of bytes above 0, such as {default}")
    return int(str(value))
