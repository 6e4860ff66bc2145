"""Spark's catalog API, answered from the Data Catalog.

The JVM calls the methods of `DataCatalog` through its gateway to Python. Spark checks names before it calls them, so
they rarely fail; where one does, Spark reports its message as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gluepot.catalog.values import Database, Partition, Table, catalog_name
from gluepot.connectors.files.partition_folders import partition_path
from gluepot.core.errors import ConfigError
from gluepot.tables.sql_catalog.descriptions import MANAGED, VIEW, SparkTable, glue_table, is_of_spark, spark_table
from gluepot.tables.sql_catalog.json_names import first_records, spelled

if TYPE_CHECKING:
    from gluepot.catalog.store import Catalog
    from gluepot.tables.sql_catalog.java_values import JavaValues

DEFAULT = "default"
"""The database of names without one. As in Glue, it is there from the first use on."""


class DataCatalog:
    """An `org.apache.spark.sql.catalyst.catalog.ExternalCatalog` over the Data Catalog.

    Functions that SQL creates are kept by Spark's own catalog, for the run.

    Args:
        java: makes and reads Java objects.
        own: Spark's own catalog.
        warehouse: URL of the folder for databases without a location.
        find: opens the Data Catalog, when the first name is looked up.
    """

    class Java:
        """Tells py4j which interface this class implements."""

        implements = ("org.apache.spark.sql.catalyst.catalog.ExternalCatalog",)

    def __init__(self, java: JavaValues, own: Any, warehouse: str, find: Callable[[], Catalog]) -> None:
        self._java = java
        self._own = own
        self._warehouse = warehouse.rstrip("/")
        self._find = find
        self._made: dict[tuple[str, str], tuple[Table, Any]] = {}

    # -- databases

    def databaseExists(self, db: str) -> bool:
        return db == DEFAULT or self._database(db) is not None

    def getDatabase(self, db: str) -> Any:
        found = self._database(db) or (Database(DEFAULT) if db == DEFAULT else self._find().database(db))
        return self._java.database(found, self._default_location(found.name))

    def listDatabases(self, pattern: str = "*") -> Any:
        names = {DEFAULT, *(one.name for one in self._find().databases())}
        return self._java.seq(matching(names, pattern))

    def setCurrentDatabase(self, db: str) -> None:
        pass  # Spark's sessions remember it

    def createDatabase(self, definition: Any, ignore_if_exists: bool) -> None:
        database = self._java.read_database(definition)
        if not self._find().add_database(database) and not ignore_if_exists:
            raise ConfigError(f"The database {database.name} exists already.")

    def alterDatabase(self, definition: Any) -> None:
        wanted = self._java.read_database(definition)
        self._existing(wanted.name)
        self._find().change_database(wanted)

    def dropDatabase(self, db: str, ignore_if_not_exists: bool, cascade: bool) -> None:
        catalog = self._find()
        if self._database(db) is None and ignore_if_not_exists:
            return
        held = catalog.tables(catalog_name(db))
        if held and not cascade:
            raise ConfigError(
                f"The database {db} holds {len(held)} tables; drop them, or use DROP DATABASE ... CASCADE."
            )
        for table in held:
            self._delete_files(spark_table(table))
        catalog.drop_database(db)

    # -- tables

    def tableExists(self, db: str, table: str) -> bool:
        return self._table(db, table) is not None

    def getTable(self, db: str, table: str) -> Any:
        found = self._find().table(db, table)
        described = spark_table(found)
        if described.provider == "json" and not is_of_spark(found):
            named = spelled(described.schema, first_records(described.location))
            return self._java.table(replace(described, schema=named))
        kept = self._made.get((found.database, found.name))
        if kept is None or kept[0] != found:
            kept = found, self._java.table(described)
            self._made[found.database, found.name] = kept
        return kept[1]

    def getTablesByName(self, db: str, tables: Any) -> Any:
        names = self._java.texts(tables)
        return self._java.seq(self.getTable(db, name) for name in names if self.tableExists(db, name))

    def listTables(self, db: str, pattern: str = "*") -> Any:
        return self._java.seq(matching((one.name for one in self._tables(db)), pattern))

    def listViews(self, db: str, pattern: str) -> Any:
        views = (one.name for one in self._tables(db) if spark_table(one).kind == VIEW)
        return self._java.seq(matching(views, pattern))

    def createTable(self, definition: Any, ignore_if_exists: bool) -> None:
        wanted = self._java.read_table(definition)
        if wanted.kind == MANAGED and not wanted.location:
            wanted = replace(wanted, location=f"{self._location(wanted.database)}/{wanted.name}")
            self._java.make_folder(wanted.location)
        self._existing(wanted.database)
        if not self._find().add_table(glue_table(wanted)) and not ignore_if_exists:
            raise ConfigError(f"The table {wanted.database}.{wanted.name} exists already.")

    def dropTable(self, db: str, table: str, ignore_if_not_exists: bool, purge: bool) -> None:
        found = self._table(db, table)
        if found is None and ignore_if_not_exists:
            return
        self._find().drop_table(db, table)
        if found is not None:
            self._delete_files(spark_table(found))

    def renameTable(self, db: str, old_name: str, new_name: str) -> None:
        """Give a table another name. Its folder keeps its name."""
        catalog = self._find()
        before = catalog.table(db, old_name)
        after = replace(before, name=catalog_name(new_name))
        if not catalog.add_table(after):
            raise ConfigError(f"The table {after.title} exists already.")
        catalog.add_partitions(after, catalog.partitions(before))
        catalog.drop_table(db, old_name)

    def alterTable(self, definition: Any) -> None:
        wanted = self._java.read_table(definition)
        self._change(wanted.database, wanted.name, lambda _: wanted)

    def alterTableSchema(self, db: str, table: str, schema: Any) -> None:
        columns = self._java.read_schema(schema)
        self._change(db, table, lambda before: replace(before, schema=columns))

    def alterTableDataSchema(self, db: str, table: str, schema: Any) -> None:
        columns = self._java.read_schema(schema)

        def changed(before: SparkTable) -> SparkTable:
            keys = [one for one in before.schema if one.name in before.partition_columns]
            return replace(before, schema=type(columns)([*columns.fields, *keys]))

        self._change(db, table, changed)

    def alterTableStats(self, db: str, table: str, stats: Any) -> None:
        """Keep no statistics: they would be wrong as soon as a job of Glue's writes."""

    # -- partitions

    def createPartitions(self, db: str, table: str, partitions: Any, ignore_if_exists: bool) -> None:
        found, described = self._described(db, table)
        wanted = self._read_partitions(found, described, partitions)
        added = self._find().add_partitions(found, wanted)
        if added < len(wanted) and not ignore_if_exists:
            raise ConfigError(f"{len(wanted) - added} of the partitions of {found.title} exist already.")

    def dropPartitions(
        self,
        db: str,
        table: str,
        specs: Any,
        ignore_if_not_exists: bool,
        purge: bool,
        retain_data: bool,
    ) -> None:
        found, described = self._described(db, table)
        values = [self._values(described, spec) for spec in self._java.objects(specs)]
        before = self._find().find_partitions(found, values)
        self._find().drop_partitions(found, values)
        if described.kind == MANAGED and not retain_data:
            for one in before.values():
                self._java.delete_folder(one.location)

    def alterPartitions(self, db: str, table: str, partitions: Any) -> None:
        found, described = self._described(db, table)
        self._find().change_partitions(found, self._read_partitions(found, described, partitions))

    def renamePartitions(self, db: str, table: str, specs: Any, new_specs: Any) -> None:
        """Give partitions other values. Their folders keep their names."""
        found, described = self._described(db, table)
        old = [self._values(described, spec) for spec in self._java.objects(specs)]
        new = [self._values(described, spec) for spec in self._java.objects(new_specs)]
        before = self._find().find_partitions(found, old)
        self._find().add_partitions(
            found, [replace(before[was], values=now) for was, now in zip(old, new, strict=True) if was in before]
        )
        self._find().drop_partitions(found, old)

    def getPartition(self, db: str, table: str, spec: Any) -> Any:
        return self.getPartitionOption(db, table, spec).get()

    def getPartitionOption(self, db: str, table: str, spec: Any) -> Any:
        found, described = self._described(db, table)
        partition = next(iter(self._find().find_partitions(found, [self._values(described, spec)]).values()), None)
        return self._java.option(partition and self._java.partition(described, partition))

    def listPartitionNames(self, db: str, table: str, spec: Any) -> Any:
        _, described = self._described(db, table)
        found = self._partitions(db, table, spec)
        return self._java.seq(sorted(partition_path(described.partition_columns, one.values) for one in found))

    def listPartitions(self, db: str, table: str, spec: Any) -> Any:
        _, described = self._described(db, table)
        found = self._partitions(db, table, spec)
        return self._java.seq(self._java.partition(described, one) for one in found)

    def listPartitionsByFilter(self, db: str, table: str, predicates: Any, time_zone: str) -> Any:
        every = self.listPartitions(db, table, self._java.option(None))
        prune = self._java.jvm.org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils.prunePartitionsByFilter
        return prune(self.getTable(db, table), every, predicates, time_zone)

    # -- functions

    def functionExists(self, db: str, name: str) -> bool:
        return bool(self._own.databaseExists(db) and self._own.functionExists(db, name))

    def listFunctions(self, db: str, pattern: str) -> Any:
        return self._own.listFunctions(db, pattern) if self._own.databaseExists(db) else self._java.seq(())

    def createFunction(self, db: str, function: Any) -> None:
        self._own.createDatabase(self.getDatabase(db), True)
        self._own.createFunction(db, function)

    def __getattr__(self, name: str) -> Any:
        """Return further methods: those of functions are Spark's, the others need Hive."""
        if name in {"getFunction", "alterFunction", "dropFunction", "renameFunction"}:
            return getattr(self._own, name)
        if name in {"loadTable", "loadPartition", "loadDynamicPartitions"}:
            raise ConfigError(
                f"{name} is for tables in formats of Hive; create the table with USING parquet, for example."
            )
        raise AttributeError(name)

    # -- what the methods share

    def _database(self, name: str) -> Database | None:
        from gluepot.catalog.store import NotInCatalog  # noqa: PLC0415  SQLAlchemy takes half a second to load

        try:
            return self._find().database(name)
        except NotInCatalog:
            return None

    def _existing(self, name: str) -> None:
        """Add the default database if it is the one that is needed."""
        if name == DEFAULT:
            self._find().add_database(Database(DEFAULT, {"LocationUri": self._warehouse}))

    def _location(self, name: str) -> str:
        found = self._database(name)
        return str((found.body.get("LocationUri") if found else "") or self._default_location(name)).rstrip("/")

    def _default_location(self, name: str) -> str:
        return self._warehouse if name == DEFAULT else f"{self._warehouse}/{name}.db"

    def _tables(self, db: str) -> Sequence[Table]:
        return () if self._database(db) is None else self._find().tables(catalog_name(db))

    def _table(self, db: str, name: str) -> Table | None:
        return None if self._database(db) is None else self._find().find_table(db, name)

    def _described(self, db: str, name: str) -> tuple[Table, SparkTable]:
        found = self._find().table(db, name)
        return found, spark_table(found)

    def _change(self, db: str, name: str, change: Callable[[SparkTable], SparkTable]) -> None:
        self._find().change_table(db, name, lambda before: glue_table(change(spark_table(before)), before.body))

    def _delete_files(self, table: SparkTable) -> None:
        """Delete the folder of a table that is dropped, if Spark chose the folder."""
        if table.kind == MANAGED and table.location:
            self._java.delete_folder(table.location)

    def _partitions(self, db: str, name: str, spec: Any) -> list[Partition]:
        found, described = self._described(db, name)
        wanted = {} if spec is None or spec.isEmpty() else self._java.mapping(spec.get())
        places = [(described.partition_columns.index(key), value) for key, value in wanted.items()]
        every = self._find().partitions(found)
        return [one for one in every if all(one.values[at] == value for at, value in places)]

    def _read_partitions(self, table: Table, described: SparkTable, partitions: Any) -> list[Partition]:
        names = described.partition_columns
        read = []
        for one in self._java.objects(partitions):
            values = self._values(described, one.spec())
            folder = f"{described.location}/{partition_path(names, values)}"
            read.append(self._java.read_partition(table, names, one, folder))
        return read

    def _values(self, table: SparkTable, spec: Any) -> tuple[str, ...]:
        given = {name.lower(): value for name, value in self._java.mapping(spec).items()}
        return tuple(given[name.lower()] for name in table.partition_columns)


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """Return the names that fit a pattern of SHOW, in order: `*` is any text, `|` separates patterns."""
    parts = [".*".join(map(re.escape, one.strip().split("*"))) for one in pattern.split("|")]
    fits = re.compile("|".join(f"(?:{one})" for one in parts), re.IGNORECASE)
    return sorted(name for name in names if fits.fullmatch(name))
