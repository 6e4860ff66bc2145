"""The columns of a Parquet file as Glue has them: what Spark reads, or one sentence why not. Pure.

Arrow's types lack some of what the file says: pyarrow reads INT96 as a time without a zone, ENUM as binary, and each
value of an INTERVAL as null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from gluepot.connectors.files.formats.arrow_types import MAX_DIGITS, glue_type
from gluepot.core.errors import PermanentError

_INSTANT = pa.timestamp("us", "UTC")
_INTERVAL_BYTES = 12


def glue_columns(file: parquet.ParquetFile, place: str, only: Sequence[str] | None = None) -> pa.Schema:
    """Return the columns of a file in types that Glue has.

    Args:
        file: opened.
        place: the file, for messages.
        only: names of the columns that are read; None for all.

    Raises:
        PermanentError: a column that is read has a type that neither Glue nor Spark has.
    """
    schema = file.schema
    leaves = (schema.column(number) for number in range(len(schema.names)))
    fields = []
    for field in file.schema_arrow:
        own = list(islice(leaves, _leaf_count(field.type)))
        if only is None or field.name in only:
            fields.append(pa.field(field.name, _column(field.type, iter(own), place)))
    return pa.schema(fields)


def _leaf_count(kind: pa.DataType) -> int:
    if not pa.types.is_nested(kind):
        return 1
    return sum(_leaf_count(kind.field(number).type) for number in range(kind.num_fields))


def _column(kind: pa.DataType, leaves: Iterator[Any], place: str) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _column(field.type, leaves, place)) for field in kind])
    if pa.types.is_map(kind):
        key = _column(kind.key_type, leaves, place)
        return pa.map_(key, pa.field(kind.item_field.name, _column(kind.item_type, leaves, place)))
    if pa.types.is_nested(kind):
        return pa.list_(pa.field("element", _column(kind.value_type, leaves, place)))
    return _leaf(kind, next(leaves), place)


def _leaf(kind: pa.DataType, leaf: Any, place: str) -> pa.DataType:
    if leaf.physical_type == "INT96":
        return _INSTANT
    if leaf.logical_type.type == "ENUM":
        return pa.string()
    if _is_interval(leaf):
        raise _without_type(place, leaf, "an interval")
    if pa.types.is_decimal(kind) and kind.precision > MAX_DIGITS:
        raise _without_type(place, leaf, f"a decimal of {kind.precision} digits; Glue and Spark hold {MAX_DIGITS}")
    return glue_type(kind)


def _is_interval(leaf: Any) -> bool:
    """Tell an interval. Java's writer gives it the logical type of a column of nulls, and pyarrow returns nulls."""
    if leaf.converted_type == "INTERVAL":
        return True
    is_fixed = leaf.physical_type == "FIXED_LEN_BYTE_ARRAY" and leaf.length == _INTERVAL_BYTES
    return bool(is_fixed and leaf.logical_type.type == "UNKNOWN")


def _without_type(place: str, leaf: Any, what: str) -> PermanentError:
    return PermanentError(
        f"The Parquet file {place} cannot be read, because its column {leaf.path!r} is {what}; write the column as a"
        " string, or leave the file out with exclusions"
    )
