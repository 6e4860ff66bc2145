"""Finds the rows of a table that rows of a source match, and makes the rows of a merged table. Pure.

Matches are pairs of positions. A key that is null or has a null part matches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.lake.merging.expressions import Columns, OnlySpark, Value
from gluepot.connectors.lake.merging.statement import Clause, Merge

Positions = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# Numbers of combined keys must fit 64 bits.
_MOST_COMBINATIONS = 2**62


@dataclass(frozen=True, slots=True)
class Pairs:
    """Matches, in the order of the table's rows.

    Args:
        target: positions of rows of the table; a row is in it at most once.
        source: positions of the rows of the source that match them.
    """

    target: Positions
    source: Positions

    def between(self, first: int, last: int) -> Pairs:
        """Return the matches of some rows of the table, with positions from the first of them on.

        Args:
            first: position of the first row.
            last: the position after the last one.
        """
        begin, end = np.searchsorted(self.target, [first, last])
        return Pairs(self.target[begin:end] - first, self.source[begin:end])


class Keys:
    """The keys of a source, by which its rows are found.

    Args:
        columns: a column for each part of the key.

    Raises:
        OnlySpark: a key is there twice, so that Spark has to say what that means.
    """

    def __init__(self, columns: Sequence[pa.Array]) -> None:
        self._parts = [pc.unique(one).drop_null() for one in columns]
        combinations = 1
        for part in self._parts:
            combinations *= max(1, len(part))
        if combinations > _MOST_COMBINATIONS:
            raise OnlySpark("keys of too many parts")
        numbers = self._numbers(columns)
        self.rows = np.flatnonzero(numbers.is_valid())
        self._known = numbers.drop_null()
        if len(pc.unique(self._known)) != len(self._known):
            raise OnlySpark("a source with several rows of one key")

    def matches(self, columns: Sequence[pa.Array]) -> Pairs:
        """Return the matches of rows of the table."""
        found = pc.index_in(self._numbers(columns), self._known, skip_nulls=True)
        target = np.flatnonzero(found.is_valid())
        return Pairs(target, self.rows[found.drop_null().to_numpy()])

    def _numbers(self, columns: Sequence[pa.Array]) -> pa.Array:
        """Return a value for each row that is equal for equal keys; null for keys that match nothing."""
        if len(columns) == 1:
            return columns[0]
        total = pa.scalar(0, pa.int64())
        for column, part in zip(columns, self._parts, strict=True):
            place = pc.cast(pc.index_in(column, part, skip_nulls=True), pa.int64())
            total = pc.add(pc.multiply(total, max(1, len(part))), place)
        return total


@dataclass(frozen=True, slots=True)
class Source:
    """The rows of a source.

    Args:
        columns: by the numbers that Spark gave to them.
        rows: how many there are.
    """

    columns: Mapping[int, pa.Array]
    rows: int

    def taken(self, at: Positions, used: frozenset[int]) -> dict[int, pa.Array]:
        """Return some rows of the columns that are used."""
        wanted = pa.array(at)
        return {number: column.take(wanted) for number, column in self.columns.items() if number in used}


def used(merge: Merge) -> frozenset[int]:
    """Return the numbers of all columns that a statement reads."""
    return frozenset[int]().union(*(one.uses for one in values_of(merge)))


def values_of(merge: Merge) -> Iterator[Value]:
    """Yield all expressions of a statement, without the keys of the table."""
    yield from (value for _, value in merge.keys)
    if merge.also is not None:
        yield merge.also
    for clause in (*merge.matched, *merge.not_matched):
        if clause.condition is not None:
            yield clause.condition
        yield from (clause.values or {}).values()


def condition_columns(merge: Merge) -> frozenset[int]:
    """Return the numbers of the columns that tell whether rows match."""
    keys = frozenset(column.number for column, _ in merge.keys)
    return keys | (frozenset() if merge.also is None else merge.also.uses)


def keys_of(merge: Merge, source: Source) -> Keys:
    """Return the keys of a source.

    Raises:
        OnlySpark: a key is there twice.
    """
    columns = Columns(source.columns, source.rows)
    return Keys([value.of(columns) for _, value in merge.keys])


def matches(merge: Merge, keys: Keys, source: Source, rows: Mapping[int, pa.Array]) -> Pairs:
    """Return the matches of rows of the table.

    Args:
        merge: the statement.
        keys: of the source.
        source: the source.
        rows: columns of the table, among them `condition_columns`.
    """
    found = keys.matches([rows[column.number] for column, _ in merge.keys])
    if merge.also is None or not len(found.target):
        return found
    holds = _holds(merge.also, _joined(found, source, rows, merge.also.uses))
    return Pairs(found.target[holds], found.source[holds])


@dataclass(frozen=True, slots=True)
class Changed:
    """Rows of the table after a merge.

    Args:
        rows: the columns, in the order of the statement's target, without the rows that were deleted.
        moved: of the rows that were updated, those that belong to another partition; they are not among `rows`.
        partitions: positions in the source of the partitions of `moved`.
        updated: how many rows were updated.
        deleted: how many rows were deleted.
    """

    rows: Sequence[pa.Array]
    moved: Sequence[pa.Array]
    partitions: Positions
    updated: int
    deleted: int


def changed(
    merge: Merge, found: Pairs, source: Source, rows: Mapping[int, pa.Array], moves: Mapping[int, Mask]
) -> Changed:
    """Return rows of the table after the clauses for matched rows.

    Args:
        merge: the statement.
        found: the matches among the rows, at least one.
        source: the source.
        rows: all columns of the rows.
        moves: for each clause that can move rows to another partition, by its position among the clauses for matched
            rows: whether it moves a row that matches a certain row of the source.
    """
    columns = dict(rows)
    count = len(next(iter(rows.values())))
    left, gone, away = np.ones(len(found.target), np.bool_), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    origin = np.zeros(count, np.int64)
    updated = 0
    for at, clause in enumerate(merge.matched):
        uses = frozenset[int]().union(*(one.uses for one in _values(clause)))
        hit = left.copy()
        if clause.condition is not None:
            hit &= _holds(clause.condition, _joined(found, source, rows, clause.condition.uses))
        left &= ~hit
        pairs = Pairs(found.target[hit], found.source[hit])
        if not len(pairs.target):
            continue
        if clause.values is None:
            gone[pairs.target] = True
            continue
        updated += len(pairs.target)
        given = _joined(pairs, source, rows, uses)
        for number, value in clause.values.items():
            columns[number] = _replaced(columns[number], pairs.target, value.of(given))
        if at in moves:
            goes = moves[at][pairs.source]
            away[pairs.target[goes]] = True
            origin[pairs.target] = pairs.source
    ordered = [columns[one.number] for one in merge.target]
    moved = [one.filter(pa.array(away)) for one in ordered] if away.any() else []
    stays = ~(gone | away)
    kept = ordered if stays.all() else [one.filter(pa.array(stays)) for one in ordered]
    return Changed(kept, moved, origin[away], updated, int(gone.sum()))


@dataclass(frozen=True, slots=True)
class Added:
    """Rows that a clause adds.

    Args:
        rows: the columns, in the order of the statement's target; null where the clause names no value.
        source: positions of the rows of the source that they come from.
    """

    rows: Sequence[pa.Array]
    source: Positions


def added(merge: Merge, unmatched: Positions, source: Source, types: Mapping[int, pa.DataType]) -> list[Added]:
    """Return the rows that the clauses for rows without a match add, clause by clause.

    Args:
        merge: the statement.
        unmatched: positions of the rows of the source that match nothing.
        source: the source.
        types: of the columns of the table, by their numbers.
    """
    found, left = [], unmatched
    for clause in merge.not_matched:
        hit = np.ones(len(left), np.bool_)
        if clause.condition is not None:
            hit = _holds(clause.condition, Columns(source.taken(left, clause.condition.uses), len(left)))
        at, left = left[hit], left[~hit]
        if not len(at) or clause.values is None:
            continue
        uses = frozenset[int]().union(*(one.uses for one in clause.values.values()))
        given = Columns(source.taken(at, uses), len(at))
        values = clause.values
        rows = [
            fitted(values[one.number].of(given), types[one.number])
            if one.number in values
            else pa.nulls(len(at), types[one.number])
            for one in merge.target
        ]
        found.append(Added(rows, at))
    return found


def fitted(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return values as a type that holds the same ones."""
    return array if array.type.equals(wanted, check_metadata=True) else array.cast(wanted)


def _values(clause: Clause) -> Iterator[Value]:
    yield from (clause.values or {}).values()


def _joined(found: Pairs, source: Source, rows: Mapping[int, pa.Array], uses: frozenset[int]) -> Columns:
    at = pa.array(found.target)
    own = {number: column.take(at) for number, column in rows.items() if number in uses}
    return Columns({**own, **source.taken(found.source, uses)}, len(found.target))


def _holds(condition: Value, columns: Columns) -> Mask:
    """Return where a condition is true; a condition that is null does not hold."""
    holds: Mask = np.asarray(pc.fill_null(condition.of(columns), False))
    return holds


def _replaced(column: pa.Array, at: Positions, values: pa.Array) -> pa.Array:
    """Return a column with other values at some positions, which ascend."""
    values = fitted(values, column.type)
    if _is_flat(column.type):
        mask = np.zeros(len(column), np.bool_)
        mask[at] = True
        return pc.replace_with_mask(column, pa.array(mask), values)
    order: Any = np.arange(len(column))
    order[at] = len(column) + np.arange(len(at))
    return pa.concat_arrays([column, values]).take(pa.array(order))


def _is_flat(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_string(kind) or pa.types.is_binary(kind))
