"""Reads records whose fields are all known with compiled code, if that was built (docs/decisions/0027)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pyarrow as pa

from gluepot.frames.chunk import is_choice
from gluepot.frames.objects import BIG
from gluepot.frames.payloads import Lines, Payloads

try:
    _compiled: Any = import_module("gluepot.frames._json_kernel")
except ImportError:  # built without a C compiler; other code reads the records
    _compiled = None

IS_COMPILED = _compiled is not None

# The order of `enum kind`.
_OBJECT, _LIST, _CHOICE = range(5, 8)
_SCALARS = {pa.null(): 0, pa.bool_(): 1, pa.int64(): 2, pa.float64(): 3, pa.string(): 4, BIG: 8}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')

_Shape = tuple[int, bytes, tuple["_Shape", ...]]
# A type, whether it is null, and the same of its children: asking pyarrow costs more than making an array.
_Tree = tuple[pa.DataType, bool, tuple["_Tree", ...]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of some records.

    Args:
        batch: the rows, in exactly the schema.
        odd: indices of the records that have to be read another way, ascending.
        stop: the index at which reading ended.
    """

    batch: pa.RecordBatch
    odd: list[int]
    stop: int


class KnownRecords:
    """Reads records all of whose fields and types are in a schema.

    Args:
        schema: has one or more fields; `can_read` must be true of it.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._trees = tuple(map(_tree, schema.types))
        self._reader = _compiled.reader_of((_OBJECT, b"", tuple(map(_shape, schema))))

    def read(self, values: list[bytes | None] | Payloads, start: int, stop: int, most_odd: int) -> Reading:
        """Read records, and end after so many that have to be read another way."""
        if isinstance(values, Payloads):
            found = _compiled.read_payloads(self._reader, values.buffer, values.ends, start, stop, most_odd)
        else:
            found = _compiled.read(self._reader, values, start, stop, most_odd)
        columns, odd, end = found
        rest = iter(columns)
        next(rest)  # the records themselves
        batch = pa.RecordBatch.from_arrays([_array(tree, rest) for tree in self._trees], schema=self.schema)
        return Reading(batch, odd, end)


def object_lines(text: memoryview, most_bytes: int) -> Lines | None:
    """Return the lines of a text as records if each begins as an object does; None otherwise, or without a kernel.

    Args:
        text: whole lines; the last one may have no end.
        most_bytes: None is also returned if a line is longer.
    """
    starts = _compiled.object_lines(text, most_bytes) if IS_COMPILED else None
    return None if starts is None else Lines.of(text, starts)


def can_read(schema: pa.Schema) -> bool:
    """Return whether `KnownRecords` can read every field. Without fields it cannot, because rows have no count."""
    return IS_COMPILED and len(schema) > 0 and all(map(_is_readable, schema))


def _is_readable(field: pa.Field) -> bool:
    if _ESCAPED.search(field.name):
        return False
    if pa.types.is_struct(field.type):
        return all(map(_is_readable, field.type))
    if pa.types.is_list(field.type):
        return _is_readable(field.type.value_field)
    return field.type in _SCALARS


def _shape(field: pa.Field) -> _Shape:
    key, kind = f'"{field.name}"'.encode(), field.type
    if pa.types.is_struct(kind):
        return _CHOICE if is_choice(field) else _OBJECT, key, tuple(map(_shape, kind))
    if pa.types.is_list(kind):
        return _LIST, key, (_shape(kind.value_field),)
    return _SCALARS[kind], key, ()


def _tree(kind: pa.DataType) -> _Tree:
    return kind, pa.types.is_null(kind), tuple(_tree(kind.field(index).type) for index in range(kind.num_fields))


def _array(tree: _Tree, columns: Iterator[tuple[int, int, list[Any]]]) -> pa.Array:
    """Build the next column from its buffers, and its child columns from the buffers that follow."""
    kind, is_null, inner = tree
    rows, nulls, buffers = next(columns)
    children = [_array(one, columns) for one in inner]
    if is_null:
        return pa.nulls(rows)
    wrapped = [None if buffer is None else pa.py_buffer(buffer) for buffer in buffers]
    return pa.Array.from_buffers(kind, rows, wrapped, null_count=nulls, children=children)
