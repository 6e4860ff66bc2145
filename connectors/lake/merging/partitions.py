"""Tells in which partition of a table the rows of a merge belong. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.lake.merging.expressions import OnlySpark, Value
from gluepot.connectors.lake.merging.rows import Mask, Positions
from gluepot.connectors.lake.merging.statement import Clause, Merge
from gluepot.connectors.lake.merging.target import Partition, PartitionField


def origins(merge: Merge, partition: Sequence[PartitionField]) -> list[int]:
    """Return the number of the source's column from which each part of a row's new partition comes.

    Raises:
        OnlySpark: it comes from something else, or from several columns.
    """
    return [_origin(merge, _number(merge, one)) for one in partition]


def _number(merge: Merge, part: PartitionField) -> int:
    return next(one.number for one in merge.target if one.name == part.column)


def _origin(merge: Merge, number: int) -> int:
    found = {value.column for value in _new_values(merge, number)}
    if not found:
        # No clause gives rows another partition; this column only has to be one that is there.
        found = {value.column for column, value in merge.keys if column.number == number}
    if len(found) != 1 or None in found:
        raise OnlySpark("a partition that does not come from one column of the source")
    return next(one for one in found if one is not None)


def _new_values(merge: Merge, number: int) -> Iterator[Value]:
    """Yield the values that clauses give to a column; of updates only those that are not the old value."""
    for clause in merge.matched:
        value = (clause.values or {}).get(number)
        if value is not None and value.column != number:
            yield value
    for clause in merge.not_matched:
        if number not in (clause.values or {}):
            raise OnlySpark("a row without a value for its partition")
        yield (clause.values or {})[number]


@dataclass(frozen=True, slots=True)
class Origin:
    """What says whether clauses move rows to another partition.

    Args:
        merge: the statement.
        partition: parts of the partition.
    """

    merge: Merge
    partition: Sequence[PartitionField]

    def movers(self) -> list[int]:
        """Return the positions of those clauses for matched rows that can move a row."""
        return [at for at, clause in enumerate(self.merge.matched) if self._can_move(clause)]

    def _can_move(self, clause: Clause) -> bool:
        numbers = [_number(self.merge, one) for one in self.partition]
        return any(self._changes(clause, number) for number in numbers)

    def _changes(self, clause: Clause, number: int) -> bool:
        value = (clause.values or {}).get(number)
        if value is None or value.column == number:
            return False
        # A key is equal before and after.
        return not any(column.number == number and key.column == value.column for column, key in self.merge.keys)


def moving(origin: Origin, here: Partition, partitions: Sequence[pa.Array]) -> Mapping[int, Mask]:
    """Return which rows of the source move a row out of a partition, for each clause that can do that.

    Args:
        origin: what the clauses do.
        here: the partition.
        partitions: parts of the partition of each row of the source.
    """
    movers = origin.movers()
    if not movers:
        return {}
    stays = np.ones(len(partitions[0]), np.bool_)
    for value, column in zip(here, partitions, strict=True):
        same = pc.is_null(column) if value is None else pc.fill_null(pc.equal(column, value), False)
        stays &= np.asarray(same)
    return dict.fromkeys(movers, ~stays)


def spread(
    pieces: Sequence[tuple[Sequence[pa.Array], Positions]], partitions: Sequence[pa.Array]
) -> dict[Partition, list[Sequence[pa.Array]]]:
    """Return rows by their partitions.

    Args:
        pieces: columns of rows, and the positions in the source of the rows that say their partitions.
        partitions: parts of the partition of each row of the source.
    """
    found: dict[Partition, list[Sequence[pa.Array]]] = {}
    for columns, source in pieces:
        for partition, at in _groups(source, partitions):
            found.setdefault(partition, []).append([one.take(pa.array(at)) for one in columns])
    return found


def _groups(source: Positions, partitions: Sequence[pa.Array]) -> Iterator[tuple[Partition, Positions]]:
    """Yield each partition with the positions of its rows."""
    if not partitions:
        if len(source):
            yield (), np.arange(len(source))
        return
    at = pa.array(source)
    keys = list(zip(*(column.take(at).to_pylist() for column in partitions), strict=True))
    numbers: dict[Partition, int] = {}
    codes = np.fromiter((numbers.setdefault(key, len(numbers)) for key in keys), np.int64, len(keys))
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(numbers) + 1))
    for key, number in numbers.items():
        yield key, order[ends[number] : ends[number + 1]]
