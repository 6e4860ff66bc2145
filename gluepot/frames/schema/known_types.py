"""Types for values that have none, such as empty lists, from what is known of their table. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from gluepot.frames.chunk import is_choice
from gluepot.frames.schema.storable import is_storable


def has_untyped(fields: Iterable[pa.Field]) -> bool:
    """Tell whether a column may have values without a type: `[]`, `[null]` or structs without values."""
    return any(pa.types.is_nested(field.type) and not is_storable(field.type) for field in fields)


def typed_by(field: pa.Field, known: pa.DataType) -> pa.Field:
    """Return a field with the types of `known` where its values have none. Types that it has stay.

    Args:
        field: of a column, whose nulls need no type.
        known: the type of the column in its table.
    """
    return field if pa.types.is_null(field.type) else _filled(field, known)


def _filled(field: pa.Field, known: pa.DataType) -> pa.Field:
    kind = field.type
    if is_choice(field) or is_storable(kind):
        return field
    if pa.types.is_null(kind):
        return field.with_type(known)
    if pa.types.is_struct(kind) and pa.types.is_struct(known):
        return field.with_type(_filled_struct(kind, known))
    if pa.types.is_list(kind) and pa.types.is_list(known):
        return field.with_type(pa.list_(_filled(kind.value_field, known.value_type)))
    if pa.types.is_map(kind) and pa.types.is_map(known):
        return field.with_type(pa.map_(kind.key_field, _filled(kind.item_field, known.item_type)))
    return field


def _filled_struct(kind: pa.StructType, known: pa.StructType) -> pa.StructType:
    types = {one.name: one.type for one in known}
    names = {one.name.casefold(): one.name for one in known}
    children = []
    for child in kind:
        name = child.name if child.name in types else names.get(child.name.casefold())
        children.append(child if name is None else _filled(child, types[name]))
    if not any(is_storable(child.type) for child in children):
        held = {child.name.casefold() for child in children}
        children += [one for one in known if one.name.casefold() not in held]
    return pa.struct(children)
