"""Writes the rows of a task to Parquet files that Spark then reads as a DataFrame. It imports no Spark.

The schema of all records is known only after the last one. So each file has the schema that its task knew when it wrote
the file, and a file whose columns differ from those of all records is written again afterwards (`rewritten`).
"""

from __future__ import annotations

import errno
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.connectors.files.formats.parquet.dictionaries import repeated_columns
from gluepot.connectors.files.formats.parquet.statistics import statistics_without_floats
from gluepot.connectors.streams.rejects import RejectsAside
from gluepot.core.disk import used_bytes
from gluepot.core.errors import PermanentError
from gluepot.engine.task import good_rows
from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import batch_of, columns_of
from gluepot.frames.schema import align, loses_values, merge_schemas, observed, unmarked, untyped_values, without_nulls
from gluepot.frames.sizes import memory_bytes

# Rows are gathered until their columns take this much, and then become a row group: few enough for a task to hold, and
# enough for Spark's readers to work on whole pages.
GROUP_BYTES = 16 << 20
# What must stay free in memory beside the files: other processes use the same file system.
_SPARE_BYTES = 256 << 20
# What must stay free on the disk: shuffles of Spark and what a job writes itself need it more.
_SPARE_DISK_BYTES = 1 << 30

# Rows without columns are made this many at a time.
_BARE_ROWS = 100_000

_PLAIN = frozenset(
    {pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary()}
)


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class NoRoom(Exception):
    """The rows of a frame fit neither into memory nor on the disk; they are read from the source each time."""


@dataclass(frozen=True, slots=True)
class RowFolders:
    """Where the files of one frame go.

    Args:
        disk: a folder on disk.
        memory: a folder in memory, below the one that all frames of the process share; None for disk alone.
        most_bytes: how much all frames of the process may have in memory.
    """

    disk: str
    memory: str | None = None
    most_bytes: int = 0

    def next(self) -> tuple[str, bool]:
        """Return the folder of a new file, and whether it is in memory.

        Raises:
            NoRoom: the disk is nearly full, too.
        """
        if self.memory and self.has_room():
            return self.memory, True
        if self.disk_is_full():
            raise NoRoom
        return self.disk, False

    def disk_is_full(self) -> bool:
        """Tell whether the disk has no room for more."""
        return shutil.disk_usage(self.disk).free < _SPARE_DISK_BYTES

    def has_room(self) -> bool:
        """Tell whether there is room for more in memory."""
        if self.memory is None:
            return False
        shared = Path(self.memory).parent
        state = os.statvfs(shared)
        return used_bytes(shared) < self.most_bytes and state.f_bavail * state.f_frsize > _SPARE_BYTES


@dataclass(frozen=True, slots=True)
class Stamp:
    """By which a file that others may write is known again.

    Args:
        size_bytes: its length.
        mtime_ns: its last modification.
    """

    size_bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Return that of a file as it is now.

        Raises:
            OSError: there is none.
        """
        state = path.stat()
        return cls(state.st_size, state.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file of rows.

    Args:
        path: absolute; empty for rows without columns, which no file can hold.
        schema: its columns; choices are marked.
        rows: how many there are.
        stamp: of a link to a file of the script's input; None for a file that this process has written.
    """

    path: str
    schema: pa.Schema
    rows: int
    stamp: Stamp | None = None

    def is_unchanged(self) -> bool:
        """Return whether the file still is what it was."""
        with suppress(OSError):
            return self.stamp in {None, Stamp.of(Path(self.path))}
        return False

    @property
    def size_bytes(self) -> int:
        """The size of the file; 0 if there is none."""
        return Path(self.path).stat().st_size if self.path else 0


@dataclass(frozen=True, slots=True)
class RowFiles:
    """Reads the rows of files as chunks.

    Args:
        schema: the merged schema of all rows, with columns that cannot be stored.
    """

    schema: pa.Schema

    @property
    def guarantee(self) -> str:
        """What a reader may rely on."""
        return "Every row is read once, in the order of the records."

    def read(self, split: RowFile) -> Iterator[Chunk]:
        """Yield the rows of a file.

        Raises:
            PermanentError: the file was removed, because the micro-batch that it belongs to has ended.
        """
        try:
            for batch in _rows_of(split):
                yield Chunk(align(batch, self.schema))
        except FileNotFoundError as gone:
            raise PermanentError(
                f"The rows in {split.path} were removed when their micro-batch ended. Use the frame inside of the batch"
                " function that made it, or cache it there as a DataFrame."
            ) from gone


