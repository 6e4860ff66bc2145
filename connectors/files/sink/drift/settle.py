"""Tasks of one batch do not see each other: what to do when they bring the same new column with different types.

The driver looks at what they found before any of it is published. If readers could not merge their files, the batch
runs again, with the columns settled beforehand. So it does if one task had only empty lists in a column, which a
file holds only if it knows the type of their elements, and another task has found the type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from gluepot.connectors.files.sink.clashes import new_names, paths_within
from gluepot.connectors.files.sink.drift.fitting import readers_merge
from gluepot.connectors.files.sink.drift.layout import PLAIN, Layout, TableColumn
from gluepot.frames.schema import loses_values, merge_fields
from gluepot.frames.schema.integers import unmarked_field


def settle(
    known: Layout, found: Sequence[Layout], keys: Sequence[str], untyped: Iterable[TableColumn] = ()
) -> Layout | None:
    """Return the columns that all tasks of a batch can work with; None if they agree as it is.

    Args:
        known: the columns before the batch.
        found: what each task added, in any order.
        keys: partition keys.
        untyped: columns as they were when a task left values out because their type was not known.
    """
    merged: dict[tuple[str, str], pa.Field] = {}
    for column in sorted((one for layout in found for one in layout.columns), key=lambda one: (one.place, one.name)):
        held = merged.get(column.place)
        merged[column.place] = column.field if held is None else merge_fields(held, column.field)
    merged = {place: unmarked_field(field) for place, field in merged.items()}
    settled = _named(merged, known, keys)
    agreed = {column.place: column for column in settled.columns}
    for layout in found:
        for column in layout.columns:
            one = agreed[column.place]
            if one.name != column.name or not readers_merge(one.field, column.field) or _renames(one, column):
                return settled
    if any(loses_values(one.field.type, agreed[one.place].field.type) for one in untyped if one.place in agreed):
        return settled
    return None


def _renames(agreed: TableColumn, column: TableColumn) -> bool:
    """Tell whether fields inside of a task's column have other names than the tasks together give them."""
    if not agreed.names:
        return False
    wanted, actual = dict(agreed.names), dict(column.names)
    return any(wanted.get(path, path[-1]) != actual.get(path, path[-1]) for path in paths_within(column.field.type))


def _named(fields: dict[tuple[str, str], pa.Field], known: Layout, keys: Sequence[str]) -> Layout:
    """Give each column the name it has, or a free one: those that have their field's own name choose first."""
    names = {column.place: column.name for column in known.columns}
    before = {column.place: column for column in known.columns}

    def named(field: pa.Field, place: tuple[str, str]) -> TableColumn:
        return before.get(place, TableColumn(field, *place)).grown(field)

    plain = [origin for origin, kind in fields if kind == PLAIN and (origin, kind) not in names]
    for origin, name in zip(plain, new_names(plain, [*known.names, *keys]), strict=True):
        names[origin, PLAIN] = name
    layout = known.with_columns(
        *(named(fields[place].with_name(names[place]), place) for place in fields if place in names)
    )
    for (origin, kind), field in fields.items():
        if (origin, kind) not in names:
            wanted = f"{origin}_{kind}"  # "_rescued" for what has no origin
            name = layout.free_name(wanted, [*keys, *(one for one, _ in fields)])
            layout = layout.with_columns(named(field.with_name(name), (origin, kind)))
    return Layout(tuple(column for column in layout.columns if column.place in fields))
