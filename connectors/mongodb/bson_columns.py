"""Columns as BSON statements, without a Python object for each value. Pure.

A document of BSON is a concatenation of its elements, so Arrow can join the bytes of whole columns. Only columns of
plain types are encoded so; `bson_values` encodes all others row by row, to the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.mongodb.bson_values import MOST_BYTES
from gluepot.frames.sizes import memory_bytes

ID_BYTES = 32
"""The length of the ids that repetitions repeat; see `Document`."""

# Offsets of Arrow's joined bytes have 32 bits; headers can double what the columns hold.
_MOST_BATCH_BYTES = 1 << 29
_DOUBLE, _TEXT, _BINARY, _BOOLEAN, _TIME, _INT32, _INT64 = b"\x01", b"\x02", b"\x05", b"\x08", b"\x09", b"\x10", b"\x12"
_MS_IN_DAY = 86_400_000
_TICKS_IN_MS = {"ms": 1, "us": 1000, "ns": 1_000_000}


def upserts(batch: pa.RecordBatch, ids: Sequence[str]) -> pa.Array | None:
    """Return for each row the statement that makes it the document of its id; see `bson_values.upsert`.

    Args:
        batch: the rows.
        ids: a text of 32 hexadecimal digits for each row.

    Returns:
        Bytes; None if a column has another type, name or value than this function encodes.
    """
    names: list[str] = batch.schema.names
    if "_id" in names or any("\0" in name for name in names) or memory_bytes(batch) > _MOST_BATCH_BYTES:
        return None
    if len(set(names)) < len(names) or any(len(one) != ID_BYTES for one in ids):
        return None
    elements = []
    for name, column in zip(names, batch.columns, strict=True):
        if pa.types.is_null(column.type):
            continue
        made = _elements(name, column)
        if made is None:
            return None
        elements.append(made)
    key = _joined(_TEXT + b"_id\0" + _int32(ID_BYTES + 1), _bytes(np.frombuffer("".join(ids).encode(), "S32")), b"\0")
    fields = pc.binary_join_element_wise(key, *elements, _scalar(b""), null_handling="skip")
    changes = _document(fields)
    if pc.max(pc.binary_length(changes)).as_py() > MOST_BYTES:
        return None
    return _document(_joined(b"\x03q\0", _document(key), b"\x03u\0", changes, b"\x08upsert\0\x01"))


def _document(elements: pa.Array) -> pa.Array:
    """Return documents: the length of everything, the elements, and a zero."""
    return _joined(_bytes((_lengths(elements) + 5).astype("<i4")), elements, b"\0")


def _elements(name: str, column: pa.Array) -> pa.Array | None:
    """Return an element for each value, null where the value is null; None if the type is another one."""
    kind, header = column.type, name.encode() + b"\0"
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        value = column.cast(pa.binary())
        size = _lengths(value)
        if pa.types.is_string(kind):
            return _joined(_TEXT + header, _bytes((size + 1).astype("<i4")), value, b"\0")
        return _joined(_BINARY + header, _bytes(size.astype("<i4")), b"\0", value)
    if pa.types.is_boolean(kind):
        return pc.if_else(column, _scalar(_BOOLEAN + header + b"\1"), _scalar(_BOOLEAN + header + b"\0"))
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return _whole(header, column)
    for is_it, type_byte, numbers in _NUMBERS:
        if is_it(kind):
            return _joined(type_byte + header, _bytes(numbers(column), column))
    return None


def _whole(header: bytes, column: pa.Array) -> pa.Array:
    """Return integers in 32 bits where they fit, and otherwise in 64, as pymongo encodes them."""
    numbers = _values(column, pa.int64()).astype("<i8")
    small = numbers.astype("<i4")
    short = _joined(_INT32 + header, _bytes(small, column))
    is_short = small == numbers
    if is_short.all():
        return short
    return pc.if_else(pa.array(is_short), short, _joined(_INT64 + header, _bytes(numbers, column)))


def _doubles(column: pa.Array) -> npt.NDArray[Any]:
    return _values(column, pa.float64()).astype("<f8")


def _times(column: pa.Array) -> npt.NDArray[Any]:
    ticks, unit = _values(column, pa.int64()), column.type.unit
    return (ticks * 1000 if unit == "s" else ticks // _TICKS_IN_MS[unit]).astype("<i8")


def _days(column: pa.Array) -> npt.NDArray[Any]:
    return (_values(column, pa.int32()).astype("<i8")) * _MS_IN_DAY


_NUMBERS: tuple[tuple[Callable[[pa.DataType], bool], bytes, Callable[[pa.Array], npt.NDArray[Any]]], ...] = (
    (lambda kind: bool(pa.types.is_float32(kind) or pa.types.is_float64(kind)), _DOUBLE, _doubles),
    (lambda kind: bool(pa.types.is_timestamp(kind)), _TIME, _times),
    (lambda kind: bool(pa.types.is_date32(kind)), _TIME, _days),
)


def _values(column: pa.Array, kind: pa.DataType) -> npt.NDArray[Any]:
    """Return a column's values, 0 where they are null."""
    values: npt.NDArray[Any] = column.cast(kind).fill_null(0).to_numpy(zero_copy_only=False)
    return values


def _lengths(values: pa.Array) -> npt.NDArray[Any]:
    return _values(pc.binary_length(values), pa.int64())


def _bytes(items: npt.NDArray[Any], column: pa.Array | None = None) -> pa.Array:
    """Return the bytes of each item of an array, null where a column is null."""
    offsets = np.arange(len(items) + 1, dtype=np.int32) * items.itemsize
    made = pa.BinaryArray.from_buffers(
        pa.binary(), len(items), [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(items))]
    )
    return pc.if_else(column.is_valid(), made, None) if column is not None and column.null_count else made


def _joined(*parts: pa.Array | bytes) -> pa.Array:
    """Return the concatenation of parts, null where a part is null."""
    whole = [_scalar(part) if isinstance(part, bytes) else part for part in parts]
    return pc.binary_join_element_wise(*whole, _scalar(b""))


def _scalar(value: bytes) -> pa.Scalar:
    return pa.scalar(value, pa.binary())


def _int32(number: int) -> bytes:
    return number.to_bytes(4, "little")
