"""Schemas of files: how similar two are, what holds both, and their columns in the catalog (docs/glue 11.6). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import is_choice
from gluepot.frames.schema import merge_known
from gluepot.frames.schema.hive_types import arrow_of_hive, hive_name
from gluepot.frames.schema.merge import family

THRESHOLD = 0.7
"""From this similarity on, schemas belong to one table; AWS's knowledge centre names 70 %."""

# The Data Catalog's limit of a name.
_LONGEST_NAME = 255
_INT32 = range(-(2**31), 2**31)
# A struct of thousands of fields is a file that uses values as keys.
_LONGEST_TYPE = 131_072


def similarity(left: pa.Schema, right: pa.Schema) -> float:
    """Return the share of fields that two schemas have in common: same name in any case, and types that fit.

    AWS gives no formula. This is the number of common fields over the number of all fields; schemas without fields are
    alike.
    """
    ours, theirs = _by_name(left), _by_name(right)
    names = ours.keys() | theirs.keys()
    if not names:
        return 1.0
    return sum(_fit(ours[name], theirs[name]) for name in ours.keys() & theirs.keys()) / len(names)


def merged(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """Return the schema that holds rows of all; fields in the order first seen, names compared in any case."""
    held: pa.Schema | None = None
    for one in schemas:
        if held is None:
            held = one
        elif one is not held and not one.equals(held):
            spelled = {name: field.name for name, field in _by_name(held).items()}
            held = merge_known(held, pa.schema([_respelled(field, spelled) for field in one]))
    return pa.schema([]) if held is None else held


def catalog_columns(schema: pa.Schema, *, by_place: bool, keys: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return `Columns` of the API.

    Names are in lower case. Where columns are found by their place in a line, two of one name get different ones, and
    so does one that has the name of a partition key; elsewhere they are one column, and the key wins.

    Args:
        schema: of the files.
        by_place: as CSV finds its columns.
        keys: names of the partition keys.
    """
    found: dict[str, pa.Field] = {}
    for field in schema:
        name = field.name.strip().lower()[:_LONGEST_NAME] or "col"
        if by_place:
            found[free_name(name, {*found, *keys})] = field
        elif name not in keys:
            twin = found.get(name)
            both = field if twin is None else next(iter(merged([pa.schema([twin]), pa.schema([field])])))
            found[name] = both
    return [{"Name": name, "Type": hive_type(field)} for name, field in found.items()]


def hive_type(field: pa.Field) -> str:
    """Return Hive's name of a field's type; `string` for what has none, or none that can be read again."""
    try:
        name = hive_name(field)
        arrow_of_hive(name)
    except ConfigError:
        return "string"
    nested = pa.types.is_nested(field.type) and not is_choice(field)
    return "string" if nested and (len(name) > _LONGEST_TYPE or not _reads_again(field.type, name)) else name


def narrowed(batch: pa.RecordBatch) -> pa.Schema:
    """Return a schema in which integers that all fit are of 32 bits, as Glue names them in JSON."""
    return pa.schema(
        [_narrow(field, column) for field, column in zip(batch.schema, batch.columns, strict=True)],
    )


def _narrow(field: pa.Field, array: pa.Array) -> pa.Field:
    kind = field.type
    if pa.types.is_int64(kind):
        ends = pc.min_max(array).as_py()
        fits = ends["min"] is not None and ends["min"] in _INT32 and ends["max"] in _INT32
        return field.with_type(pa.int32()) if fits else field
    if pa.types.is_struct(kind):
        inner = [_narrow(kind.field(at), array.field(at)) for at in range(kind.num_fields)]
        return field.with_type(pa.struct(inner))
    if pa.types.is_list(kind):
        return field.with_type(pa.list_(_narrow(kind.value_field, array.flatten())))
    return field


def _by_name(schema: pa.Schema) -> Mapping[str, pa.Field]:
    return {field.name.lower(): field for field in schema}


def _fit(left: pa.Field, right: pa.Field) -> bool:
    if pa.types.is_null(left.type) or pa.types.is_null(right.type) or left.type == right.type:
        return True
    try:
        return family(left.type) == family(right.type)
    except ConfigError:
        return False


def _respelled(field: pa.Field, spelled: Mapping[str, str]) -> pa.Field:
    name = spelled.get(field.name.lower(), field.name)
    return field if name == field.name else field.with_name(name)


def free_name(name: str, taken: set[str]) -> str:
    """Return a name that no other column has, in any case: itself, or itself with a number.

    Args:
        name: of a column.
        taken: names in lower case.
    """
    number, free = 1, name
    while free.lower() in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _reads_again(kind: pa.DataType, name: str) -> bool:
    """Tell whether a type has the fields that its name says: names of fields may look like parts of a type."""
    return _shape(arrow_of_hive(name)) == _shape(kind)


def _shape(kind: pa.DataType) -> object:
    if pa.types.is_struct(kind):
        return [(field.name.strip(), "" if is_choice(field) else _shape(field.type)) for field in kind]
    if pa.types.is_list(kind):
        return [_shape(kind.value_type)]
    if pa.types.is_map(kind):
        return [_shape(kind.key_type), _shape(kind.item_type)]
    return ""
