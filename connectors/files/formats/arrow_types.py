"""Columns of Arrow types that Glue does not have, as the nearest type that it has."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from gluepot.connectors.files.formats.retyping import UUID, as_type

MAX_DIGITS: Final = 38
_LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)
_SIMPLE = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
}


def glue_types(batch: pa.RecordBatch, target: pa.Schema | None = None) -> pa.RecordBatch:
    """Return the batch with types that Glue knows; time stamps lose what is below a microsecond.

    Args:
        batch: the columns as they were read.
        target: the columns to make, with the same names; None for the nearest types that Glue has.

    Raises:
        pyarrow.ArrowException: a value does not fit its type.
    """
    if target is None:
        target = pa.schema([pa.field(one.name, glue_type(one.type)) for one in batch.schema])
    if target.equals(batch.schema):
        return batch.replace_schema_metadata(None)
    columns = [as_type(column, field.type) for column, field in zip(batch.columns, target, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=target)


def glue_type(kind: pa.DataType) -> pa.DataType:
    """Return the nearest type that Glue has."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if isinstance(kind, pa.BaseExtensionType):
        return pa.string() if kind.extension_name == UUID else glue_type(kind.storage_type)
    if pa.types.is_decimal(kind) and kind.precision <= MAX_DIGITS:
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_dictionary(kind):
        return glue_type(kind.value_type)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    if pa.types.is_time(kind):
        return pa.string()
    if pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(one.name, glue_type(one.type)) for one in kind])
    if pa.types.is_map(kind):
        return pa.map_(glue_type(kind.key_type), glue_type(kind.item_type))
    if any(is_kind(kind) for is_kind in _LISTS):
        return pa.list_(pa.field("element", glue_type(kind.value_type)))
    return kind
