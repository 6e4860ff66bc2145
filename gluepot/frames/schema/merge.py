"""The merge of schemas: the smallest schema that can hold what either holds.

Idempotent and associative; commutative but for the order of fields, where the first seen wins. Rules, in order:
null gives way to anything; structs merge field by field, lists element by element, maps value by value; integers widen,
and so do floats; integers that all fit a double become double where they meet floats (docs/decisions/0063); any other
pair of types becomes a choice.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import pyarrow as pa

from gluepot.frames.chunk import CHOICE, is_choice
from gluepot.frames.schema.glue_types import short_name
from gluepot.frames.schema.integers import FITS_DOUBLE, assumed, fits_double, observed, unmarked

INTEGER, FLOATING = "integer", "floating"
_INTEGERS = frozenset({"byte", "short", "int", "long"})
_FLOATS = frozenset({"float", "double"})
# The order of alternatives in a choice, so that it does not depend on which came first.
_SLOTS = ("boolean", INTEGER, FLOATING, "decimal", "date", "timestamp", "string", "binary", "array", "map", "struct")
_MAX_DECIMAL128_DIGITS = 38
_UNITS = ("s", "ms", "us", "ns")


def merge_schemas(left: pa.Schema, right: pa.Schema) -> pa.Schema:
    """Return the schema that holds rows of both; fields of `left` first, names compared exactly."""
    if left.equals(right, check_metadata=True):
        return left.remove_metadata()
    return pa.schema(_merge_all(left, right))


def merge_known(left: pa.Schema, right: pa.Schema) -> pa.Schema:
    """Return the merge of two schemas that say how to read later values, where integers and floats are double.

    A choice between integers and floats stays a choice.
    """
    return unmarked(merge_schemas(assumed(left), assumed(right)))


def grown(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> pa.Schema:
    """Return a schema that says how to read later values, with the columns and types of further rows.

    It holds the rows exactly: integers become double only if a double holds each of them. The schema itself has no
    values, so a column of integers may become double whatever was read with it before.
    """
    seen = (observed(batch, keep_choices=True) for batch in batches)
    return unmarked(reduce(merge_schemas, seen, assumed(schema)))


def merge_fields(left: pa.Field, right: pa.Field) -> pa.Field:
    """Return the field, named as `left`, that holds values of both."""
    if pa.types.is_null(right.type):
        return left
    if pa.types.is_null(left.type):
        return right.with_name(left.name)
    if is_choice(left) or is_choice(right) or slot(left.type) != slot(right.type):
        return choice_field(left.name, [*alternatives(left), *alternatives(right)])
    return _widened(left, right)


def choice_field(name: str, held: Iterable[pa.Field]) -> pa.Field:
    """Return a choice between the given fields' types, or a plain field where one type holds all of them.

    Types of one slot share an alternative, and so do floats and integers that all fit a double.
    """
    by_slot: dict[str, pa.Field] = {}
    for field in held:
        of = slot(field.type)
        by_slot[of] = _widened(by_slot[of], field) if of in by_slot else field
    if INTEGER in by_slot and FLOATING in by_slot:
        by_slot[FLOATING] = pa.field("", pa.float64())
        if fits_double(by_slot[INTEGER]):
            del by_slot[INTEGER]
    ordered = [by_slot[of] for of in _SLOTS if of in by_slot]
    if len(ordered) == 1:
        return ordered[0].with_name(name)
    return pa.field(name, pa.struct([field.with_name(short_name(field.type)) for field in ordered]), metadata=CHOICE)


def alternatives(field: pa.Field) -> list[pa.Field]:
    """Return the alternatives of a choice; for any other field the field itself."""
    return list(field.type) if is_choice(field) else [field]


def family(arrow_type: pa.DataType) -> str:
    """Return the name that related types share: `number` for all sizes of int and float."""
    name = slot(arrow_type)
    return "number" if name in {INTEGER, FLOATING} else name


def slot(arrow_type: pa.DataType) -> str:
    """Return the name that types share which have one alternative in a choice: a family, but ints and floats differ."""
    name = short_name(arrow_type)
    return INTEGER if name in _INTEGERS else FLOATING if name in _FLOATS else name


def _merge_all(left: Iterable[pa.Field], right: Iterable[pa.Field]) -> list[pa.Field]:
    merged = {field.name: field for field in left}
    for field in right:
        name = field.name
        held = merged.get(name)
        if held is None:
            merged[name] = field
        elif pa.types.is_nested(field.type) or not held.equals(field, check_metadata=True):
            merged[name] = merge_fields(held, field)
    return list(merged.values())


def _widened(left: pa.Field, right: pa.Field) -> pa.Field:
    """Merge two fields of one slot."""
    kind = _merge_types(left.type, right.type)
    is_marked = pa.types.is_int64(kind) and fits_double(left) and fits_double(right)
    return pa.field(left.name, kind, metadata=FITS_DOUBLE if is_marked else None)


def _merge_types(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Merge two types of one slot."""
    match slot(left):
        case "struct":
            return pa.struct(_merge_all(left, right))
        case "array":
            return pa.list_(merge_fields(left.value_field, right.value_field).with_name("item"))
        case "map":
            keys = merge_fields(left.key_field, right.key_field).with_nullable(False)
            return pa.map_(keys, merge_fields(left.item_field, right.item_field))
        case "integer" | "floating":
            return max(left, right, key=lambda number: number.bit_width)
        case "decimal":
            return _wider_decimal(left, right)
        case "timestamp":
            return _finer_timestamp(left, right)
        case _:
            return left


def _wider_decimal(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Keep the digits of both, before the point and after it; past 38 in Arrow's 256 bits."""
    scale = max(left.scale, right.scale)
    precision = scale + max(left.precision - left.scale, right.precision - right.scale)
    return pa.decimal128(precision, scale) if precision <= _MAX_DECIMAL128_DIGITS else pa.decimal256(precision, scale)


def _finer_timestamp(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Take the finer unit; a zone wins over none, UTC over two different ones."""
    zones = {stamp.tz for stamp in (left, right) if stamp.tz}
    unit = max(left.unit, right.unit, key=_UNITS.index)
    return pa.timestamp(unit, tz=zones.pop() if len(zones) == 1 else ("UTC" if zones else None))
