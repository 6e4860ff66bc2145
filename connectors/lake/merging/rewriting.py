"""Reads the data files of a table, and writes those that a merge changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.connectors.files.formats.parquet.statistics import statistics_without_floats
from gluepot.connectors.lake.merging.expressions import OnlySpark
from gluepot.connectors.lake.merging.rows import Keys, Mask, Pairs, Source, changed, condition_columns, fitted, matches
from gluepot.connectors.lake.merging.statement import Merge
from gluepot.connectors.lake.merging.target import DataFile, Layout, MergeTarget, NewFile, Partition
from gluepot.frames.sizes import memory_bytes


@dataclass(frozen=True, slots=True)
class Moved:
    """Rows that belong to another partition after an update.

    Args:
        rows: the columns.
        source: positions of the rows of the source that updated them.
    """

    rows: Sequence[pa.Array]
    source: Any


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What a merge makes of a file.

    Args:
        file: the new file; None if no row is left.
        moved: rows that went to other partitions.
        updated: how many rows were updated.
        deleted: how many rows were deleted.
    """

    file: NewFile | None
    moved: Sequence[Moved]
    updated: int
    deleted: int


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads rows of data files in the columns of the table.

    Args:
        target: the table.
        merge: the statement.
    """

    target: MergeTarget
    merge: Merge

    def matches(self, file: DataFile, keys: Keys, source: Source, bounds: Mapping[str, tuple[Any, Any]]) -> Pairs:
        """Return the matches of all rows of a file.

        Args:
            file: the file.
            keys: of the source.
            source: the source.
            bounds: least and largest value of parts of the keys; row groups beyond them are not read.
        """
        wanted = condition_columns(self.merge)
        found, first = [], 0
        with _opened(file) as opened:
            names = dict(zip(self.target.layout.schema.names, self.target.columns(opened), strict=True))
            for group in range(opened.num_row_groups):
                footer = opened.metadata.row_group(group)
                if _can_hold(footer, {names[name]: ends for name, ends in bounds.items()}):
                    pairs = matches(self.merge, keys, source, self.group(opened, group, file, wanted))
                    found.append(Pairs(pairs.target + first, pairs.source))
                first += footer.num_rows
        none = np.zeros(0, np.int64)
        return Pairs(
            np.concatenate([none, *(one.target for one in found)]),
            np.concatenate([none, *(one.source for one in found)]),
        )

    def group(
        self, opened: pq.ParquetFile, group: int, file: DataFile, wanted: frozenset[int] | None = None
    ) -> Mapping[int, pa.Array]:
        """Return a row group's columns by their numbers; all of them unless some are named.

        Raises:
            OnlySpark: the file holds a column in a form that is not read here.
        """
        schema = self.target.layout.schema
        names = self.target.columns(opened)
        each = [
            (one.number, name, kind.type)
            for one, name, kind in zip(self.merge.target, names, schema, strict=True)
            if wanted is None or one.number in wanted
        ]
        rows = opened.metadata.row_group(group).num_rows
        table = opened.read_row_group(group, columns=[name for _, name, _ in each if name is not None])
        found = {}
        for number, name, kind in each:
            if name is None:
                found[number] = self.target.missing(number_of(self.merge, number), file, rows)
            else:
                found[number] = fitted(pa.concat_arrays(table[name].chunks), kind) if rows else pa.nulls(0, kind)
        return found


def _can_hold(group: Any, bounds: Mapping[str | None, tuple[Any, Any]]) -> bool:
    """Return whether a row group can hold values between bounds. Bounds of texts are not looked at."""
    for at in range(group.num_columns):
        column = group.column(at)
        ends, known = bounds.get(column.path_in_schema), column.statistics
        if ends is None or known is None or not known.has_min_max or not isinstance(known.min, int):
            continue
        if isinstance(ends[0], int) and (known.max < ends[0] or known.min > ends[1]):
            return False
    return True


def _opened(file: DataFile) -> pq.ParquetFile:
    return pq.ParquetFile(file.path, coerce_int96_timestamp_unit="us")


def number_of(merge: Merge, number: int) -> int:
    """Return the position of a column of the table."""
    return next(at for at, one in enumerate(merge.target) if one.number == number)


@dataclass
class Writer:
    """Writes one data file; row groups are filled up before they are written.

    Args:
        layout: how files are made.
        path: of the new file.
        partition: its partition.
    """

    layout: Layout
    path: str
    partition: Partition
    _gathered: list[pa.Table] = field(default_factory=list)
    _bytes: int = 0
    _rows: int = 0
    _open: pq.ParquetWriter | None = None

    def add(self, rows: Sequence[pa.Array]) -> None:
        """Take rows.

        Raises:
            OnlySpark: there is a null where the table allows none.
        """
        table = pa.Table.from_arrays(list(rows), schema=self.layout.schema)
        if any(not one.nullable and table.column(at).null_count for at, one in enumerate(self.layout.schema)):
            raise OnlySpark("a null where the table allows none")
        table = table.select(self.layout.stored)
        self._gathered.append(table)
        self._bytes += memory_bytes(table)
        self._rows += table.num_rows
        if self._bytes >= self.layout.group_bytes:
            self._flush()

    def close(self) -> NewFile | None:
        """Complete the file; return None if it has no rows."""
        if self._rows:
            self._flush()
        if self._open is None:
            return None
        self._open.close()
        return NewFile(self.path, self.partition, self._rows)

    def abandon(self) -> None:
        """Remove what was written."""
        if self._open is not None:
            self._open.close()
        with suppress(FileNotFoundError):
            Path(self.path).unlink()

    def _flush(self) -> None:
        if not self._gathered:
            return
        rows = pa.concat_tables(self._gathered).combine_chunks()
        self._gathered, self._bytes = [], 0
        if not rows.num_rows:
            return
        if self._open is None:
            self._open = pq.ParquetWriter(
                self.path,
                rows.schema,
                version="2.6",
                compression=self.layout.compression,
                store_schema=False,
                store_decimal_as_integer=True,
                write_statistics=statistics_without_floats(rows.schema),
            )
        self._open.write_table(rows, row_group_size=rows.num_rows)


def rewritten(
    reader: Reader,
    file: DataFile,
    found: Pairs,
    source: Source,
    moves: Mapping[int, Mask],
    further: Sequence[Sequence[pa.Array]],
) -> Rewritten | None:
    """Write a file again after the clauses for matched rows.

    Args:
        reader: of the table.
        file: the file.
        found: the matches of its rows.
        source: the source.
        moves: as in `changed`.
        further: rows to add at its end.

    Returns:
        None if the file stays as it is.

    Raises:
        OnlySpark: there is a null where the table allows none.
    """
    writer = Writer(reader.target.layout, reader.target.new_path(file.partition), file.partition)
    moved, updated, deleted, first = [], 0, 0, 0
    try:
        with _opened(file) as opened:
            for group in range(opened.num_row_groups):
                last = first + opened.metadata.row_group(group).num_rows
                rows = reader.group(opened, group, file)
                pairs = found.between(first, last)
                first = last
                if not len(pairs.target):
                    writer.add([rows[one.number] for one in reader.merge.target])
                    continue
                made = changed(reader.merge, pairs, source, rows, moves)
                writer.add(made.rows)
                updated, deleted = updated + made.updated, deleted + made.deleted
                if made.moved:
                    moved.append(Moved(made.moved, made.partitions))
        for one in further:
            writer.add(one)
        if not updated and not deleted and not further:
            writer.abandon()
            return None
        return Rewritten(writer.close(), moved, updated, deleted)
    except BaseException:
        writer.abandon()
        raise
