"""The merge of schemas: the smallest schema that can hold what either holds.

Idempotent and associative; commutative but for the order of fields, where the first seen wins. Rules, in order:
null gives way to anything; structs merge field by field, lists element by element, maps value by value; numbers widen;
any other pair of types becomes a choice.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from gluepot.frames.chunk import CHOICE, is_choice
from gluepot.frames.schema.glue_types import short_name

_NUMBERS = frozenset({"byte", "short", "int", "long", "float", "double"})
# The order of alternatives in a choice, so that it does not depend on which came first.
_FAMILIES = ("boolean", "number", "decimal", "date", "timestamp", "string", "binary", "array", "map", "struct")
_MAX_DECIMAL128_DIGITS = 38
_UNITS = ("s", "ms", "us", "ns")


def merge_schemas(left: pa.Schema, right: pa.Schema) -> pa.Schema:
    """Return the schema that holds rows of both; fields of `left` first, names compared exactly."""
    if left.equals(right, check_metadata=True):
        return left.remove_metadata()
    return pa.schema(_merge_all(left, right))


def merge_fields(left: pa.Field, right: pa.Field) -> pa.Field:
    """Return the field, named as `left`, that holds values of both."""
    if pa.types.is_null(right.type):
        return left
    if pa.types.is_null(left.type):
        return right.with_name(left.name)
    if is_choice(left) or is_choice(right) or family(left.type) != family(right.type):
        return choice_field(left.name, [*alternatives(left), *alternatives(right)])
    return pa.field(left.name, _merge_types(left.type, right.type))


def choice_field(name: str, held: Iterable[pa.Field]) -> pa.Field:
    """Return a choice between the given fields' types; those of one family share an alternative."""
    by_family: dict[str, pa.Field] = {}
    for field in held:
        of = family(field.type)
        by_family[of] = merge_fields(by_family[of], field) if of in by_family else field
    ordered = [by_family[of] for of in _FAMILIES if of in by_family]
    return pa.field(name, pa.struct([field.with_name(short_name(field.type)) for field in ordered]), metadata=CHOICE)


def alternatives(field: pa.Field) -> list[pa.Field]:
    """Return the alternatives of a choice; for any other field the field itself."""
    return list(field.type) if is_choice(field) else [field]


def family(arrow_type: pa.DataType) -> str:
    """Return the name that types share which merge without a choice: `number` for all sizes of int and float."""
    name = short_name(arrow_type)
    return "number" if name in _NUMBERS else name


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


def _merge_types(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Merge two types of one family."""
    match family(left):
        case "struct":
            return pa.struct(_merge_all(left, right))
        case "array":
            return pa.list_(merge_fields(left.value_field, right.value_field).with_name("item"))
        case "map":
            keys = merge_fields(left.key_field, right.key_field).with_nullable(False)
            return pa.map_(keys, merge_fields(left.item_field, right.item_field))
        case "number":
            return _wider_number(left, right)
        case "decimal":
            return _wider_decimal(left, right)
        case "timestamp":
            return _finer_timestamp(left, right)
        case _:
            return left


def _wider_number(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Widen; an integer type with a floating one is double, since JSON writes 10.0 as 10 and both came as numbers.

    Integers beyond 2**53 lose digits by it. That is the price of one numeric column; an id never meets a fraction.
    """
    if pa.types.is_integer(left) != pa.types.is_integer(right):
        return pa.float64()
    return max(left, right, key=lambda number: number.bit_width)


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
