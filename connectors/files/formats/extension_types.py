"""Columns of Arrow's extension types as the values that Glue has for them. Pure.

A UUID becomes a string in its usual form. Any other extension, such as JSON, is what it is stored as.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

UUID: Final = "arrow.uuid"
_UUID_BYTES = 16
_TEXT_BYTES = 36
_HYPHENS = (8, 13, 18, 23)
_DIGITS_AT = np.array([at for at in range(_TEXT_BYTES) if at not in _HYPHENS])
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


def plain_storage(column: pa.Array) -> pa.Array:
    """Return a column without extension types, at any depth; the types of lists may change, too."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return uuid_texts(column.storage) if kind.extension_name == UUID else plain_storage(column.storage)
    if pa.types.is_struct(kind):
        children = [plain_storage(child) for child in column.flatten()]
        names = [kind.field(number).name for number in range(kind.num_fields)]
        return pa.StructArray.from_arrays(children, names, mask=column.is_null())
    if pa.types.is_map(kind):
        column = _from_its_start(column)
        keys, items = plain_storage(column.keys), plain_storage(column.items)
        return pa.MapArray.from_arrays(column.offsets, keys, items, mask=column.is_null())
    if pa.types.is_list(kind):
        column = _from_its_start(column)
        return pa.ListArray.from_arrays(column.offsets, plain_storage(column.values), mask=column.is_null())
    if pa.types.is_nested(kind):  # another kind of list
        return plain_storage(column.cast(pa.list_(kind.value_field)))
    return column


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


def _from_its_start(column: pa.Array) -> pa.Array:
    """Return the column itself, or a copy if it is a slice: the offsets of a slice cannot be used with a mask."""
    return column.take(pa.array(np.arange(len(column)))) if column.offset else column
