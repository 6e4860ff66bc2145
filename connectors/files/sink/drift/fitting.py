"""Which values a column can take in so that files with and without them are read side by side."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast import try_cast
from gluepot.frames.chunk import is_choice
from gluepot.frames.columns import Column, batch_of, columns_of
from gluepot.frames.json_text import json_texts
from gluepot.frames.schema import align, choice_to_string, loses_values, merge_fields
from gluepot.frames.schema.integers import observed_field, unmarked_field
from gluepot.frames.schema.merge import family
from gluepot.frames.time_zone import UTC, TimeZone

# Integers up to here have a double, a float of their own.
_EXACT_IN = {pa.float64(): 2**53, pa.float32(): 2**24}


def fitted(column: Column, known: pa.Field, *, loosely: bool = False) -> Column | None:
    """Return values in a type that readers merge with that of a column, under its name; None where there is none.

    The type may lack fields of structs that the column has, or have further ones.

    Args:
        column: no choice itself.
        known: of the table.
        loosely: whether numbers may be widened too, as they are within one batch.
    """
    if is_choice(known):
        return Column(pa.field(known.name, pa.string()), json_texts(column))
    have = observed_field(column.field, column.array) if loosely else column.field
    if not _agree(known, have, loosely=loosely):
        return None
    if loosely or _holds_choice(known) or loses_values(have.type, known.type):
        merged = unmarked_field(merge_fields(known, have))
        (column,) = columns_of(align(batch_of([column.renamed(known.name)], len(column.array)), pa.schema([merged])))
    return stored(column).renamed(known.name)


def stored(column: Column) -> Column:
    """Return the values as files hold them: choices within structs, lists and maps are text."""
    if not _holds_choice(column.field):
        return column
    (text,) = columns_of(choice_to_string(batch_of([column], len(column.array))))
    return text


def readers_merge(left: pa.Field, right: pa.Field) -> bool:
    """Tell whether files with the one and files with the other are read side by side, as one column."""
    return _agree(_stored_field(left), _stored_field(right), loosely=False)


def widened(array: pa.Array, target: pa.DataType, zone: TimeZone = UTC) -> tuple[pa.Array, pa.BooleanArray] | None:
    """Return values as a wider type and which of them are there exactly; None where the type is not wider.

    Wider are: long than int and the like; double and float than integers, double than float; a decimal of more
    digits behind the point; a time stamp than a date, which becomes its first instant in the zone.
    """
    have = array.type
    if not _is_wider(target, have):
        return None
    cast = try_cast(array, target, zone)
    if pa.types.is_integer(have) and target in _EXACT_IN:
        limit = _EXACT_IN[target]
        exact = pc.and_(pc.greater_equal(array, -limit), pc.less_equal(array, limit))
    else:
        exact = pc.is_valid(cast)
    return cast, pc.fill_null(exact, fill_value=False)


def _stored_field(field: pa.Field) -> pa.Field:
    (as_stored,) = choice_to_string(pa.RecordBatch.from_pylist([], schema=pa.schema([field]))).schema
    return as_stored


def _is_wider(target: pa.DataType, have: pa.DataType) -> bool:
    match family(have), family(target):
        case "number", "number":
            if pa.types.is_integer(have) and pa.types.is_integer(target):
                return bool(have.bit_width < target.bit_width)
            wider = pa.types.is_integer(have) or have.bit_width < target.bit_width
            return bool(pa.types.is_floating(target) and wider)
        case "decimal", "decimal":
            return bool(target.scale > have.scale)
        case "date", "timestamp":
            return True
        case _:
            return False


def _agree(known: pa.Field, have: pa.Field, *, loosely: bool) -> bool:
    if is_choice(known) or pa.types.is_null(have.type) or pa.types.is_null(known.type):
        return True
    if is_choice(have):
        return bool(pa.types.is_string(known.type))
    left, right = known.type, have.type
    if family(left) != family(right):
        return False
    match family(left):
        case "struct":
            held = {child.name: child for child in left}
            return all(_agree(held[child.name], child, loosely=loosely) for child in right if child.name in held)
        case "array":
            return _agree(left.value_field, right.value_field, loosely=loosely)
        case "map":
            same_keys = _same(left.key_type, right.key_type)
            return same_keys and _agree(left.item_field, right.item_field, loosely=loosely)
        case _:
            return _same(left, right) or (loosely and merge_fields(known, have).type == left)


def _same(left: pa.DataType, right: pa.DataType) -> bool:
    """Tell whether two scalar types of one family are one type in a Parquet file, or merge without another reading."""
    if pa.types.is_timestamp(left):
        return (left.tz is None) == (right.tz is None)  # all are written in microseconds
    if pa.types.is_decimal(left):
        return bool(left.scale == right.scale)
    return bool(left == right)


def _holds_choice(field: pa.Field) -> bool:
    if is_choice(field):
        return True
    kind = field.type
    if pa.types.is_struct(kind):
        return any(map(_holds_choice, kind))
    if pa.types.is_map(kind):
        return _holds_choice(kind.item_field)
    return bool(pa.types.is_list(kind)) and _holds_choice(kind.value_field)
