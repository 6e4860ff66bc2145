"""Converts a choice to one type, to one column per type, or to a struct of all types (docs/glue 6.4)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast import try_cast
from gluepot.frames.chunk import is_choice
from gluepot.frames.columns import Column, children_of
from gluepot.frames.schema.glue_types import NESTED_NAMES, arrow_type
from gluepot.frames.time_zone import UTC, TimeZone
from gluepot.frames.transforms.source_types import of_declared_type


def cast(column: Column, target: pa.DataType, zone: TimeZone = UTC) -> Column:
    """Return every value cast to `target`, from any type; null if the cast is impossible."""
    # A value has one alternative, so at most one of the casts gives a value.
    sides = children_of(column) if is_choice(column.field) else [column]
    values = pc.coalesce(*(try_cast(side.array, target, zone) for side in sides))
    return Column(pa.field(column.field.name, target), values)


def lost_values(before: Column, after: Column) -> int:
    """Return how many values became null. A blank text does not count: where nothing stands, null says the same.

    Args:
        before: any values.
        after: what a cast or a selection by type made of them.
    """
    lost: int = after.array.null_count - before.array.null_count
    if lost <= 0:
        return 0
    sides = children_of(before) if is_choice(before.field) else [before]
    is_null = after.array.is_null()
    for text in (side.array for side in sides if pa.types.is_string(side.field.type)):
        lost -= _blanks(text.filter(pc.and_(is_null, text.is_valid())))
    return max(0, lost)


def _blanks(texts: pa.StringArray) -> int:
    """Return how many texts are empty or white space. Nearly all blank texts are empty, which their lengths show."""
    others = texts.filter(pc.greater(pc.binary_length(texts), 0))
    blank: int = pc.sum(pc.equal(pc.utf8_trim_whitespace(others), "")).as_py() or 0
    return len(texts) - len(others) + blank


def project(column: Column, type_name: str, zone: TimeZone = UTC) -> Column:
    """Return the values that have the type, null for the others.

    Sizes of numbers do not count, see `of_declared_type`; the column gets the size that is named.

    Args:
        column: a choice.
        type_name: canonical.
        zone: the zone of timestamps whose type has none.
    """
    name, kept = column.field.name, of_declared_type(column, type_name)
    return kept.renamed(name) if type_name in NESTED_NAMES else cast(kept.renamed(name), arrow_type(type_name), zone)


def separate(column: Column) -> list[Column]:
    """Return a column for each alternative of a choice, named `<name>_<type>`, null where another type was present."""
    return [side.renamed(f"{column.field.name}_{side.field.name}") for side in children_of(column)]


def as_struct(column: Column) -> Column:
    """Return the choice as a struct of the user's, with one field per alternative."""
    return Column(column.field.remove_metadata(), column.array)
