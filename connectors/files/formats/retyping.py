"""Columns in other types of the same shape. Pure.

A UUID becomes a string in its usual form. Any other extension type, such as JSON, is what it is stored as.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.times import in_micros
from gluepot.frames.declared.avro_choices import holds_choices

UUID: Final = "arrow.uuid"
_UUID_BYTES = 16
_TEXT_BYTES = 36
_HYPHENS = (8, 13, 18, 23)
_DIGITS_AT = np.array([at for at in range(_TEXT_BYTES) if at not in _HYPHENS])
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


def as_type(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Return a column as another type of the same shape; timestamps in nanoseconds are rounded down to microseconds.

    Nested types are taken apart: Arrow's own cast of a list of nulls returns a list that is too short, and what it
    builds from Python's values has no mark of a choice within a map.

    Raises:
        pyarrow.ArrowException: a value does not fit its type.
    """
    kind = column.type
    if kind == target and (kind.equals(target, check_metadata=True) or not holds_choices(target)):
        return column
    if isinstance(kind, pa.BaseExtensionType):
        return uuid_texts(column.storage) if kind.extension_name == UUID else as_type(column.storage, target)
    if pa.types.is_null(kind):
        return pa.nulls(len(column), target)
    if pa.types.is_dictionary(kind):
        return as_type(column.dictionary_decode(), target)
    if pa.types.is_nested(kind):
        return _nested_as_type(column, target)
    return (in_micros(column) if pa.types.is_timestamp(kind) else column).cast(target)


def _nested_as_type(column: pa.Array, target: pa.DataType) -> pa.Array:
    kind = column.type
    mask = column.is_null() if column.null_count else None
    if pa.types.is_struct(kind):
        children = [as_type(child, field.type) for child, field in zip(column.flatten(), target, strict=True)]
        return pa.StructArray.from_arrays(children, fields=list(target), mask=mask)
    if not (pa.types.is_map(kind) or pa.types.is_list(kind)):
        return as_type(_plain_lists(column), target)
    if column.offset:  # the offsets of a slice cannot be used with a mask
        return _nested_as_type(column.take(pa.array(np.arange(len(column)))), target)
    if pa.types.is_map(kind):
        keys, items = as_type(column.keys, target.key_type), as_type(column.items, target.item_type)
        return pa.MapArray.from_arrays(column.offsets, keys, items, type=target, mask=mask)
    values = as_type(column.values, target.value_type)
    return pa.ListArray.from_arrays(column.offsets, values, type=target, mask=mask)


def _plain_lists(column: pa.Array) -> pa.Array:
    """Return lists of another kind as ordinary lists."""
    kind = column.type
    if not (pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind)):
        return column.cast(pa.list_(kind.value_field))
    # Arrow's cast of a view makes an array with too few offsets.
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    nulls = column.is_null() if column.null_count else None
    return pa.ListArray.from_arrays(offsets, column.flatten(), type=pa.list_(kind.value_field), mask=nulls)


def uuid_texts(column: pa.Array) -> pa.Array:
    """Return UUIDs of 16 bytes each as text, such as `00000000-0000-0000-0000-000000000005`."""
    count = len(column)
    if column.null_count == count:
        return pa.nulls(count, pa.string())
    data = np.frombuffer(column.buffers()[1], np.uint8, count * _UUID_BYTES, column.offset * _UUID_BYTES)
    data = data.reshape(count, _UUID_BYTES)
    texts = np.full((count, _TEXT_BYTES), ord("-"), np.uint8)
    texts[:, _DIGITS_AT[0::2]] = _DIGITS[data >> 4]
    texts[:, _DIGITS_AT[1::2]] = _DIGITS[data & 15]
    offsets = np.arange(count + 1, dtype=np.int32) * _TEXT_BYTES
    found = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(texts.tobytes()))
    return pc.if_else(column.is_valid(), found, None) if column.null_count else found
