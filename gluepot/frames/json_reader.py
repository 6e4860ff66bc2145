"""Reads many JSON objects in one pass of pyarrow.json, if they agree on the type of every field."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from gluepot.frames.columns import Column, children_of, columns_of, items_of
from gluepot.frames.json_footprint import MAX_DEPTH
from gluepot.frames.records import JoinedRecords
from gluepot.frames.schema.integers import MOST

_LONG_INTEGER = re.compile(rb"(?<![0-9.eE+])[0-9]{16,}(?![0-9.eE])")
_MAX_BLOCK_BYTES = 2**31 - 1  # pyarrow keeps the block size in an int32


def read_uniform(records: JoinedRecords, known: pa.Schema, *, exactly: bool = True) -> pa.RecordBatch | None:
    """Return the records as a batch with the fields of `known` first, followed by new fields.

    Args:
        records: each starts with `{` and ends with `}`.
        known: types to read with, without choices. Other fields get the type of their values; text stays text.
        exactly: whether an integer must not be rounded to a double; False if a script declares the doubles.

    Returns:
        One row per record, or None if any record is malformed or disagrees with another one or with `known`, or if an
        integer may have been rounded to a double.
    """
    if not _is_fit(records.text):
        return None
    batch = _parse(records.text, known)
    if batch is None:
        return None
    if not batch.schema.equals(known):
        settled = _settled(batch.schema, known)
        if _levels(settled) > MAX_DEPTH:
            return None
        if not batch.schema.equals(settled) or not all(map(_is_sound, columns_of(batch))):
            batch = _parse(records.text, settled)
    # The count alone shows that every record is one document. A document cannot reach over the end of its record: there
    # stands `}`, newline, `{`. Outside a string no JSON value goes on with `{` after `}`, and inside a string a raw
    # newline is an error. So each record holds one document or more, and only equal counts mean exactly one.
    if batch is None or batch.num_rows != len(records):
        return None
    columns = columns_of(batch)
    # pyarrow takes NaN, Inf and Infinity for numbers; JSON has none of them. Digits too big for a double are an error.
    if not (all(map(_is_sound, columns)) and all(map(_is_finite, columns))):
        return None
    is_rounded = exactly and any(map(_has_large, columns)) and _LONG_INTEGER.search(records.text) is not None
    return None if is_rounded else batch


def _is_fit(text: bytes) -> bool:
    """Return whether pyarrow would notice all errors in the text: it ignores bad UTF-8, and stops at a NUL."""
    if len(text) >= _MAX_BLOCK_BYTES or b"\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _parse(text: bytes, schema: pa.Schema) -> pa.RecordBatch | None:
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(text),
            pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer"),
        )
    except pa.ArrowException:
        return None
    return table.combine_chunks().to_batches()[0]


def _settled(inferred: pa.Schema, known: pa.Schema) -> pa.Schema:
    """Return the inferred schema with text for the fields in which pyarrow saw dates; Glue keeps them as strings."""
    fields = {field.name: field for field in known}
    return pa.schema([_settled_field(field, fields.get(field.name)) for field in inferred])


def _settled_field(inferred: pa.Field, known: pa.Field | None) -> pa.Field:
    kind = inferred.type
    if known is not None and kind == known.type:
        return inferred
    if pa.types.is_temporal(kind):
        return pa.field(inferred.name, pa.string())
    if pa.types.is_struct(kind):
        inner = {child.name: child for child in known.type} if known is not None else {}
        return pa.field(inferred.name, pa.struct([_settled_field(child, inner.get(child.name)) for child in kind]))
    if pa.types.is_list(kind):
        item = known.type.value_field if known is not None else None
        return pa.field(inferred.name, pa.list_(_settled_field(kind.value_field, item)))
    return inferred


def _levels(schema: pa.Schema) -> int:
    """Return how deeply objects and arrays are nested, including the record itself."""
    levels, kinds = 0, [pa.struct(list(schema))]
    while kinds:
        levels += 1
        inner = [child.type for kind in kinds for child in (kind if pa.types.is_struct(kind) else [kind.value_field])]
        kinds = [kind for kind in inner if pa.types.is_nested(kind)]
    return levels


def _is_sound(column: Column) -> bool:
    """Return whether lists have as many items as their offsets say.

    If pyarrow.json infers a list type and the first list starts with null, it drops that null from the items but not
    from the offsets (apache/arrow issue 51305, seen in 26.0). If the type is given, it does not.
    """
    kind = column.field.type
    if pa.types.is_struct(kind):
        return all(map(_is_sound, children_of(column)))
    if pa.types.is_list(kind):
        items = items_of(column)
        return column.array.offsets[-1].as_py() == len(items.array) and _is_sound(items)
    return True


def _is_finite(column: Column) -> bool:
    kind = column.field.type
    if pa.types.is_struct(kind):
        return all(map(_is_finite, children_of(column)))
    if pa.types.is_list(kind):
        return _is_finite(items_of(column))
    return not pa.types.is_floating(kind) or pc.all(pc.is_finite(column.array)).as_py() is not False


def _has_large(column: Column) -> bool:
    """Return whether a double is so large that it may be the rounded value of an integer."""
    kind = column.field.type
    if pa.types.is_struct(kind):
        return any(map(_has_large, children_of(column)))
    if pa.types.is_list(kind):
        return _has_large(items_of(column))
    if not pa.types.is_floating(kind):
        return False
    ends = pc.min_max(column.array)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    return low is not None and max(-low, high) >= MOST
