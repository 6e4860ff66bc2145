"""Rows into the columns of their table: what each task does with what it has read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.files.sink.clashes import new_names, renamed_within
from gluepot.connectors.files.sink.drift.fitting import fitted, stored, widened
from gluepot.connectors.files.sink.drift.layout import PLAIN, RESCUED, Layout, TableColumn
from gluepot.connectors.files.sink.drift.policy import Drift, DriftPolicy
from gluepot.frames.cast.masks import keep
from gluepot.frames.chunk import is_choice
from gluepot.frames.columns import Column, batch_of, children_of, columns_of
from gluepot.frames.json_text import json_bytes, json_texts
from gluepot.frames.rows import plain_values
from gluepot.frames.schema import (
    align,
    glue_name,
    is_storable,
    merge_fields,
    merge_schemas,
    storable_field,
    untyped_values,
)
from gluepot.frames.schema.glue_types import short_name
from gluepot.frames.schema.integers import all_fit, marked, observed_field, unmarked_field
from gluepot.frames.time_zone import UTC, TimeZone

RESCUED_NAME = "_rescued"


@dataclass(frozen=True, slots=True)
class Refused:
    """Rows that go to the rejected records.

    Args:
        rows: as they came.
        indices: of these rows among all, ascending.
        message: one sentence for a person.
    """

    rows: pa.RecordBatch
    indices: npt.NDArray[np.int64]
    message: str


@dataclass(slots=True)
class _Outcome:
    """What becomes of one batch: values by the column they go to, what is rescued, and which rows are refused."""

    columns: dict[str, list[Column]] = field(default_factory=dict)
    rescued: list[Column] = field(default_factory=list)
    refused: list[tuple[pa.BooleanArray, str]] = field(default_factory=list)


class Resolver:
    """One task's view of the table's columns; it grows with what the task brings.

    Args:
        policy: for values whose type their column does not have.
        known: the columns that earlier writes have made.
        fresh: columns that this batch brings, where its tasks would not have agreed about them: within a batch numbers
            widen and other disagreements become text, as in one task.
        keys: partition keys, which become folders; no column may have their names.
        zone: the zone of days that become timestamps.
    """

    def __init__(
        self, policy: DriftPolicy, known: Layout, fresh: Layout, keys: Sequence[str], zone: TimeZone = UTC
    ) -> None:
        self._policy = policy
        self._zone = zone
        known = known.storable()  # older versions also recorded parts of columns that no file has
        self._known = known
        self._fresh = frozenset(column.place for column in fresh.columns)
        self._keys = tuple(keys)
        self._known_names = frozenset(known.names)
        self._layout = known.with_columns(*fresh.columns)
        self._unchanged: pa.Schema | None = None
        # The columns that this batch brings, and whether a double holds all integers in them so far.
        self._new_fit: dict[str, bool] = {}
        self._untyped: dict[TableColumn, int] = {}

    @property
    def found(self) -> Layout:
        """The columns this batch adds to the table, or gives further fields.

        Integers of a new column have the marks of `gluepot.frames.schema.observed`, for `settle`.
        """
        found = self._layout.beyond(self._known)
        fit = [one for one in found.columns if self._new_fit.get(one.name)]
        return found.with_columns(*(replace(one, field=marked(one.field)) for one in fit))

    @property
    def untyped(self) -> Layout:
        """Columns as they were when values of theirs had no type yet, such as lists that are all empty, for `settle`.

        The same column may be there in several types.
        """
        return Layout(tuple(self._untyped))

    @property
    def untyped_values(self) -> Counter[str]:
        """How many values are in no file because they have no type, by the field of the records."""
        counts = Counter[str]()
        for column, values in self._untyped.items():
            counts[column.origin] += values
        return +counts

    def resolve(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Sequence[Refused]]:
        """Return the rows in the table's columns, and those that are refused; partition keys stay as they are."""
        if self._unchanged is not None and batch.schema.equals(self._unchanged, check_metadata=True):
            self._observe(batch)
            return batch, ()
        columns = [column for column in columns_of(batch) if column.field.name not in self._keys]
        self._add_new(columns)
        outcome, present = _Outcome(), batch.schema.names
        for column in columns:
            if (plain := self._layout.plain(column.field.name)) is not None:
                self._place(column, plain, outcome, present)
            else:
                self._note_untyped(column, TableColumn(column.field, column.field.name))
        self._rescue(outcome, batch)
        keys = [column for column in columns_of(batch) if column.field.name in self._keys]
        rows = batch_of([*(_one(pieces) for pieces in outcome.columns.values()), *keys], batch.num_rows)
        self._observe(rows)
        if not outcome.refused:
            if rows.schema.equals(batch.schema, check_metadata=True):
                self._unchanged = batch.schema
            return rows, ()
        return _parted(batch, rows, outcome.refused)

    def _observe(self, rows: pa.RecordBatch) -> None:
        """Note whether a double holds the integers of new columns."""
        for column in columns_of(rows):
            name = column.field.name
            if name not in self._known_names and self._new_fit.get(name, True):
                self._new_fit[name] = all_fit(column.field, column.array)

    def _note_untyped(self, stored_values: Column, column: TableColumn) -> None:
        """Note values that the files will not have because their type is not known."""
        kind = stored_values.field.type
        if pa.types.is_nested(kind) and not is_storable(kind):
            noted = replace(column, field=stored_values.field.with_name(column.name))
            self._untyped[noted] = self._untyped.get(noted, 0) + untyped_values(stored_values)

    def _add_new(self, columns: Iterable[Column]) -> None:
        new_fields = [one.field for one in columns if self._layout.plain(one.field.name) is None]
        fields = [one for one in map(storable_field, new_fields) if one is not None]
        names = new_names([one.name for one in fields], [*self._layout.names, *self._keys])
        new = [
            TableColumn(one.with_name(name), one.name).grown(one.with_name(name))
            for one, name in zip(fields, names, strict=True)
        ]
        self._layout = self._layout.with_columns(*new)

    def _place(self, column: Column, plain: TableColumn, outcome: _Outcome, present: Sequence[str]) -> None:
        """Find a place for every value of a field."""
        whole = not is_choice(column.field) or is_choice(plain.field)
        for piece in [column] if whole else children_of(column):
            if self._put(piece, plain, outcome) or piece.array.null_count == len(piece.array):
                continue
            self._divert(piece.renamed(column.field.name), plain, outcome, present)

    def _put(self, piece: Column, target: TableColumn, outcome: _Outcome) -> bool:
        """Put values into a column if it can take them in, and note down the fields its structs have gained."""
        if target.field.equals(piece.field, check_metadata=True) and not pa.types.is_nested(piece.field.type):
            outcome.columns.setdefault(target.name, []).append(piece)
            return True
        loosely = target.place in self._fresh and pa.types.is_nested(piece.field.type)
        found = fitted(piece, target.field, loosely=loosely)
        if found is None:
            return False
        self._note_untyped(found, target)
        if not is_choice(target.field):
            have = observed_field(piece.field, piece.array) if loosely else piece.field
            grown = storable_field(unmarked_field(merge_fields(target.field, have)))
            if grown is not None and grown != target.field:
                target = target.grown(grown)
                self._layout = self._layout.with_columns(target)
        outcome.columns.setdefault(target.name, []).append(_named(found, target))
        return True

    def _divert(self, piece: Column, plain: TableColumn, outcome: _Outcome, present: Sequence[str]) -> None:
        policy = self._policy.of(plain.origin)
        if policy is Drift.WIDEN or plain.place in self._fresh:
            piece = _widen(piece, plain, outcome, self._zone)
            if piece.array.null_count == len(piece.array):
                return
        match policy:
            case Drift.WIDEN | Drift.COLUMNS:
                self._beside(piece, plain, outcome, present)
            case Drift.STRING:
                text = Column(pa.field(piece.field.name, pa.string()), json_texts(piece))
                if not self._put(text, plain, outcome):
                    self._beside(text, plain, outcome, present)
            case Drift.RESCUE:
                outcome.rescued.append(piece)
            case Drift.REJECT:
                message = (
                    f"Field {plain.origin} is {glue_name(stored_type(plain.field))} in the table"
                    f" and {glue_name(piece.field.type)} in the record."
                )
                outcome.refused.append((pc.is_valid(piece.array), message))

    def _beside(self, piece: Column, plain: TableColumn, outcome: _Outcome, present: Sequence[str]) -> None:
        """Put values into a column beside the plain one: `price_string`; `items_array_2` for a second kind of list."""
        kind = short_name(piece.field.type)
        nth = 1
        for column in self._layout.of(plain.origin):
            if column.kind == PLAIN or column.kind.split("_")[0] != kind:
                continue
            if self._put(piece, column, outcome):
                return
            nth += 1
        label = kind if nth == 1 else f"{kind}_{nth}"
        name = self._layout.free_name(f"{plain.origin}_{label}", [*self._keys, *present])
        column = TableColumn(piece.field.with_name(name), plain.origin, label)
        self._note_untyped(piece, column)
        if (field_there := storable_field(column.field)) is None:
            return
        column = column.grown(field_there)
        self._layout = self._layout.with_columns(column)
        outcome.columns[name] = [_named(stored(piece).renamed(name), column)]

    def _rescue(self, outcome: _Outcome, batch: pa.RecordBatch) -> None:
        if not outcome.rescued:
            return
        held = next((column for column in self._layout.of("") if column.kind == RESCUED), None)
        if held is None:
            name = self._layout.free_name(RESCUED_NAME, [*self._keys, *batch.schema.names])
            held = TableColumn(pa.field(name, pa.string()), "", RESCUED)
            self._layout = self._layout.with_columns(held)
        names = [column.field.name for column in outcome.rescued]
        found = zip(*map(plain_values, outcome.rescued), strict=True)
        objects = [{name: value for name, value in zip(names, row, strict=True) if value is not None} for row in found]
        texts = [json_bytes(one).decode() if one else None for one in objects]
        outcome.columns[held.name] = [Column(held.field, pa.array(texts, pa.string()))]


