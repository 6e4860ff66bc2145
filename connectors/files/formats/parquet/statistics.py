"""Which columns of a Parquet file get statistics: those whose least and largest value hold for all values.

Arrow leaves NaN out of the statistics of floating-point numbers. Spark, for which NaN is greater than all numbers, and
DuckDB trust them all the same: with 1.5 and NaN in a row group, both skip it for `x > 2`. Spark's own writer has NaN as
the largest value, and both then read the row group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from gluepot.connectors.files.formats.parquet.dictionaries import leaves_of

# How the writer of Spark and Hadoop names itself. Its largest value is NaN if there is one, which readers respect.
_TELLS_OF_NAN = "parquet-mr "


def float_columns(schema: pa.Schema) -> frozenset[str]:
    """Return the paths, as Parquet has them, of floating-point columns."""
    return frozenset(path for path, values in _leaves(schema) if pa.types.is_floating(values.type))


def nan_columns(rows: pa.RecordBatch) -> frozenset[str]:
    """Return the paths, as Parquet has them, of columns with NaN, and of those that cannot be looked at for it."""
    floats = rows.select([at for at, kind in enumerate(rows.schema.types) if _may_be_floating(kind)])
    return frozenset(path for path, values in leaves_of(floats) if _may_have_nan(values))


def statistics_miss_nan(file: parquet.ParquetFile) -> bool:
    """Tell whether statistics of a file with flat columns leave out a NaN. It reads the columns that may have some.

    Raises:
        pa.ArrowException: a value cannot be read.
        OSError: the file cannot be read.
    """
    metadata = file.metadata
    if (metadata.created_by or "").startswith(_TELLS_OF_NAN):
        return False
    names = metadata.schema.names
    floats = [at for at in range(len(names)) if metadata.schema.column(at).physical_type in {"FLOAT", "DOUBLE"}]
    for group in range(metadata.num_row_groups):
        statistics = {names[at]: metadata.row_group(group).column(at).statistics for at in floats}
        trusted = [name for name, one in statistics.items() if one is not None and one.has_min_max]
        batches = file.iter_batches(row_groups=[group], columns=trusted) if trusted else ()
        if any(map(nan_columns, batches)):
            return True
    return False


def columns_with_statistics(schema: pa.Schema, without: Collection[str]) -> bool | list[str]:
    """Return the `write_statistics` of pyarrow's writer.

    Args:
        schema: of the file.
        without: the paths of columns that get none.
    """
    if not without:
        return True
    return [path for path, _ in _leaves(schema) if path not in without]


def statistics_without_floats(schema: pa.Schema) -> bool | list[str]:
    """Return the `write_statistics` of pyarrow's writer for a file whose later rows may have NaN in any column."""
    return columns_with_statistics(schema, float_columns(schema))


def _leaves(schema: pa.Schema) -> Iterator[tuple[str, pa.Array]]:
    return leaves_of(pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema))


def _may_be_floating(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_nested(kind))


def _may_have_nan(values: pa.Array) -> bool:
    if not pa.types.is_floating(values.type):
        return False
    return pa.types.is_float16(values.type) or bool(pc.any(pc.is_nan(values)).as_py())
