"""What a table has to tell and to do so that statements are merged into it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.connectors.lake.merging.expressions import OnlySpark

Partition: TypeAlias = tuple[str | None, ...]
"""The values of a partition, as text."""


NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""How libraries write that a partition has no value; they take a text like this for a null."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file of the table.

    Args:
        path: its local path.
        partition: its partition.
        size_bytes: its size.
        own: the table's own object for it.
    """

    path: str
    partition: Partition
    size_bytes: int
    own: Any


@dataclass(frozen=True, slots=True)
class NewFile:
    """A data file that was written.

    Args:
        path: its local path.
        partition: its partition.
        rows: how many rows it has.
    """

    path: str
    partition: Partition
    rows: int


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of a merge.

    Args:
        source: rows of the source.
        updated: rows of the table that were updated.
        deleted: rows of the table that were deleted.
        inserted: rows that came.
    """

    source: int
    updated: int
    deleted: int
    inserted: int


@dataclass(frozen=True, slots=True)
class PartitionField:
    """A part of a partition.

    Args:
        column: name of the column of the table from which it comes.
        sql: Spark's SQL of its value, where `{}` stands for the column.
    """

    column: str
    sql: str


@dataclass(frozen=True, slots=True)
class Layout:
    """How the table's files are made.

    Args:
        schema: columns with the marks by which the table knows them; a column that is not nullable holds no nulls.
        stored: names of the columns that files hold; others are told by the partition.
        partition: parts of the partition, none where the table is not partitioned.
        compression: codec of Parquet, as Arrow names it.
        file_bytes: files are not filled up beyond this size.
        group_bytes: size of a row group in memory.
    """

    schema: pa.Schema
    stored: Sequence[str]
    partition: Sequence[PartitionField]
    compression: str
    file_bytes: int
    group_bytes: int


def local_path(location: str) -> str:
    """Return the path of a file on this machine.

    Raises:
        OnlySpark: it is somewhere else.
    """
    path = location.removeprefix("file:")
    if path.startswith("//"):
        path = "/" + path.lstrip("/")
    if not path.startswith("/"):
        raise OnlySpark("files that are not on this machine")
    return path


class Overtaken(Exception):
    """Another writer has changed the table, so that nothing was committed."""


class MergeTarget(Protocol):
    """A table at one moment."""

    @property
    def layout(self) -> Layout:
        """How its files are made."""

    @property
    def counts(self) -> bool:
        """Whether a MERGE returns how many rows it has changed."""

    def files(self, bounds: Mapping[str, tuple[Any, Any]]) -> Sequence[DataFile]:
        """Return the files that can hold rows with keys between bounds.

        Args:
            bounds: least and largest value of columns; numbers or texts.

        Raises:
            OnlySpark: files need more than to be read, such as files with deleted rows.
        """

    def columns(self, file: pq.ParquetFile) -> Sequence[str | None]:
        """Return the names of the columns in a file, for each column of the layout; None for one that it lacks.

        Raises:
            OnlySpark: the file holds a column in another type.
        """

    def missing(self, at: int, file: DataFile, rows: int) -> pa.Array:
        """Return the values of a column that a file lacks.

        Args:
            at: position of the column in the layout.
            file: the file.
            rows: how many values.

        Raises:
            OnlySpark: the values cannot be told.
        """

    def new_path(self, partition: Partition) -> str:
        """Return the local path of a new file, whose folder exists."""

    def prepared(self, removed: Sequence[DataFile], added: Sequence[NewFile], counts: Counts) -> Callable[[], None]:
        """Describe the exchange of files by others; nothing is committed.

        Returns:
            What commits the exchange if the table is still as it was where that matters. It raises Overtaken if it is
            not, so that nothing was committed. After any other error the commit may or may not have happened.
        """