@dataclass(frozen=True, slots=True)
class Written:
    """What a task has written.

    Args:
        schema: the merged schema of its rows, with columns that cannot be stored.
        files: in the order of the rows; None if a column has a type that is not written to files, or there is no room.
        records: how many there were, with broken ones.
        untyped: schemas of rows with values that are in no file because they had no type, such as empty lists.
        untyped_values: how many such values there are, by column.
    """

    schema: pa.Schema
    files: Sequence[RowFile] | None
    records: int
    untyped: Sequence[pa.Schema] = ()
    untyped_values: Mapping[str, int] = field(default_factory=dict)

    def has_all(self, schema: pa.Schema) -> bool:
        """Return whether the files have all values for which the schema of all records has a type."""
        types = {field.name: field.type for field in schema}
        return not any(loses_values(field.type, types[field.name]) for one in self.untyped for field in one)


def can_hold(schema: pa.Schema) -> bool:
    """Return whether Spark reads such columns from Parquet exactly as it reads them from Arrow.

    Names that differ only by case are two columns for Arrow and an error for Spark's Parquet reader.
    """
    return len(schema) > 0 and _has_distinct_names(schema) and are_written(schema)


def are_written(schema: Iterable[pa.Field]) -> bool:
    """Return whether all columns have types that are written to files."""
    return all(_is_held(field.type) for field in schema)


