"""Columns as they were read, taken into the types a script declares for them.

A value that does not fit its type makes null the nearest field of a struct (or of the record) that it is part of: a
list with one such element is null as a whole, a list of structs keeps its structs. That is what Spark's `from_json`
does in its permissive mode.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gluepot.frames.cast import try_cast
from gluepot.frames.columns import (
    Column,
    children_of,
    items_of,
    map_values_of,
    struct_column,
    validity,
    with_items,
    with_map_values,
)
from gluepot.frames.time_zone import UTC, TimeZone

Mask = npt.NDArray[np.bool_]


def fitted(found: Column, declared: pa.Field, misfits: Counter[str], zone: TimeZone = UTC) -> Column:
    """Return the declared part of a struct column in its declared types, under the declared name.

    Args:
        found: a struct with at least the declared fields, each as text or in a type that `try_cast` takes to the
            declared one. Text for a binary field is base64.
        declared: a struct.
        misfits: gets how many fields became null because a value does not fit, by name.
        zone: the zone of times without one.
    """
    by_name = {child.field.name: child for child in children_of(found)}
    children = [_without(*_fit(by_name[child.name], child, misfits, zone), misfits) for child in declared.type]
    return struct_column(declared.name, children, len(found.array), validity(found.array))


def _fit(found: Column, declared: pa.Field, misfits: Counter[str], zone: TimeZone) -> tuple[Column, Mask | None]:
    """Return the column in its declared type, and which of its values do not fit; None for none."""
    kind = declared.type
    if pa.types.is_struct(kind):
        return fitted(found, declared, misfits, zone), None
    if pa.types.is_list(kind):
        items, wrong = _fit(items_of(found), kind.value_field, misfits, zone)
        return with_items(found, items).renamed(declared.name), _any_within(wrong, found.array.offsets)
    if pa.types.is_map(kind):
        values, wrong = _fit(map_values_of(found), kind.item_field, misfits, zone)
        return with_map_values(found, values).renamed(declared.name), _any_within(wrong, found.array.offsets)
    array = _cast(found.array, kind, zone)
    lost = array.null_count - found.array.null_count
    wrong = (array.is_null().to_numpy(False) & found.array.is_valid().to_numpy(False)) if lost else None
    return Column(pa.field(declared.name, kind), array), wrong


def _without(column: Column, wrong: Mask | None, misfits: Counter[str]) -> Column:
    if wrong is None or not wrong.any():
        return column
    misfits[column.field.name] += int(wrong.sum())
    return Column(column.field, column.array.take(pa.array(np.arange(len(wrong)), mask=wrong)))


def _any_within(wrong: Mask | None, offsets: pa.Array) -> Mask | None:
    """Tell of each list whether an element between its offsets is a misfit."""
    if wrong is None:
        return None
    before = np.concatenate([[0], np.cumsum(wrong)])
    bounds = offsets.to_numpy()
    within: Mask = before[bounds[1:]] > before[bounds[:-1]]
    return within


def _cast(array: pa.Array, kind: pa.DataType, zone: TimeZone) -> pa.Array:
    if pa.types.is_binary(kind) and pa.types.is_string(array.type):
        return pa.array([None if text is None else _from_base64(text) for text in array.to_pylist()], kind)
    return try_cast(array, kind, zone)


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
