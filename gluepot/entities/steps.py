"""The steps that look for sensitive data in chunks: one tells where it is and hides it, one counts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.entities.actions import Action, Rule, masked
from gluepot.entities.finding import Finding, Sensitivity, find
from gluepot.frames.chunk import Chunk, is_choice
from gluepot.frames.columns import (
    Column,
    batch_of,
    children_of,
    columns_of,
    items_of,
    map_values_of,
    struct_column,
    validity,
    with_items,
    with_map_values,
)

Rows = npt.NDArray[np.int64]
"""For each value of a column, the row it belongs to; -1 if it belongs to none."""

_FOUND = pa.struct(
    [
        pa.field("entityType", pa.string()),
        pa.field("start", pa.int32()),
        pa.field("end", pa.int32()),
        pa.field("actionUsed", pa.string()),
    ]
)
DETECTED = pa.map_(pa.string(), pa.list_(_FOUND))
"""The column that `detect` adds: the findings by the name of the column."""

_COUNTED = pa.schema(
    [
        pa.field("column", pa.string()),
        pa.field("entity", pa.string()),
        pa.field("found", pa.int64()),
        pa.field("values", pa.int64()),
    ]
)
# So many rows of a chunk are looked at, however small the fraction is: a sample of two rows says nothing.
_FEWEST_ROWS = 100
_SEED = 7


@dataclass(frozen=True, slots=True)
class DetectEntities:
    """Adds a column with what was found in the texts of each row, and hides in them what the rules say.

    Args:
        rules: what to look for, where, and what to do with it.
        sensitivity: how readily.
        output: name of the column of type `DETECTED`; a column of this name is replaced.
    """

    rules: tuple[Rule, ...]
    sensitivity: Sensitivity
    output: str

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows with one more column; the errors stay."""
        rows = chunk.batch.num_rows
        found = _Found(self.rules, self.sensitivity)
        given = [one for one in columns_of(chunk.batch) if one.field.name != self.output]
        every_row = np.arange(rows, dtype=np.int64)
        columns = [found.hidden(one, one.field.name, every_row) for one in given]
        detected = pa.array([list(found.by_row.get(row, {}).items()) for row in range(rows)], DETECTED)
        return replace(chunk, batch=batch_of([*columns, Column(pa.field(self.output, DETECTED), detected)], rows))