def stored_type(column_field: pa.Field) -> pa.DataType:
    """Return the type that files have for a field's values."""
    return pa.string() if is_choice(column_field) else column_field.type


def _named(values: Column, column: TableColumn) -> Column:
    """Return values with the names that the column's files have for fields inside of it."""
    return renamed_within(values, dict(column.names)) if column.names else values


def _widen(piece: Column, plain: TableColumn, outcome: _Outcome, zone: TimeZone) -> Column:
    """Put the values into the column that are there exactly; return the others."""
    found = widened(piece.array, stored_type(plain.field), zone)
    if found is None:
        return piece
    cast, exact = found
    field_there = pa.field(plain.name, cast.type)
    outcome.columns.setdefault(plain.name, []).append(Column(field_there, keep(cast, exact)))
    return Column(piece.field, keep(piece.array, pc.invert(exact)))


def _one(pieces: Sequence[Column]) -> Column:
    """Return the one column that pieces make up, of which no two have a value in the same row."""
    if len(pieces) == 1:
        return pieces[0]
    merged = pa.schema([])
    for piece in pieces:
        merged = merge_schemas(merged, pa.schema([piece.field]))
    arrays = [align(batch_of([piece], len(piece.array)), merged).column(0) for piece in pieces]
    return Column(merged.field(0), pc.coalesce(*arrays))


def _parted(
    batch: pa.RecordBatch, rows: pa.RecordBatch, refused: Sequence[tuple[pa.BooleanArray, str]]
) -> tuple[pa.RecordBatch, Sequence[Refused]]:
    """Part the rows that stay from those that are refused, each of which is refused once."""
    left = pa.array([True] * batch.num_rows)
    parts = []
    for wrong, message in refused:
        out = pc.and_(left, wrong)
        parts.append(Refused(batch.filter(out), np.flatnonzero(out.to_numpy(zero_copy_only=False)), message))
        left = pc.and_(left, pc.invert(wrong))
    return rows.filter(left), [part for part in parts if part.rows.num_rows]
