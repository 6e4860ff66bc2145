"""Measures Arrow data without `nbytes`, which ends the process on some data from Spark.

Spark's Arrow writer leaves out the offsets of an inner list or map without elements, as Arrow's format allows. For an
array inside an array, `nbytes` of pyarrow 26.0.1 reads them nevertheless and the process dies of a segmentation fault.
"""

from __future__ import annotations

import pyarrow as pa

_OFFSET_BYTES = 4


def memory_bytes(data: pa.RecordBatch | pa.Table | pa.ChunkedArray | pa.Array) -> int:
    """Return how many bytes the values take; of a slice, only its own values count."""
    kinds = data.schema.types if isinstance(data, pa.RecordBatch | pa.Table) else [data.type]
    if not any(map(_has_elements, kinds)):
        return int(data.nbytes)
    if isinstance(data, pa.RecordBatch | pa.Table):
        return sum(map(memory_bytes, data.columns))
    if isinstance(data, pa.ChunkedArray):
        return sum(map(memory_bytes, data.chunks))
    if not len(data):
        return 0
    return _bitmap_bytes(data) + _inner_bytes(data)


def _has_elements(kind: pa.DataType) -> bool:
    """Tell whether a type is nested, but no struct of plain values."""
    if pa.types.is_struct(kind):
        return any(_has_elements(field.type) for field in kind)
    return bool(pa.types.is_nested(kind))


def _bitmap_bytes(array: pa.Array) -> int:
    return 0 if array.buffers()[0] is None else (array.offset % 8 + len(array) + 7) // 8


def _inner_bytes(array: pa.Array) -> int:
    """Return the bytes of everything but the validity of a nested array that has values."""
    kind = array.type
    if pa.types.is_struct(kind):
        return sum(memory_bytes(array.field(index)) for index in range(kind.num_fields))
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        offsets = array.offsets
        first = offsets[0].as_py()
        elements = offsets[len(array)].as_py() - first
        own = _OFFSET_BYTES * len(array)
        if pa.types.is_list(kind):
            return own + memory_bytes(array.values.slice(first, elements))
        return own + sum(memory_bytes(side.slice(first, elements)) for side in (array.keys, array.items))
    # Spark has no other nested types. This figure includes the rest of the buffers of a slice, but reads no offsets.
    return int(array.get_total_buffer_size())
