"""Parquet files back to rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

_BATCH_ROWS = 1 << 16


def read_parquet(
    file: BinaryIO,
    encoding: Mapping[str, Any],  # noqa: ARG001 - the file describes itself
    schema: pa.Schema,  # noqa: ARG001 - as above
    columns: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """Do what `gluepot.connectors.files.contracts.RowReader` says; a column's type is that in the file."""
    with pq.ParquetFile(file, pre_buffer=True) as parquet:
        present = set(parquet.schema_arrow.names)
        wanted = [name for name in columns if name in present]
        for batch in parquet.iter_batches(_BATCH_ROWS, columns=wanted):
            # By a name such as `a`, pyarrow also finds a column called `a.b`.
            yield batch.select(wanted) if wanted else batch


def parquet_schema(file: BinaryIO) -> pa.Schema:
    """Return the columns of a Parquet file, without what writers noted beside them.

    Raises:
        ValueError: the bytes are not such a file. Also OSError, from pyarrow.
    """
    return pa.schema([pa.field(one.name, one.type) for one in pq.read_schema(file)])
