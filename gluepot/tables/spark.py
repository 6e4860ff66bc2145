"""Makes tables a Spark data source: `spark.read.format("gluepot").load(path)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from gluepot.connectors.streams.python_sources import is_registered
from gluepot.connectors.streams.python_sources import register as register_source
from gluepot.core.errors import ConfigError
from gluepot.core.storage import Storage
from gluepot.engine import spark_types
from gluepot.tables.columns import TableColumn, choose, in_columns
from gluepot.tables.files import TableFile, packs
from gluepot.tables.filters import expression
from gluepot.tables.reading import read_files
from gluepot.tables.table import open_table

FORMAT = "gluepot"

# Spark's own spark.sql.files.maxPartitionBytes, on which the size of tasks in other file reads is based.
_TASK_BYTES = 128 << 20
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def register(spark: SparkSession) -> None:
    """Register `spark.read.format("gluepot")` in a session and make the session active."""
    # Spark 4.1 turns this off by default, and then a reader that accepts filters fails. It is set first, because
    # another thread of the script reads tables as soon as the source is registered.
    if not is_registered(spark, TableDataSource):
        spark.conf.set(_PUSHDOWN, "true")
    register_source(spark, TableDataSource)


@dataclass(frozen=True)
class _Seen:
    """The part of a table that tasks need. To send the manifests would take several times as many bytes."""

    storage: Storage
    files: Sequence[TableFile]
    columns: Sequence[TableColumn]


class TableDataSource(DataSource):
    """A table as it was at `load`, when Spark asks for the schema and this instance opens the table.

    The option `path` is the argument of `load`. A schema of the user (`spark.read.schema("id BIGINT")`) selects the
    columns to read.
    """

    _seen: _Seen | None = None

    @classmethod
    def name(cls) -> str:  # noqa: D102
        return FORMAT

    def schema(self) -> StructType:  # noqa: D102
        return spark_schema(self._look().columns)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: D102
        seen = self._look()
        return TableReader(seen.storage, seen.files, _wanted(seen, schema))

    def _look(self) -> _Seen:
        if self._seen is None:
            if "path" not in self.options:
                raise ConfigError('no path is given; write spark.read.format("gluepot").load("s3://bucket/table")')
            table = open_table(self.options["path"])
            self._seen = _Seen(table.storage, table.files(), table.columns)
        return self._seen


@dataclass(frozen=True)
class FilesPartition(InputPartition):
    """One task's files."""

    files: Sequence[TableFile]


class TableReader(DataSourceReader):
    """Plans tasks of whole files, in Spark's process for planning, and reads them in the workers.

    Spark 4.1 does not tell a Python reader which columns a query needs; all of `columns` are read.
    """

    def __init__(self, storage: Storage, files: Sequence[TableFile], columns: Sequence[TableColumn]) -> None:
        self._storage = storage
        self._files = files
        self._columns = columns
        self._filters: list[Filter] = []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Keep the filters that Arrow applies exactly as Spark does; yield the others, for Spark to apply."""
        schema = pa.schema([column.field for column in self._columns])
        for one in filters:
            if expression(one, schema) is None:
                yield one
            else:
                self._filters.append(one)

    def partitions(self) -> list[InputPartition]:
        """Return one partition for each task, without files whose folder names show that no row passes the filters."""
        return [FilesPartition(pack) for pack in packs(self._passing(), _TASK_BYTES)]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Read a task's files. If there are no partitions, Spark makes one task without a partition."""
        files = partition.files if isinstance(partition, FilesPartition) else ()
        return self._filtered(read_files(self._storage, files, self._columns), self._columns)

    def _passing(self) -> Iterator[TableFile]:
        keys = [column for column in self._columns if column.is_key]
        one_row = pa.RecordBatch.from_pydict({"": [None]})
        passes: dict[tuple[object, ...], bool] = {}
        for file in self._files:
            folder = file.path.rpartition("/")[0], *file.instants.items()
            if folder not in passes:
                rows = in_columns(one_row, file.partition, keys, file.instants)
                passes[folder] = any(batch.num_rows for batch in self._filtered([rows], keys))
            if passes[folder]:
                yield file

    def _filtered(self, batches: Iterable[pa.RecordBatch], columns: Sequence[TableColumn]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([column.field for column in columns])
        # Filters on other columns have no expression here and are ignored.
        tests = [test for one in self._filters if (test := expression(one, schema)) is not None]
        for batch in batches:
            yield reduce(pa.RecordBatch.filter, tests, batch)


def spark_schema(columns: Sequence[TableColumn]) -> StructType:
    """Return the columns in Spark's types."""
    return spark_types.spark_schema(pa.schema([column.field for column in columns]))


def _wanted(seen: _Seen, schema: StructType) -> Sequence[TableColumn]:
    """Return the columns that Spark asks for: all, or those that the user named.

    Raises:
        ConfigError: the table has no such column, or the column has another type.
    """
    chosen = choose(seen.columns, schema.names, seen.storage.url)
    for asked, have in zip(schema, spark_schema(chosen), strict=True):
        if asked.dataType != have.dataType:
            raise ConfigError(
                f"column {asked.name!r} of {seen.storage.url} is {have.dataType.simpleString()}, not "
                f"{asked.dataType.simpleString()} as the given schema says; name it as it is and cast it afterwards"
            )
    return chosen
