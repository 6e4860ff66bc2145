"""Rows with a text that is not UTF-8. Python cannot take them, and a file that has one is refused by most readers.

Records that we read have none, because their formats are checked. Spark does not check the texts of its own rows, and
files of Parquet and ORC only say that a column holds texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from gluepot.frames.chunk import CallSite, Chunk, ErrorRecord
from gluepot.frames.json_text import json_bytes_as_they_are

REASON = "invalid_utf8"
_MESSAGE = "A text of the row is not UTF-8."
_ASCII_END = 128


def readable(chunk: Chunk) -> Chunk:
    """Return the rows whose texts can be read; each of the others becomes an error, with JSON that has its bytes.

    Rows of known origin are left alone: their records have been decoded, and so checked.
    """
    if chunk.origin is not None:
        return chunk
    batch = chunk.batch
    bad = sorted({row for column in batch.columns if not _is_readable(column) for row in _unreadable(column, 0)})
    if not bad:
        return chunk
    wanted = np.ones(batch.num_rows, bool)
    wanted[bad] = False
    # The record was read, and arrives where it is refused: that is what a call site says.
    errors = [ErrorRecord(_json(batch, row), REASON, _MESSAGE, callsite=CallSite()) for row in bad]
    return replace(chunk, batch=batch.filter(pa.array(wanted)), errors=[*chunk.errors, *errors])


def _is_readable(column: pa.Array) -> bool:
    if not _holds_texts(column.type) or _is_ascii(column):
        return True
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        return "UTF8" not in str(error)
    return True


def _is_ascii(column: pa.Array) -> bool:
    """Return whether all texts are known to be ASCII, which takes a small part of the time of a validation."""
    kind = column.type
    if pa.types.is_struct(kind):
        return all(_is_ascii(column.field(at)) for at in range(kind.num_fields))
    if pa.types.is_map(kind):
        return _is_ascii(column.keys) and _is_ascii(column.items)
    if pa.types.is_list(kind):
        return _is_ascii(column.values)
    return _are_ascii(column) if pa.types.is_string(kind) else not _holds_texts(kind)


def _are_ascii(texts: pa.StringArray) -> bool:
    offsets, data = texts.buffers()[1:]
    if not len(texts) or data is None:  # an empty column may lack its offsets
        return True
    ends = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
    found = np.frombuffer(data, np.uint8, ends[-1] - ends[0], ends[0])
    return not found.size or int(found.max()) < _ASCII_END


def _holds_texts(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _holds_texts(kind.value_type)
    if pa.types.is_nested(kind):
        return any(_holds_texts(kind.field(at).type) for at in range(kind.num_fields))
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _unreadable(column: pa.Array, first: int) -> Iterator[int]:
    """Yield the rows with a text that cannot be read, given the number of the first row."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if _is_readable(column):
        return
    if len(column) == 1:
        yield first
        return
    middle = len(column) // 2
    # A slice of lists is checked with all their elements, also those before and behind it; what `take` makes is not.
    yield from _unreadable(column.take(pa.array(np.arange(middle))), first)
    yield from _unreadable(column.take(pa.array(np.arange(middle, len(column)))), first + middle)


def _json(batch: pa.RecordBatch, row: int) -> bytes:
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return json_bytes_as_they_are({name: _value(column[row]) for name, column in columns})


def _value(found: Any) -> Any:
    """Return a value as Python has it. Bytes of a text that are not UTF-8 are surrogates, as in names of files."""
    if not found.is_valid:
        return None
    kind = found.type
    if pa.types.is_dictionary(kind):
        return _value(found.value)
    if pa.types.is_struct(kind):
        return {kind.field(at).name: _value(found[at]) for at in range(kind.num_fields)}
    if pa.types.is_map(kind):
        return {_value(pair[0]): _value(pair[1]) for pair in found.values}
    if pa.types.is_nested(kind):
        return [_value(item) for item in found.values]
    if _holds_texts(kind):
        return found.as_buffer().to_pybytes().decode(errors="surrogateescape")
    return found.as_py()
