"""The columns of a table, as its writes have made them one after the other."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import pyarrow as pa

from gluepot.connectors.files.sink.clashes import Path, names_within, new_names
from gluepot.frames.schema import is_storable, merge_fields, storable_field
from gluepot.frames.schema.integers import unmarked_field

# Metadata of fields, beside that of a choice.
_ORIGIN, _BESIDE, _NAMES = b"gluepot.origin", b"gluepot.beside", b"gluepot.names"
PLAIN = ""
RESCUED = "rescued"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column.

    Args:
        field: its name in the files, and the type of the values it takes in; a choice is stored as text, at any depth.
        origin: the records' field whose values it holds; empty for the column of rescued values.
        kind: `PLAIN` for the column that has the field's name as its own, otherwise what came beside it: Glue's name of
            a type, or `RESCUED`.
        names: what fields inside of it are called in the files, by path, where names differ by case only.
    """

    field: pa.Field
    origin: str
    kind: str = PLAIN
    names: tuple[tuple[Path, str], ...] = ()

    @property
    def name(self) -> str:
        """Its name in the files."""
        return str(self.field.name)

    def grown(self, field: pa.Field) -> TableColumn:
        """Return the column with a wider type; what it had keeps its names."""
        names = names_within(field.type, dict(self.names), self.field.type)
        return replace(self, field=field, names=tuple(sorted(names.items())))

    @property
    def place(self) -> tuple[str, str]:
        """What makes it this column, whatever it is called."""
        return self.origin, self.kind


@dataclass(frozen=True)
class Layout:
    """The columns of a table; no two names are equal when case is ignored."""

    columns: tuple[TableColumn, ...] = ()

    @cached_property
    def _by_origin(self) -> dict[str, list[TableColumn]]:
        found: dict[str, list[TableColumn]] = {}
        for column in self.columns:
            found.setdefault(column.origin, []).append(column)
        return found

    def of(self, origin: str) -> list[TableColumn]:
        """Return the columns that hold values of a field, the plain one first if there is one."""
        return self._by_origin.get(origin, [])

    def plain(self, origin: str) -> TableColumn | None:
        """Return the column that has a field's name."""
        return next((column for column in self.of(origin) if column.kind == PLAIN), None)

    @property
    def names(self) -> list[str]:
        """Names in the files."""
        return [column.name for column in self.columns]

    def renamed(self) -> dict[str, str]:
        """Return the columns, and the fields in them, that are not called as in the records, with their names there."""
        found = {one.name: one.origin for one in self.columns if one.origin and one.name != one.origin}
        for one in self.columns:
            found |= {".".join((one.name, *path[:-1], new)): path[-1] for path, new in one.names if new != path[-1]}
        return found

    def with_columns(self, *columns: TableColumn) -> Layout:
        """Return the layout with columns added, or put in the place of those of equal name."""
        by_name = {column.name: column for column in self.columns} | {column.name: column for column in columns}
        return Layout(tuple(by_name.values()))

    def storable(self) -> Layout:
        """Return the layout without what no file has: columns, or parts of them, that never had a value."""
        if all(is_storable(column.field.type) for column in self.columns):
            return self
        kept = [(column, storable_field(column.field)) for column in self.columns]
        return Layout(tuple(replace(column, field=one) for column, one in kept if one is not None))

    def beyond(self, known: Layout) -> Layout:
        """Return the columns that `known` does not have, or has with another type."""
        held = set(known.columns)
        return Layout(tuple(column for column in self.columns if column not in held))

    def free_name(self, wanted: str, taken: Collection[str]) -> str:
        """Return `wanted`, or with a number behind it if a column or one of `taken` is called so in any case."""
        (name,) = new_names([wanted], [*self.names, *taken])
        return name

    def to_bytes(self) -> bytes:
        """Return an Arrow schema (IPC bytes) with origin and kind in its fields' metadata."""
        return bytes(pa.schema([_with_notes(column) for column in self.columns]).serialize())

    def to_history(self) -> tuple[bytes, ...]:
        """Return the form that manifests keep: nothing where there is no column."""
        return (self.to_bytes(),) if self.columns else ()

    @classmethod
    def from_bytes(cls, data: bytes) -> Layout:
        """Read the schema back; a field without notes is a plain column, as in the schema of any manifest."""
        return cls(tuple(map(_noted, pa.ipc.read_schema(pa.py_buffer(data)))))

    @classmethod
    def folded(cls, history: Iterable[bytes]) -> Layout:
        """Return what writes that recorded these layouts, oldest first, have made of a table.

        Each batch asks for the history of the batch before and what that one has added. So the results for the last
        few histories are kept, and a longer history goes on from the longest of them that it begins with.
        """
        whole = tuple(history)
        known: tuple[bytes, ...] = ()
        layout = cls()
        for kept, fold in list(_folded.items()):
            if len(kept) > len(known) and whole[: len(kept)] == kept:
                known, layout = kept, fold
        if len(known) < len(whole):
            layout = layout.followed_by(map(cls.from_bytes, dict.fromkeys(whole[len(known) :])))
            _folded.pop(known, None)
            _folded[whole] = layout
            for oldest in list(_folded)[:-_FOLDS_KEPT]:
                _folded.pop(oldest, None)
        return layout

    def followed_by(self, later: Iterable[Layout]) -> Layout:
        """Return the layout with the columns of later writes, whose types it widens to hold both.

        Marks at integers, which a write's tasks settle their columns by, are left out.
        """
        by_name = {column.name: column for column in self.columns}
        for column in chain.from_iterable(layout.columns for layout in later):
            held = by_name.get(column.name)
            grown = column.field if held is None else merge_fields(held.field, column.field)
            names = {**dict(held.names if held else ()), **dict(column.names)}
            by_name[column.name] = replace(
                held or column, field=unmarked_field(grown), names=tuple(sorted(names.items()))
            )
        return Layout(tuple(by_name.values()))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the columns as one schema: thousands of them travel to each task, and Arrow's fields pickle slowly."""
        return Layout.from_bytes, (self.to_bytes(),)


# Histories, as bytes that writes recorded, with their folds. A process writes to few tables at a time.
_FOLDS_KEPT = 16
_folded: dict[tuple[bytes, ...], Layout] = {}


def _with_notes(column: TableColumn) -> pa.Field:
    notes = {_ORIGIN: column.origin.encode(), _BESIDE: column.kind.encode()}
    if column.names:
        notes[_NAMES] = json.dumps(column.names).encode()
    return column.field.with_metadata({**(column.field.metadata or {}), **notes})


def _noted(field: pa.Field) -> TableColumn:
    notes = dict(field.metadata or {})
    origin = notes.pop(_ORIGIN, field.name.encode()).decode()
    kind = notes.pop(_BESIDE, b"").decode()
    names = tuple((tuple(path), name) for path, name in json.loads(notes.pop(_NAMES, b"[]")))
    return TableColumn(field.with_metadata(notes or None), origin, kind, names)
