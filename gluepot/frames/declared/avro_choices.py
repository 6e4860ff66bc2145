"""Values of unions of several types, put to where a choice has their type. Pure.

A choice is a struct with a member for each type, one of which has a value. fastavro says nothing of the branch that a
value was written with, but its Python type does. Records are told from maps by `return_record_name`, with which
fastavro returns a record of a union as its name and its fields.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from gluepot.frames.chunk import is_choice
from gluepot.frames.schema.merge import FLOATING, INTEGER, alternatives, slot

Place = Callable[[Any], Any]

_SLOTS: Final[dict[type, str]] = {
    bool: "boolean",
    int: INTEGER,
    float: FLOATING,
    Decimal: "decimal",
    date: "date",
    datetime: "timestamp",
    str: "string",
    bytes: "binary",
    list: "array",
    dict: "map",
    tuple: "struct",
}


def holds_choices(kind: pa.DataType) -> bool:
    """Tell whether there is a choice in a type, at any depth."""
    return any(is_choice(one) or holds_choices(one.type) for one in _inner(kind))


def placing(field: pa.Field) -> Place | None:
    """Return what makes of a value, as fastavro reads it, one that Arrow takes for a field; None for the value itself.

    Args:
        field: made of the schema that the values are read with.
    """
    if is_choice(field):
        return _nullable(_choice(field))
    kind = field.type
    if pa.types.is_struct(kind):
        return _nullable(_struct(kind))
    if pa.types.is_floating(kind):
        return _nullable(float)  # a union with int may have integers
    if pa.types.is_list(kind):
        return _of_list(placing(kind.value_field))
    return _of_map(placing(kind.item_field)) if pa.types.is_map(kind) else None


def field_of_two_kinds(left: pa.DataType, right: pa.DataType) -> str | None:
    """Return the name of a field that is a map in one record and a record in the other; None if there is no such field.

    fastavro reads both as dictionaries, so the values of a union of two such records cannot be told apart.
    """
    fields = {field.name: field for field in left}
    for field in right:
        if field.name in fields and _are_two_kinds(fields[field.name], field):
            return str(field.name)
    return None


def _are_two_kinds(left: pa.Field, right: pa.Field) -> bool:
    lefts, rights = ({slot(one.type): one.type for one in alternatives(field)} for field in (left, right))
    if ("map" in lefts and "struct" in rights) or ("struct" in lefts and "map" in rights):
        return True
    if "struct" in lefts and "struct" in rights and field_of_two_kinds(lefts["struct"], rights["struct"]):
        return True
    if (
        "array" in lefts
        and "array" in rights
        and _are_two_kinds(lefts["array"].value_field, rights["array"].value_field)
    ):
        return True
    return "map" in lefts and "map" in rights and _are_two_kinds(lefts["map"].item_field, rights["map"].item_field)


def _choice(field: pa.Field) -> Place:
    members = {slot(one.type): (one.name, placing(one)) for one in alternatives(field)}
    if INTEGER not in members and FLOATING in members:
        members[INTEGER] = members[FLOATING]  # of a union with int
    # A record that is not in a union of its own has no name with it: the choice comes of two records with such a field.
    members.setdefault("map", members.get("struct", ("", None)))

    def place(value: Any) -> Any:
        name, inside = members[_SLOTS[type(value)]]
        return {name: value if inside is None else inside(value)}

    return place


def _struct(kind: pa.DataType) -> Place:
    changed = [(one.name, inside) for one in kind if (inside := placing(one)) is not None]

    def place(value: Any) -> Any:
        record = value[1] if type(value) is tuple else value
        return record | {name: inside(record.get(name)) for name, inside in changed} if changed else record

    return place


def _of_list(inside: Place | None) -> Place | None:
    return None if inside is None else _nullable(lambda values: list(map(inside, values)))


def _of_map(inside: Place | None) -> Place | None:
    if inside is None:
        return None
    return _nullable(lambda entries: {key: inside(value) for key, value in entries.items()})


def _nullable(place: Place) -> Place:
    return lambda value: None if value is None else place(value)


def _inner(kind: pa.DataType) -> list[pa.Field]:
    if pa.types.is_struct(kind):
        return list(kind)
    if pa.types.is_map(kind):
        return [kind.item_field]
    return [kind.value_field] if pa.types.is_list(kind) else []
