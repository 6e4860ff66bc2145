"""The rule that a value counts only if it has the type its mapping declares (docs/glue 6.3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.masks import keep
from gluepot.frames.chunk import CHOICE, is_choice
from gluepot.frames.columns import Column, children_of, struct_column
from gluepot.frames.schema.glue_types import short_name

_INTEGERS = frozenset({"byte", "short", "int", "long"})
_FLOATS = frozenset({"float", "double"})


def of_declared_type(column: Column, declared: str) -> Column:
    """Return the values that have the declared type, null for the others; of a choice the alternatives that have it.

    Sizes do not count: JSON has numbers, not ints and longs, so `int` takes what was read as long. Nor does it tell 10
    from 10.0: `double` takes integers, and an integer type takes the whole values of a column that had to become double
    because other records have a fraction.

    Args:
        column: any values.
        declared: canonical name of a type.
    """
    if is_choice(column.field):
        sides = [of_declared_type(one, declared) for one in children_of(column)]
        matches = [one for one in sides if not pa.types.is_null(one.field.type)]
        return _together(column.field, matches) if len(matches) > 1 else (matches or sides)[0]
    actual, wanted = short_name(column.field.type), declared.partition("(")[0]
    if wanted in _INTEGERS and actual in _FLOATS:
        whole = keep(column.array, pc.equal(pc.trunc(column.array), column.array))
        return Column(column.field, whole)
    same = (
        actual == wanted
        or (wanted in _INTEGERS and actual in _INTEGERS)
        or (wanted in _FLOATS and actual in _INTEGERS | _FLOATS)
    )
    return column if same else Column(pa.field(column.field.name, pa.null()), pa.nulls(len(column.array)))


def _together(choice: pa.Field, sides: Sequence[Column]) -> Column:
    """Return integers and doubles, each as it was read; a choice of them, so that a cast sees the original values."""
    valid = reduce(pc.or_, (pc.is_valid(side.array) for side in sides))
    array = struct_column("", sides, len(valid), valid).array
    return Column(pa.field(choice.name, array.type, metadata=CHOICE), array)
