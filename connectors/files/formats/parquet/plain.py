"""Files of Parquet that every reader reads alike, so that Spark and DuckDB may read them in our stead."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyarrow import parquet

from gluepot.connectors.files.formats.arrow_types import MAX_DIGITS, glue_type
from gluepot.connectors.files.formats.parquet.read import check_sizes

# Physical and logical types of columns, as pyarrow names them. INT96 and integers without a sign have no type of
# their own in Spark, and other texts are bytes for some readers.
_PLAIN = frozenset(
    {
        ("BOOLEAN", "NONE"),
        ("INT32", "NONE"),
        ("INT32", "INT"),
        ("INT32", "DATE"),
        ("INT32", "DECIMAL"),
        ("INT64", "NONE"),
        ("INT64", "INT"),
        ("INT64", "TIMESTAMP"),
        ("INT64", "DECIMAL"),
        ("FLOAT", "NONE"),
        ("DOUBLE", "NONE"),
        ("BYTE_ARRAY", "STRING"),
        ("BYTE_ARRAY", "NONE"),
        ("FIXED_LEN_BYTE_ARRAY", "DECIMAL"),
    }
)
# Signs of Spark's that moments and dates were written by another calendar.
_LEGACY = frozenset({b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96"})


def plain_schema(metadata: parquet.FileMetaData, place: str) -> pa.Schema | None:
    """Return the columns of a file, in types that Glue knows; None if a reader could take a value for another.

    Args:
        metadata: the file's footer.
        place: the file, for messages.

    Raises:
        PermanentError: the file grows to more than it may.
    """
    if _LEGACY & set(metadata.metadata or {}):
        return None
    schema = metadata.schema
    leaves = [schema.column(at) for at in range(len(schema.names))]
    columns = schema.to_arrow_schema()
    if len(leaves) != len(columns) or not all(map(_is_plain, leaves, columns)):
        return None
    check_sizes(metadata, place)
    return pa.schema([pa.field(one.name, glue_type(one.type)) for one in columns])


def _is_plain(leaf: Any, field: pa.Field) -> bool:
    """Return whether a column is flat and of a type that stays what it is in Glue."""
    kinds = (leaf.physical_type, leaf.logical_type.type)
    if leaf.path != field.name or leaf.max_repetition_level or kinds not in _PLAIN:
        return False
    if pa.types.is_unsigned_integer(field.type) or isinstance(field.type, pa.BaseExtensionType):
        return False
    if pa.types.is_decimal(field.type) and field.type.precision > MAX_DIGITS:
        return False
    return not pa.types.is_timestamp(field.type) or field.type.unit == "us"
