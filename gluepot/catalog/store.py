"""The Data Catalog in a SQL database. Any number of jobs may read and change it at once; no change gets lost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Engine,
    RowMapping,
    String,
    delete,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy import Table as SqlTable
from sqlalchemy import cast as sql_cast

from gluepot.catalog import iceberg_rows, tables
from gluepot.catalog.iceberg_entries import GLUE_CATALOG
from gluepot.catalog.inserts import ROWS_A_STATEMENT, insert_new
from gluepot.catalog.values import Change, Database, Entry, Partition, Table, catalog_name
from gluepot.core.clock import Clock
from gluepot.core.database import transaction
from gluepot.core.errors import ConfigError, did_you_mean

NAME = "catalog"

_ROUNDS = 3
"""How often a reader follows commits of jobs before it takes what it has."""


class NotInCatalog(ConfigError):
    """The catalog has no entry with a name.

    Args:
        kind: `Database` or `Table`.
        name: the name that nothing has.
        message: with the names that exist.
    """

    def __init__(self, kind: str, name: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.name = name


class Catalog:
    """One database. Every method is one transaction. Names of databases and tables know no upper case.

    Args:
        engine: tables are up to date, see `open_catalog`.
        clock: for time stamps.
        operation: the operation of the API that makes the changes; empty for changes that nobody tells as events.
    """

    def __init__(self, engine: Engine, clock: Clock, operation: str = "") -> None:
        self._engine = engine
        self._clock = clock
        self._operation = operation

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    # -- changes that are told as events

    def noting(self, operation: str) -> Catalog:
        """Return the same catalog, which notes its changes to databases, tables and partitions.

        A change is noted in its own transaction, so neither exists without the other.

        Args:
            operation: the operation of the API that makes the changes.
        """
        return Catalog(self._engine, self._clock, operation)

    def noted_changes(self, most: int) -> list[Change]:
        """Return changes that were noted and not forgotten yet, the oldest first."""
        query = select(tables.changes).order_by(tables.changes.c.number).limit(most)
        with self._transaction() as connection:
            return [Change(row["id"], row["at_ms"], **json.loads(row["body"])) for row in _rows(connection, query)]

    def forget_changes(self, ids: Sequence[str]) -> None:
        """Remove what was noted of changes."""
        with self._transaction() as connection:
            connection.execute(delete(tables.changes).where(tables.changes.c.id.in_(ids)))

    def _note(self, connection: Connection, database: str, table: str = "", names: Iterable[str] = ()) -> None:
        if self._operation:
            body = {"operation": self._operation, "database": database, "table": table, "names": list(names)}
            row = {"id": str(uuid4()), "body": _text(body), "at_ms": self.now_ms()}
            connection.execute(insert(tables.changes).values(row))

    @contextmanager
    def together(self) -> Iterator[Catalog]:
        """Yield a catalog of which all changes are one transaction: others see all of them or none.

        An exception undoes what was changed. Meanwhile others wait to write, so the block should only write. Commits of
        jobs to tables of Iceberg are followed before it, and not in it.
        """
        with self._current() as connection:
            yield _Together(self._engine, self._clock, self._operation, connection)

    # -- databases

    def databases(self, after: str = "", most: int | None = None) -> list[Database]:
        """Return the databases, by name.

        Args:
            after: the name that precedes the first one.
            most: the largest number of databases; None returns all.
        """
        query = select(tables.databases).where(tables.databases.c.name > after).order_by("name").limit(most)
        with self._current() as connection:
            return [_database(row) for row in _rows(connection, query)]

    def database(self, name: str) -> Database:
        """Return a database.

        Raises:
            ConfigError: there is none of that name.
        """
        with self._current(catalog_name(name)) as connection:
            return _found_database(connection, catalog_name(name))

    def add_database(self, database: Database) -> bool:
        """Add a database. If the name exists already, change nothing and return False.

        Args:
            database: with a time of its own, or 0 for now.
        """
        created_ms = database.created_ms or self.now_ms()
        row = {"name": database.name, "body": _text(database.body), "created_ms": created_ms}
        with self._current(database.name) as connection:
            added = bool(insert_new(connection, tables.databases, [row], tables.databases.c.name))
            if added:
                iceberg_rows.add_namespace(connection, GLUE_CATALOG, database.name)
                self._note(connection, database.name)
            return added

    def change_database(self, database: Database) -> None:
        """Replace what describes a database. Its tables and its time of creation stay.

        Raises:
            NotInCatalog: there is none of that name.
        """
        with self._transaction() as connection:
            _found_database(connection, database.name)
            changed = update(tables.databases).where(tables.databases.c.name == database.name)
            connection.execute(changed.values(body=_text(database.body)))

    def drop_database(self, name: str) -> None:
        """Remove a database with its tables, partitions and functions. Files are not touched.

        Raises:
            NotInCatalog: there is none of that name.
        """
        with self._current(catalog_name(name)) as connection:
            database = _found_database(connection, catalog_name(name)).name
            for sql in (tables.entries, tables.partitions, tables.versions, tables.tables):
                connection.execute(delete(sql).where(sql.c.database == database))
            connection.execute(delete(tables.databases).where(tables.databases.c.name == database))
            iceberg_rows.release_database(connection, database)
            self._note(connection, database)

    # -- tables

    def tables(self, database: str, after: str = "", most: int | None = None) -> list[Table]:
        """Return the tables of a database, by name.

        Args:
            database: of the tables.
            after: the name that precedes the first one.
            most: the largest number of tables; None returns all.

        Raises:
            NotInCatalog: there is no such database.
        """
        with self._current(catalog_name(database)) as connection:
            name = _found_database(connection, catalog_name(database)).name
            wanted = (tables.tables.c.database == name) & (tables.tables.c.name > after)
            query = select(tables.tables).where(wanted).order_by("name").limit(most)
            return [_table(row) for row in _rows(connection, query)]

    def all_tables(self) -> list[Table]:
        """Return the tables of all databases, by database and name."""
        query = select(tables.tables).order_by(tables.tables.c.database, tables.tables.c.name)
        with self._current() as connection:
            return [_table(row) for row in _rows(connection, query)]

    def table(self, database: str, name: str) -> Table:
        """Return a table.

        Raises:
            ConfigError: there is no such database or table.
        """
        with self._current(catalog_name(database), catalog_name(name)) as connection:
            return _found_table(connection, database, name)

    def find_table(self, database: str, name: str) -> Table | None:
        """Return a table; None if the database has no table of that name.

        Raises:
            ConfigError: there is no such database.
        """
        with self._current(catalog_name(database), catalog_name(name)) as connection:
            _found_database(connection, catalog_name(database))
            return _maybe_table(connection, database, name)

    def add_table(self, table: Table, entries: Sequence[Entry] = (), *, for_jobs: bool = True) -> bool:
        """Add a table. If the name exists already, change nothing and return False.

        Args:
            table: the table.
            entries: its partition indexes.
            for_jobs: whether jobs may commit to it if it is a table of Iceberg. False for the entry of a table that
                somebody else's catalog keeps.

        Raises:
            ConfigError: there is no such database, or the table is one of Iceberg without a metadata file.
        """
        with self._current(table.database, table.name) as connection:
            _found_database(connection, table.database)
            now_ms = self.now_ms()
            row = {
                "database": table.database,
                "name": table.name,
                "version": 0,
                "body": _text(table.body),
                "created_ms": table.created_ms or now_ms,
                "updated_ms": table.updated_ms or table.created_ms or now_ms,
            }
            added = bool(insert_new(connection, tables.tables, [row], tables.tables.c.name))
            if added and for_jobs and (noted := iceberg_rows.claim(connection, table)):
                connection.execute(update(tables.tables).where(_is_table(tables.tables, table)).values(noted))
            if added and entries:
                connection.execute(insert(tables.entries), [self._row(entry) for entry in entries])
            if added:
                self._note(connection, table.database, names=[table.name])
            return added

    def change_table(
        self, database: str, name: str, change: Callable[[Table], Table], *, keep_version: bool = True
    ) -> Table:
        """Replace a table by the result of `change`, and keep the version before.

        Args:
            database: of the table.
            name: of the table.
            change: sees the newest version, which nobody else changes meanwhile. Equal content is no change.
            keep_version: False discards the version before.

        Returns:
            The table as it is now.

        Raises:
            ConfigError: there is no such database or table; or a table of Iceberg would not be one any more.
            ChangedMeanwhile: a job has committed to a table of Iceberg since `change` saw it.
        """
        with self._current(catalog_name(database), catalog_name(name)) as connection:
            before = _found_table(connection, database, name)
            wanted = change(before)
            if wanted.body == before.body:
                return before
            old = {
                "database": before.database,
                "name": before.name,
                "version": before.version,
                "body": _text(before.body),
                "created_ms": before.created_ms,
                "updated_ms": before.updated_ms,
            }
            if keep_version:
                connection.execute(insert(tables.versions).values(old))
            after = replace(before, body=wanted.body, version=before.version + 1, updated_ms=self.now_ms())
            noted = iceberg_rows.move(connection, before, after)
            changed = {"body": _text(after.body), "version": after.version, "updated_ms": after.updated_ms, **noted}
            connection.execute(update(tables.tables).where(_is_table(tables.tables, before)).values(changed))
            self._note(connection, after.database, after.name)
            return after

    def table_versions(self, database: str, name: str) -> list[Table]:
        """Return every version of a table, newest first.

        Raises:
            ConfigError: there is no such database or table.
        """
        with self._current(catalog_name(database), catalog_name(name)) as connection:
            newest = _found_table(connection, database, name)
            query = select(tables.versions).where(_is_table(tables.versions, newest))
            older = _rows(connection, query.order_by(tables.versions.c.version.desc()))
            return [newest, *map(_table, older)]

    def drop_table_versions(self, table: Table, versions: Sequence[int]) -> set[int]:
        """Remove older versions of a table; return those that existed. The newest version stays."""
        sql = tables.versions
        some = delete(sql).where(_is_table(sql, table), sql.c.version.in_(versions)).returning(sql.c.version)
        with self._transaction() as connection:
            return set(connection.execute(some).scalars())

    def drop_table(self, database: str, name: str) -> None:
        """Remove a table with its versions, partitions and indexes. Files are not touched.

        Raises:
            NotInCatalog: there is no such database or table.
        """
        with self._current(catalog_name(database), catalog_name(name)) as connection:
            table = _found_table(connection, database, name)
            _drop_table(connection, table)
            self._note(connection, table.database, names=[table.name])

    def drop_tables(self, database: str, names: Iterable[str]) -> set[str]:
        """Remove tables with their versions, partitions and indexes; return those that existed, by their names.

        Raises:
            NotInCatalog: there is no such database.
        """
        with self._current(catalog_name(database)) as connection:
            _found_database(connection, catalog_name(database))
            wanted = dict.fromkeys(map(catalog_name, names))
            found = [table for one in wanted if (table := _maybe_table(connection, database, one))]
            for table in found:
                _drop_table(connection, table)
            if found:
                self._note(connection, catalog_name(database), names=[one.name for one in found])
        return {one.name for one in found}

    # -- partitions

    def partitions(self, table: Table) -> list[Partition]:
        """Return the partitions of a table, by their values."""
        query = select(tables.partitions).where(_is_table(tables.partitions, table))
        with self._transaction() as connection:
            found = [_partition(row) for row in _rows(connection, query)]
        return sorted(found, key=lambda one: one.values)

    def partitions_after(self, table: Table, after: str, most: int) -> list[tuple[str, Partition]]:
        """Return some partitions with their digests, in the order of the digests.

        Args:
            table: of the partitions.
            after: the digest that precedes the first one; an empty text begins.
            most: the largest number of partitions.
        """
        sql = tables.partitions
        query = select(sql).where(_is_table(sql, table), sql.c.digest > after).order_by(sql.c.digest).limit(most)
        with self._transaction() as connection:
            return [(row["digest"], _partition(row)) for row in _rows(connection, query)]

    def partition_locations(self, table: Table) -> list[str]:
        """Return the locations of a table's partitions, in any order; an empty text where one has none.

        The database takes them out of the bodies, which is ten times as fast as reading these, and hands them over as
        one JSON text, which halves that time again. SQLite has an index of them.
        """
        sql = tables.partitions
        gathered: ColumnElement[str]
        with self._transaction() as connection:
            if connection.dialect.name == "postgresql":
                place = sql_cast(sql.c.body, JSON)[("StorageDescriptor", "Location")].as_string()
                gathered = sql_cast(func.json_agg(place), String)
            else:  # spelled as the index is, which SQLite does not use for a path that is a parameter
                place = func.json_extract(sql.c.body, literal_column("'$.StorageDescriptor.Location'"), type_=String)
                gathered = func.json_group_array(place, type_=String)
            text = connection.scalar(select(gathered).where(_is_table(sql, table)))
        return [one or "" for one in json.loads(text or "[]")]

    def find_partitions(self, table: Table, values: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], Partition]:
        """Return the partitions that have these values; those that do not exist are left out."""
        digests = list(map(_digest, values))
        found: list[Partition] = []
        with self._transaction() as connection:
            for first in range(0, len(digests), ROWS_A_STATEMENT):
                some = tables.partitions.c.digest.in_(digests[first : first + ROWS_A_STATEMENT])
                query = select(tables.partitions).where(_is_table(tables.partitions, table), some)
                found += [_partition(row) for row in _rows(connection, query)]
        return {one.values: one for one in found}

    def add_partitions(self, table: Table, partitions: Iterable[Partition]) -> int:
        """Add the partitions that do not exist yet; return their number.

        Raises:
            ConfigError: as for `add_new_partitions`.
        """
        return len(self.add_new_partitions(table, partitions))

    def add_new_partitions(self, table: Table, partitions: Iterable[Partition]) -> list[Partition]:
        """Add the partitions that do not exist yet; return them.

        Of several with the same values, the first is added.

        Raises:
            ConfigError: the table is gone, or a partition has another number of values than the table has keys.
        """
        wanted = list(partitions)
        keys = len(table.partition_keys)
        if odd := next((one for one in wanted if len(one.values) != keys), None):
            raise ConfigError(
                f"A partition of {table.title} has the values {list(odd.values)}, the table has {keys} partition keys;"
                " give a value for each."
            )
        now_ms = self.now_ms()
        rows = [
            {
                "database": table.database,
                "name": table.name,
                "digest": _digest(one.values),
                "partition_values": _text(one.values),
                "body": _text(one.body),
                "created_ms": one.created_ms or now_ms,
            }
            for one in wanted
        ]
        with self._transaction() as connection:
            _found_table(connection, table.database, table.name)
            digests = set(insert_new(connection, tables.partitions, rows, tables.partitions.c.digest))
            firsts = {row["digest"]: one for row, one in zip(reversed(rows), reversed(wanted), strict=True)}
            added = [one for digest, one in firsts.items() if digest in digests]
            self._note_partitions(connection, table, [one.values for one in reversed(added)])
        return added

    def change_partitions(self, table: Table, partitions: Sequence[Partition]) -> set[tuple[str, ...]]:
        """Replace what describes partitions; return the values of those that exist. The others are not added."""
        changed = set()
        with self._transaction() as connection:
            for one in partitions:
                is_it = _is_table(tables.partitions, table) & (tables.partitions.c.digest == _digest(one.values))
                if connection.execute(update(tables.partitions).where(is_it).values(body=_text(one.body))).rowcount:
                    changed.add(one.values)
            self._note_partitions(connection, table, [one.values for one in partitions if one.values in changed])
        return changed

    def drop_partitions(self, table: Table, values: Sequence[tuple[str, ...]]) -> set[tuple[str, ...]]:
        """Remove partitions; return the values of those that existed. Files are not touched."""
        digests = list(map(_digest, values))
        dropped: set[tuple[str, ...]] = set()
        with self._transaction() as connection:
            for first in range(0, len(digests), ROWS_A_STATEMENT):
                some = tables.partitions.c.digest.in_(digests[first : first + ROWS_A_STATEMENT])
                wanted = delete(tables.partitions).where(_is_table(tables.partitions, table), some)
                gone = connection.execute(wanted.returning(tables.partitions.c.partition_values)).scalars()
                dropped.update(tuple(json.loads(text)) for text in gone)
            self._note_partitions(connection, table, [one for one in dict.fromkeys(values) if one in dropped])
        return dropped

    def _note_partitions(self, connection: Connection, table: Table, changed: Sequence[tuple[str, ...]]) -> None:
        if changed:
            self._note(connection, table.database, table.name, [",".join(values) for values in changed])

    # -- functions, partition indexes and connections

    def entries(self, kind: str, database: str | None = None, table: str | None = None) -> list[Entry]:
        """Return the entries of a kind, by database, table and name; those of all databases if none is given."""
        sql = tables.entries
        query = select(sql).where(sql.c.kind == kind).order_by(sql.c.database, sql.c.table_name, sql.c.name)
        if database is not None:
            query = query.where(sql.c.database == database)
        if table is not None:
            query = query.where(sql.c.table_name == table)
        with self._transaction() as connection:
            return [_entry(row) for row in _rows(connection, query)]

    def entry(self, wanted: Entry) -> Entry | None:
        """Return the entry that has the place and the name of another one; None if there is none."""
        with self._transaction() as connection:
            rows = _rows(connection, select(tables.entries).where(_is_entry(wanted)))
            return _entry(rows[0]) if rows else None

    def add_entry(self, entry: Entry) -> bool:
        """Add an entry. If the name exists already, change nothing and return False.

        Raises:
            NotInCatalog: its database or its table does not exist.
        """
        with self._transaction() as connection:
            if entry.table:
                _found_table(connection, entry.database, entry.table)
            elif entry.database:
                _found_database(connection, entry.database)
            return bool(insert_new(connection, tables.entries, [self._row(entry)], tables.entries.c.name))

    def change_entry(self, entry: Entry) -> bool:
        """Replace the content of an entry; return whether it exists."""
        changed = {"body": _text(entry.body), "updated_ms": self.now_ms()}
        with self._transaction() as connection:
            return connection.execute(update(tables.entries).where(_is_entry(entry)).values(changed)).rowcount > 0

    def drop_entry(self, entry: Entry) -> bool:
        """Remove an entry; return whether it existed."""
        with self._transaction() as connection:
            return connection.execute(delete(tables.entries).where(_is_entry(entry))).rowcount > 0

    def _row(self, entry: Entry) -> dict[str, Any]:
        now_ms = self.now_ms()
        return {
            "kind": entry.kind,
            "database": entry.database,
            "table_name": entry.table,
            "name": entry.name,
            "body": _text(entry.body),
            "created_ms": now_ms,
            "updated_ms": now_ms,
        }

    def now_ms(self) -> int:
        """Return the time that new entries get, in milliseconds since 1970."""
        return int(self._clock.epoch() * 1000)

    def add_namespaces(self, catalog: str) -> None:
        """Let the jobs that know Glue's catalog by another name create Iceberg tables in the databases there are.

        Args:
            catalog: its name in Spark's settings.
        """
        with self._current() as connection:
            for name in connection.execute(select(tables.databases.c.name)).scalars().all():
                iceberg_rows.add_namespace(connection, catalog, name)

    @contextmanager
    def _current(self, database: str = "", name: str = "") -> Iterator[Connection]:
        """Yield a connection in whose transaction the entries are as Iceberg's catalog has them (`iceberg_rows`).

        Args:
            database: the only one that matters; empty for all.
            name: the only table that matters; empty for all.
        """
        for _ in range(_ROUNDS):
            with self._transaction() as connection:
                found = iceberg_rows.outdated(connection, database, name)
                if not found:
                    yield connection
                    return
            described = iceberg_rows.descriptions(found.entries.changed)  # reads files; no transaction waits for them
            with self._transaction() as connection:
                for gone in iceberg_rows.follow(connection, found, described, self.now_ms()):
                    _drop_table(connection, gone)
        with self._transaction() as connection:  # jobs commit faster than files are read; a moment ago will do
            yield connection

    def _transaction(self) -> AbstractContextManager[Connection]:
        return transaction(self._engine, NAME)


class _Together(Catalog):
    """A catalog within a transaction that somebody else ends."""

    def __init__(self, engine: Engine, clock: Clock, operation: str, connection: Connection) -> None:
        super().__init__(engine, clock, operation)
        self._connection = connection

    def noting(self, operation: str) -> Catalog:
        """Return the same catalog, in the same transaction, which notes its changes."""
        return _Together(self._engine, self._clock, operation, self._connection)

    def _transaction(self) -> AbstractContextManager[Connection]:
        return nullcontext(self._connection)

    @contextmanager
    def _current(self, database: str = "", name: str = "") -> Iterator[Connection]:  # noqa: ARG002  see `together`
        yield self._connection


def _found_database(connection: Connection, name: str) -> Database:
    rows = _rows(connection, select(tables.databases).where(tables.databases.c.name == name))
    if rows:
        return _database(rows[0])
    known = [str(one) for one in connection.execute(select(tables.databases.c.name).order_by("name")).scalars()]
    raise NotInCatalog(
        "Database",
        name,
        f"The catalog has no database {name!r}; it has {', '.join(known) or 'none'}.{did_you_mean(name, known)}"
        " `gluepot catalog import` reads one in, and `gluepot catalog create-database` makes one.",
    )


def _found_table(connection: Connection, database: str, name: str) -> Table:
    """Return a table, locked until the transaction ends."""
    if found := _maybe_table(connection, database, name):
        return found
    where = _found_database(connection, catalog_name(database)).name
    names = select(tables.tables.c.name).where(tables.tables.c.database == where).order_by("name")
    known = [str(one) for one in connection.execute(names).scalars()]
    raise NotInCatalog(
        "Table",
        catalog_name(name),
        f"The database {where!r} has no table {name!r}; it has {', '.join(known) or 'none'}."
        f"{did_you_mean(name, known)} `gluepot catalog import` reads one in, and `gluepot catalog create-table` makes"
        " one.",
    )


def _drop_table(connection: Connection, table: Table) -> None:
    iceberg_rows.release(connection, table)
    for sql in (tables.partitions, tables.versions, tables.tables):
        connection.execute(delete(sql).where(_is_table(sql, table)))
    of_table = (tables.entries.c.database == table.database) & (tables.entries.c.table_name == table.name)
    connection.execute(delete(tables.entries).where(of_table))


def _maybe_table(connection: Connection, database: str, name: str) -> Table | None:
    wanted = Table(catalog_name(database), catalog_name(name), {})
    query = select(tables.tables).where(_is_table(tables.tables, wanted)).with_for_update()
    rows = _rows(connection, query)
    return _table(rows[0]) if rows else None


def _is_table(sql: SqlTable, table: Table) -> ColumnElement[bool]:
    return (sql.c.database == table.database) & (sql.c.name == table.name)


def _is_entry(entry: Entry) -> ColumnElement[bool]:
    sql = tables.entries
    place = (sql.c.database == entry.database) & (sql.c.table_name == entry.table)
    return (sql.c.kind == entry.kind) & place & (sql.c.name == entry.name)


def _database(row: RowMapping) -> Database:
    return Database(row["name"], json.loads(row["body"]), row["created_ms"])


def _table(row: RowMapping) -> Table:
    return Table(
        row["database"],
        row["name"],
        json.loads(row["body"]),
        row["version"],
        row["created_ms"],
        row["updated_ms"],
        row.get("iceberg_catalog"),  # versions that were replaced have none
    )


def _partition(row: RowMapping) -> Partition:
    return Partition(tuple(json.loads(row["partition_values"])), json.loads(row["body"]), row["created_ms"])


def _entry(row: RowMapping) -> Entry:
    return Entry(
        row["kind"],
        row["name"],
        json.loads(row["body"]),
        row["database"],
        row["table_name"],
        row["created_ms"],
        row["updated_ms"],
    )


def _digest(values: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()


def _text(body: object) -> str:
    return json.dumps(body)  # in ASCII: no database takes all of what JSON can hold


def _rows(connection: Connection, query: Any) -> Sequence[RowMapping]:
    return connection.execute(query).mappings().all()
