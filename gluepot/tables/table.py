"""A table as it was when it was opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from gluepot.commit.compaction import Compaction, compactions, newest_compaction
from gluepot.commit.history import Published, live
from gluepot.commit.record import CommitRecord
from gluepot.connectors.files.sink.layout import COMMITS, REJECTS
from gluepot.connectors.values import dump_errors
from gluepot.core.errors import ConfigError
from gluepot.core.storage import Storage, canonical_url, open_storage
from gluepot.tables.columns import TableColumn, choose, table_columns
from gluepot.tables.files import TableFile, rejects_files, table_files
from gluepot.tables.reading import read_files

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# How many tables below a folder an error names.
_MOST_SHOWN = 5


class Table:
    """A table as it was when it was opened: each published batch complete and once, without later batches.

    Every library that accepts Arrow data accepts a table: `pyarrow.table(table)`, `polars.DataFrame(table)`. Files are
    read when rows are requested. If a batch was published again or files were compacted meanwhile, the old files are
    gone; then reading fails and tells you to open the table again.

    Args:
        storage: the table's folder.
        rejects: the folder that files of rejected records were written to; None for the table's own folder.
        published: the live manifests.
        compactions: the number of compactions when the table was opened.
    """

    def __init__(
        self,
        storage: Storage,
        rejects: Storage | None,
        published: Published,
        compactions: int = 0,
    ) -> None:
        self.storage = storage
        self.columns: Sequence[TableColumn] = tuple(table_columns(published))
        self._published = published
        self._rejects = rejects
        self._compactions = compactions

    @property
    def commits(self) -> Iterable[CommitRecord]:
        """The live manifests, in order of query, batch and ctx. Every iteration reads those in rollups again.

        Raises:
            TransientError: a rolled-up batch was published again since the table was opened; open the table again.
        """
        return self._published

    def files(self) -> Sequence[TableFile]:
        """Return the files with the rows: first those of compactions, then batch by batch. The list is read once.

        Raises:
            TransientError: as `commits`.
        """
        return self._files

    @cached_property
    def _files(self) -> Sequence[TableFile]:
        return tuple(table_files(self._published, compactions(self.storage, self._compactions)))

    @property
    def schema(self) -> pa.Schema:
        """The columns of files, then the partition keys in the types they had before they became folder names."""
        return pa.schema([column.field for column in self.columns])

    def to_batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, batch by batch.

        Args:
            columns: names, in the order wanted; None for all. Only these are read.

        Raises:
            ConfigError: there is no such column.
            TransientError: a file was replaced or purged since the table was opened; open it again.
            PermanentError: a file is gone or damaged.
        """
        return read_files(self.storage, self._files, self._chosen(columns))

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows as one Arrow table; see `to_batches`. A table without rows has no columns."""
        chosen = pa.schema([column.field for column in self._chosen(columns)])
        return pa.Table.from_batches(self.to_batches(columns), chosen)

    def rejects(self) -> pa.Table:
        """Return the rejected records: raw, stream, shard, position, reason, message.

        Raises:
            ConfigError: they are in a folder that was not given when the table was opened.
            TransientError, PermanentError: as `to_batches`.
        """
        columns = [TableColumn(field, field, is_key=False) for field in dump_errors([]).schema]
        own: list[TableFile] = []
        elsewhere: list[TableFile] = []
        for file in rejects_files(self.commits):
            (own if file.path.startswith(f"{REJECTS}/") else elsewhere).append(file)
        if elsewhere and self._rejects is None:
            raise ConfigError(
                f"rejected records of {self.storage.url} were written to another folder, which its manifests do not "
                "name; give it as rejects_path"
            )
        found = [*read_files(self.storage, own, columns)]
        if self._rejects is not None:
            found += read_files(self._rejects, elsewhere, columns)
        return pa.Table.from_batches(found, pa.schema([column.field for column in columns]))

    def duckdb(self, connection: DuckDBPyConnection | None = None, name: str = "gluepot") -> DuckDBPyConnection:
        """Make a view over the table's files, and no copy of them; return the view's connection.

        Args:
            connection: the connection to use; None for a new database in memory.
            name: name of the view; an existing view of that name is replaced.

        Raises:
            ConfigError: DuckDB is not installed, or the table has no columns yet.
        """
        from gluepot.tables.duck import new_view  # noqa: PLC0415  DuckDB is an extra

        return new_view(self, connection, name)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the rows to another library (Arrow's PyCapsule interface); each call reads them again."""
        reader = pa.RecordBatchReader.from_batches(self.schema, self.to_batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _chosen(self, names: Sequence[str] | None) -> Sequence[TableColumn]:
        return self.columns if names is None else choose(self.columns, names, self.storage.url)


def open_table(path: str, rejects_path: str | None = None) -> Table:
    """Return the table in a folder as it is now.

    Args:
        path: local, or `s3://bucket/prefix`.
        rejects_path: the job's rejectsPath; None if rejected records are in the table's own folder.

    Raises:
        ConfigError: nothing was ever published there.
        CheckpointError: a manifest cannot be read.
    """
    storage = open_storage(path)
    elsewhere = rejects_path is not None and canonical_url(rejects_path) != canonical_url(path)
    newest = newest_compaction(storage)  # before the manifests, so that they name all files that it replaced
    published = _live(storage)
    return Table(storage, open_storage(rejects_path) if rejects_path and elsewhere else None, published, newest)


def published_and_compacted(storage: Storage) -> tuple[Published, list[Compaction]]:
    """Return the live manifests of a table and its compactions, as they were at one moment.

    Raises:
        ConfigError: nothing was ever published there.
        CheckpointError: a manifest or a compaction's record cannot be read.
    """
    compacted = compactions(storage)  # first, as above
    return _live(storage), compacted


def _live(storage: Storage) -> Published:
    found = live(storage)
    if not found:
        raise no_table(storage)
    return found


def no_table(storage: Storage) -> ConfigError:
    """Return the error for a folder without manifests."""
    if below := tables_below(storage):
        shown = ", ".join(below[:_MOST_SHOWN]) + (", ..." if len(below) > _MOST_SHOWN else "")
        return ConfigError(f"{storage.url} contains tables and is not a table; give one of them: {shown}.")
    return ConfigError(
        f"{storage.url} is not a table: no batch was published there; check the path, or wait for a batch"
    )


def tables_below(storage: Storage) -> list[str]:
    """Return the folders below a folder that are tables, such as those that a script writes hour by hour."""
    found = (key.partition(f"/{COMMITS}/") for key in storage.list(""))
    return sorted({table for table, is_manifest, _ in found if is_manifest})