@dataclass(frozen=True, slots=True)
class CountEntities:
    """Puts in place of the rows how many of them hold what, column by column.

    Args:
        entities: names of the types to look for.
        sensitivity: how readily.
        sample_fraction: how many of the rows are looked at, at least `_FEWEST_ROWS` of each chunk.
    """

    entities: tuple[str, ...]
    sensitivity: Sensitivity
    sample_fraction: float

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return rows of column, entity or null, rows it was found in, and rows that have a value; the errors stay."""
        counted = [line for one in columns_of(self._sample(chunk.batch)) for line in self._counts(one)]
        return Chunk(pa.RecordBatch.from_pylist(counted, _COUNTED), chunk.errors)

    def _sample(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = batch.num_rows
        wanted = max(round(rows * self.sample_fraction), min(rows, _FEWEST_ROWS))
        if wanted == rows:
            return batch
        drawn = np.random.default_rng([_SEED, rows]).choice(rows, wanted, replace=False)
        return batch.take(pa.array(np.sort(drawn)))

    def _counts(self, column: Column) -> Iterator[dict[str, Any]]:
        found = _Found(tuple(Rule(name) for name in self.entities), self.sensitivity)
        found.hidden(column, column.field.name, np.arange(len(column.array), dtype=np.int64))
        rows: dict[str, set[int]] = {}
        for row, by_path in found.by_row.items():
            for listed in by_path.values():
                for one in listed:
                    rows.setdefault(one["entityType"], set()).add(row)
        values = len(column.array) - column.array.null_count
        yield {"column": column.field.name, "entity": None, "found": 0, "values": values}
        for name, held in rows.items():
            yield {"column": column.field.name, "entity": name, "found": len(held), "values": 0}


def classified(counts: Iterable[Mapping[str, Any]], threshold_fraction: float) -> dict[str, list[str]]:
    """Return the types of each column that has some, from the rows of all `CountEntities`.

    Args:
        counts: in any order.
        threshold_fraction: a type counts if at least this fraction of the values that are not null hold it.
    """
    values: dict[str, int] = {}
    found: dict[tuple[str, str], int] = {}
    for one in counts:
        values[one["column"]] = values.get(one["column"], 0) + one["values"]
        if one["entity"] is not None:
            key = one["column"], one["entity"]
            found[key] = found.get(key, 0) + one["found"]
    classes: dict[str, list[str]] = {}
    for (column, entity), number in found.items():
        if number >= threshold_fraction * values[column]:
            classes.setdefault(column, []).append(entity)
    return {column: sorted(names) for column, names in classes.items()}


@dataclass(slots=True)
class _Found:
    """Walks through columns and gathers what is found, by row and name of the column."""

    rules: tuple[Rule, ...]
    sensitivity: Sensitivity
    by_row: dict[int, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)

    def hidden(self, column: Column, path: str, rows: Rows) -> Column:
        """Return the column with the findings hidden as the rules say; the same if nothing is."""
        kind = column.field.type
        if pa.types.is_struct(kind):
            dot = "" if is_choice(column.field) else "."
            children = children_of(column)
            new = [self.hidden(one, f"{path}{dot}{one.field.name}" if dot else path, rows) for one in children]
            return column if all(map(_is_same, children, new)) else _struct(column, new)
        if pa.types.is_list(kind):
            items = items_of(column)
            seen = self.hidden(items, path, _rows_of_items(column.array, len(items.array), rows))
            return column if seen is items else with_items(column, seen)
        if pa.types.is_map(kind):
            values = map_values_of(column)
            seen = self.hidden(values, path, _rows_of_items(column.array, len(values.array), rows))
            return column if seen is values else with_map_values(column, seen)
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return self._hidden_texts(column, path, rows)
        return column

    def _hidden_texts(self, column: Column, path: str, rows: Rows) -> Column:
        by_entity = _rules_for(self.rules, path)
        if not by_entity or not len(column.array):
            return column
        replaced: dict[int, str] = {}
        for index, findings in find(column.array, path, list(by_entity), self.sensitivity).items():
            row = int(rows[index])
            if row < 0:
                continue
            ruled = [(one, by_entity[one.entity]) for one in findings]
            listed = self.by_row.setdefault(row, {}).setdefault(path, [])
            listed += [_told(finding, rule.action) for finding, rule in ruled]
            if any(rule.action is not Action.DETECT for _, rule in ruled):
                replaced[index] = masked(column.array[index].as_py(), ruled)
        return Column(column.field, _with_texts(column.array, replaced)) if replaced else column


def _rules_for(rules: Sequence[Rule], path: str) -> dict[str, Rule]:
    """Return the rule for each type in a column: one that hides goes before one that only tells."""
    covering = [rule for rule in rules if rule.covers(path)]
    telling = {rule.entity: rule for rule in covering if rule.action is Action.DETECT}
    return telling | {rule.entity: rule for rule in covering if rule.action is not Action.DETECT}


def _told(finding: Finding, action: Action) -> dict[str, Any]:
    return {
        "entityType": finding.entity,
        "start": finding.start,
        "end": finding.end,
        "actionUsed": action.value,
    }


def _with_texts(texts: pa.Array, replaced: Mapping[int, str]) -> pa.Array:
    at = sorted(replaced)
    mask = np.zeros(len(texts), bool)
    mask[at] = True
    return pc.replace_with_mask(texts, pa.array(mask), pa.array([replaced[index] for index in at], texts.type))


def _rows_of_items(lists: pa.Array, number: int, rows: Rows) -> Rows:
    """Return the row of each element that a list or map column holds, also of those that no list refers to."""
    found = np.full(number, -1, np.int64)
    offsets = lists.offsets.to_numpy()
    lengths = np.diff(offsets)
    valid = lists.is_valid().to_numpy(zero_copy_only=False)
    if len(lengths):
        found[offsets[0] : offsets[-1]] = np.repeat(np.where(valid, rows, -1), lengths)
    return found


def _is_same(old: Column, new: Column) -> bool:
    return old is new


def _struct(column: Column, children: Sequence[Column]) -> Column:
    built = struct_column(column.field.name, children, len(column.array), validity(column.array))
    return Column(built.field.with_metadata(column.field.metadata), built.array)