def _is_held(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return are_written(kind)
    if pa.types.is_list(kind):
        return _is_held(kind.value_type)
    if pa.types.is_map(kind):
        return _is_held(kind.key_type) and _is_held(kind.item_type)
    if pa.types.is_timestamp(kind):
        return bool(kind.unit == "us" and kind.tz in {None, "UTC"})
    return kind in _PLAIN or pa.types.is_decimal128(kind) or pa.types.is_date32(kind)


def _has_distinct_names(fields: Iterable[pa.Field]) -> bool:
    """Return whether the names at each level differ by more than case."""
    fields = list(fields)
    return len({field.name.casefold() for field in fields}) == len(fields) and all(
        _has_distinct_names(_inner(field.type)) for field in fields
    )


def _inner(kind: pa.DataType) -> list[pa.Field]:
    if pa.types.is_struct(kind):
        return list(kind)
    if pa.types.is_map(kind):
        return [kind.item_field]
    return [kind.value_field] if pa.types.is_list(kind) else []


def write_rows(
    chunks: Iterable[Chunk], folders: RowFolders, rejects: RejectsAside, wanted: pa.Schema | None = None
) -> Written:
    """Write all good rows of a task.

    Args:
        chunks: the rows; each chunk may have its own schema.
        folders: where to.
        rejects: keeps error records.
        wanted: the schema of all records, which each chunk is aligned to; None if it is not known yet.

    Raises:
        OSError: a file cannot be written.
    """
    merged, files, records = pa.schema([]), _Files(folders), 0
    is_written = True
    untyped: dict[pa.Schema, None] = {}
    untyped_counts = Counter[str]()

    def counted() -> Iterator[Chunk]:
        nonlocal records
        for chunk in chunks:
            records += chunk.batch.num_rows + len(chunk.errors)
            yield chunk

    try:
        for good in good_rows(counted(), rejects):
            batch = good if wanted is None else align(good, wanted)
            merged = merge_schemas(merged, observed(batch))
            rows = without_nulls(batch)
            if rows is not batch and any(pa.types.is_nested(field.type) for field in batch.schema):
                untyped[batch.schema] = None
                untyped_counts.update({column.field.name: untyped_values(column) for column in columns_of(batch)})
            is_written = is_written and are_written(rows.schema) and files.add(rows)
    finally:
        is_written = files.close() and is_written
    return Written(merged, files.done if is_written else None, records, tuple(untyped), +untyped_counts)


def rewritten(file: RowFile, schema: pa.Schema, folders: RowFolders) -> list[RowFile]:
    """Write the rows of a file again with the columns of all records, at least one, and remove the file.

    Args:
        file: the file.
        schema: a merge of the file's schema with others, without what cannot be stored.
        folders: where to.

    Raises:
        NoRoom: there is no room for the new file beside the old one.
    """
    files, fitted = _Files(folders), True
    try:
        for batch in _rows_of(file):
            fitted = fitted and files.add(align(batch, schema))
    finally:
        fitted = files.close() and fitted
    if not fitted:
        raise NoRoom
    if file.path:
        Path(file.path).unlink()
    return files.done


def _rows_of(file: RowFile) -> Iterator[pa.RecordBatch]:
    if not file.path:
        for first in range(0, file.rows, _BARE_ROWS):
            yield batch_of([], min(_BARE_ROWS, file.rows - first))
        return
    with pq.ParquetFile(file.path) as opened:
        for group in range(opened.num_row_groups):
            for batch in opened.read_row_group(group).to_batches():
                yield pa.RecordBatch.from_arrays(batch.columns, schema=file.schema)


def fits(file: RowFile, schema: pa.Schema) -> bool:
    """Return whether a reader that is told the schema finds the file's rows in it; a whole column may be missing."""
    return bool(file.path) and all(field.type.equals(schema.field(field.name).type) for field in file.schema)


class _Files:
    """The files of one task, one open at a time. A file begins where the columns change or the memory is used up."""

    def __init__(self, folders: RowFolders) -> None:
        self._folders = folders
        self._gathered: list[pa.RecordBatch] = []
        self._bytes = 0
        self._open: _OpenFile | None = None
        self.done: list[RowFile] = []

    def add(self, rows: pa.RecordBatch) -> bool:
        """Take rows; return whether there is room for what was taken so far."""
        if rows.num_rows:
            self._gathered.append(rows)
            self._bytes += memory_bytes(rows)
            if self._bytes >= GROUP_BYTES:
                return _has_room(self._flush)
        return True

    def close(self) -> bool:
        """Complete the last file; return whether there was room for it."""
        if not (_has_room(self._flush) and _has_room(self._end)):
            return False
        if bare := sum(one.num_rows for one in self._gathered):
            self.done.append(RowFile("", pa.schema([]), bare))
        return True

    def _flush(self) -> None:
        if self._open is None and not any(one.num_columns for one in self._gathered):
            return  # rows without columns wait for some that have
        gathered, self._gathered, self._bytes = self._gathered, [], 0
        if not gathered:
            return
        known = pa.schema([]) if self._open is None else self._open.schema
        schema = unmarked(reduce(merge_schemas, (observed(one, keep_choices=True) for one in gathered), known))
        rows = pa.Table.from_batches([align(one, schema) for one in gathered], schema).combine_chunks()
        is_full = self._open is not None and self._open.in_memory and not self._folders.has_room()
        if self._open is not None and not self._open.in_memory and self._folders.disk_is_full():
            raise NoRoom
        if is_full or not schema.equals(known, check_metadata=True):
            self._end()
        if self._open is None:
            self._open = _OpenFile(*self._folders.next(), rows)
        self._open.write(rows)

    def _end(self) -> None:
        if self._open is not None:
            ended, self._open = self._open, None
            self.done.append(ended.closed())


def _has_room(write: Callable[[], None]) -> bool:
    """Write; return whether there was room for it."""
    try:
        write()
    except NoRoom:
        return False
    except OSError as error:
        if error.errno not in _FULL:
            raise
        return False
    return True


class _OpenFile:
    """A file that rows are written to. In memory it is not compressed: Spark would only have to undo that."""

    def __init__(self, folder: str, in_memory: bool, rows: pa.Table) -> None:
        self.schema = rows.schema
        self.in_memory = in_memory
        self._path = str(Path(folder) / f"{uuid4().hex}.parquet")
        self._rows = 0
        self._writer = pq.ParquetWriter(
            self._path,
            rows.schema,
            version="2.6",
            use_dictionary=repeated_columns(rows.to_batches()[0]),
            compression="none" if in_memory else "lz4",
            write_statistics=statistics_without_floats(rows.schema),
            store_schema=False,
        )

    def write(self, rows: pa.Table) -> None:
        self._writer.write_table(rows, row_group_size=rows.num_rows)
        self._rows += rows.num_rows

    def closed(self) -> RowFile:
        self._writer.close()
        return RowFile(self._path, self.schema, self._rows)
