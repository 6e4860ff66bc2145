"""Which integers a double holds exactly, and schemas that carry the answer.

A schema does not show whether the integers of a column fit a double. So code that knows the values marks the fields of
type `long` all of whose values do (`observed`), and the merge turns only marked ones into doubles. Without a mark, an
integer may have more digits than a double holds. Marks are only for merging: batches and results do not have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.chunk import is_choice

_KEY = b"gluepot.integers"
FITS_DOUBLE = {_KEY: b"fit a double"}
MOST = 2**53
"""Doubles hold every integer up to here. They hold some beyond, but not in the digits that a double is printed with."""


def fits_double(field: pa.Field) -> bool:
    """Return whether every integer of a field is exactly a double, as far as the field shows."""
    kind = field.type
    if kind.bit_width < 64:
        return True
    return bool(field.metadata) and _KEY in field.metadata


def are_exact(integers: pa.Array) -> bool:
    """Return whether every value is exactly a double."""
    if integers.type.bit_width < 64:
        return True
    ends = pc.min_max(integers)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    return low is None or bool(max(-low, high) <= MOST)


def observed(batch: pa.RecordBatch, *, keep_choices: bool = False) -> pa.Schema:
    """Return the batch's schema with marks at the integers that fit a double.

    Args:
        batch: the values.
        keep_choices: whether integers beside doubles in one choice are left without a mark, so that the choice stays.
    """
    fields = zip(batch.schema, batch.columns, strict=True)
    return pa.schema([_observed(field, column, keep_choices=keep_choices) for field, column in fields])


def observed_field(field: pa.Field, array: pa.Array) -> pa.Field:
    """Return a field with marks at the integers that fit a double, see `observed`."""
    return _observed(field, array, keep_choices=False)


def all_fit(field: pa.Field, array: pa.Array) -> bool:
    """Return whether a double holds every integer of a column, at any depth."""
    if not _holds_longs(field.type):
        return True
    seen = observed_field(field, array)
    return bool(seen.equals(marked(seen), check_metadata=True))


def marked(field: pa.Field) -> pa.Field:
    """Return a field with marks at all integers in it but those beside doubles in one choice."""
    return _changed(field, _marked, keep_choices=True)


def unmarked_field(field: pa.Field) -> pa.Field:
    """Return a field without marks."""
    return _changed(field, _without_mark, keep_choices=False)


def assumed(schema: pa.Schema) -> pa.Schema:
    """Return the schema with marks at all integers but those beside doubles in one choice.

    For schemas that say how to read later values and hold none themselves, such as those of a stream so far.
    """
    return pa.schema(map(marked, schema))


def unmarked(schema: pa.Schema) -> pa.Schema:
    """Return the schema without marks."""
    return pa.schema(map(unmarked_field, schema))


def holds_both(field: pa.Field) -> bool:
    """Return whether a choice has integers and doubles."""
    kinds = [one.type for one in field.type] if is_choice(field) else []
    return any(map(pa.types.is_integer, kinds)) and any(map(pa.types.is_floating, kinds))


def _marked(field: pa.Field) -> pa.Field:
    return field.with_metadata(FITS_DOUBLE)


def _without_mark(field: pa.Field) -> pa.Field:
    return field.remove_metadata() if field.metadata and _KEY in field.metadata else field


def _observed(field: pa.Field, column: pa.Array, *, keep_choices: bool) -> pa.Field:
    kind = field.type
    if pa.types.is_int64(kind):
        return _marked(field) if are_exact(column) else field
    if not pa.types.is_nested(kind) or not _holds_longs(kind):
        return field
    if pa.types.is_struct(kind):
        stays = keep_choices and holds_both(field)
        return _with_inner(field, [
            one if stays and pa.types.is_integer(one.type) else _observed(one, inner, keep_choices=keep_choices)
            for one, inner in zip(kind, column.flatten(), strict=True)
        ])  # fmt: skip
    if pa.types.is_map(kind):
        offsets = column.offsets
        first, last = offsets[0].as_py(), offsets[-1].as_py()
        values = column.items.slice(first, last - first)
        return _with_inner(field, [_observed(kind.item_field, values, keep_choices=keep_choices)])
    return _with_inner(field, [_observed(kind.value_field, column.flatten(), keep_choices=keep_choices)])


def _changed(field: pa.Field, change: Callable[[pa.Field], pa.Field], *, keep_choices: bool) -> pa.Field:
    kind = field.type
    if pa.types.is_int64(kind):
        return change(field)
    if not pa.types.is_nested(kind) or not _holds_longs(kind):
        return field
    if pa.types.is_struct(kind):
        stays = keep_choices and holds_both(field)
        return _with_inner(field, [
            one if stays and pa.types.is_integer(one.type) else _changed(one, change, keep_choices=keep_choices)
            for one in kind
        ])  # fmt: skip
    inner = kind.item_field if pa.types.is_map(kind) else kind.value_field
    return _with_inner(field, [_changed(inner, change, keep_choices=keep_choices)])


def _with_inner(field: pa.Field, inner: Sequence[pa.Field]) -> pa.Field:
    kind = field.type
    if pa.types.is_struct(kind):
        return field.with_type(pa.struct(inner))
    return field.with_type(pa.map_(kind.key_field, inner[0]) if pa.types.is_map(kind) else pa.list_(inner[0]))


def _holds_longs(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_holds_longs(one.type) for one in kind)
    if pa.types.is_map(kind):
        return _holds_longs(kind.item_type)
    return _holds_longs(kind.value_type) if pa.types.is_list(kind) else bool(pa.types.is_int64(kind))
