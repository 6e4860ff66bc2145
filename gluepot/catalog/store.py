"""The Data Catalog in a SQL database. Any number of jobs may read and change it at once; no change gets lost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, delete, insert, select, update
from sqlalchemy import Table as SqlTable
from sqlalchemy.dialects import postgresql, sqlite

from gluepot.catalog import tables
from gluepot.catalog.values import Database, Partition, Table, catalog_name
from gluepot.core.clock import Clock
from gluepot.core.database import transaction
from gluepot.core.errors import ConfigError, did_you_mean

NAME = "catalog"

_ROWS_A_STATEMENT = 500


class Catalog:
    """One database. Every method is one transaction. Names of databases and tables know no upper case.

    Args:
        engine: tables are up to date, see `open_catalog`.
        clock: for time stamps.
    """

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    # -- databases

    def databases(self) -> list[Database]:
        """Return all databases, by name."""
        with self._transaction() as connection:
            return [_database(row) for row in _rows(connection, select(tables.databases).order_by("name"))]

    def database(self, name: str) -> Database:
        """Return a database.

        Raises:
            ConfigError: there is none of that name.
        """
        with self._transaction() as connection:
            return _found_database(connection, catalog_name(name))

    def add_database(self, database: Database) -> bool:
        """Add a database. If the name exists already, change nothing and return False.

        Args:
            database: with a time of its own, or 0 for now.
        """
        created_ms = database.created_ms or self._now_ms()
        row = {"name": database.name, "body": _text(database.body), "created_ms": created_ms}
        with self._transaction() as connection:
            return _insert_new(connection, tables.databases, [row]) == 1

    # -- tables

    def tables(self, database: str) -> list[Table]:
        """Return the tables of a database, by name.

        Raises:
            ConfigError: there is no such database.
        """
        with self._transaction() as connection:
            name = _found_database(connection, catalog_name(database)).name
            query = select(tables.tables).where(tables.tables.c.database == name).order_by("name")
            return [_table(row) for row in _rows(connection, query)]

    def table(self, database: str, name: str) -> Table:
        """Return a table.

        Raises:
            ConfigError: there is no such database or table.
        """
        with self._transaction() as connection:
            return _found_table(connection, database, name)

    def find_table(self, database: str, name: str) -> Table | None:
        """Return a table; None if the database has no table of that name.

        Raises:
            ConfigError: there is no such database.
        """
        with self._transaction() as connection:
            _found_database(connection, catalog_name(database))
            return _maybe_table(connection, database, name)

    def add_table(self, table: Table) -> bool:
        """Add a table. If the name exists already, change nothing and return False.

        Raises:
            ConfigError: there is no such database.
        """
        with self._transaction() as connection:
            _found_database(connection, table.database)
            now_ms = self._now_ms()
            row = {
                "database": table.database,
                "name": table.name,
                "version": 0,
                "body": _text(table.body),
                "created_ms": table.created_ms or now_ms,
                "updated_ms": table.updated_ms or table.created_ms or now_ms,
            }
            return _insert_new(connection, tables.tables, [row]) == 1

    def change_table(self, database: str, name: str, change: Callable[[Table], Table]) -> Table:
        """Replace a table by the result of `change`, and keep the version before.

        Args:
            database: of the table.
            name: of the table.
            change: sees the newest version, which nobody else changes meanwhile. Equal content is no change.

        Returns:
            The table as it is now.

        Raises:
            ConfigError: there is no such database or table.
        """
        with self._transaction() as connection:
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
            connection.execute(insert(tables.versions).values(old))
            after = replace(before, body=wanted.body, version=before.version + 1, updated_ms=self._now_ms())
            changed = {"body": _text(after.body), "version": after.version, "updated_ms": after.updated_ms}
            connection.execute(update(tables.tables).where(_is_table(tables.tables, before)).values(changed))
            return after

    def table_versions(self, database: str, name: str) -> list[Table]:
        """Return every version of a table, newest first.

        Raises:
            ConfigError: there is no such database or table.
        """
        with self._transaction() as connection:
            newest = _found_table(connection, database, name)
            query = select(tables.versions).where(_is_table(tables.versions, newest))
            older = _rows(connection, query.order_by(tables.versions.c.version.desc()))
            return [newest, *map(_table, older)]

    # -- partitions

    def partitions(self, table: Table) -> list[Partition]:
        """Return the partitions of a table, by their values."""
        query = select(tables.partitions).where(_is_table(tables.partitions, table))
        with self._transaction() as connection:
            found = [_partition(row) for row in _rows(connection, query)]
        return sorted(found, key=lambda one: one.values)

    def add_partitions(self, table: Table, partitions: Iterable[Partition]) -> int:
        """Add the partitions that do not exist yet; return their number.

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
        now_ms = self._now_ms()
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
            return _insert_new(connection, tables.partitions, rows)

    def drop_partitions(self, table: Table, values: Sequence[tuple[str, ...]]) -> None:
        """Remove partitions; ignore missing ones. Files are not touched."""
        digests = list(map(_digest, values))
        with self._transaction() as connection:
            for first in range(0, len(digests), _ROWS_A_STATEMENT):
                some = tables.partitions.c.digest.in_(digests[first : first + _ROWS_A_STATEMENT])
                connection.execute(delete(tables.partitions).where(_is_table(tables.partitions, table), some))

    def _now_ms(self) -> int:
        return int(self._clock.epoch() * 1000)

    def _transaction(self) -> AbstractContextManager[Connection]:
        return transaction(self._engine, NAME)


def _found_database(connection: Connection, name: str) -> Database:
    rows = _rows(connection, select(tables.databases).where(tables.databases.c.name == name))
    if rows:
        return _database(rows[0])
    known = [str(one) for one in connection.execute(select(tables.databases.c.name).order_by("name")).scalars()]
    raise ConfigError(
        f"The catalog has no database {name!r}; it has {', '.join(known) or 'none'}.{did_you_mean(name, known)}"
        " `gluepot catalog import` reads one in."
    )


def _found_table(connection: Connection, database: str, name: str) -> Table:
    """Return a table, locked until the transaction ends."""
    if found := _maybe_table(connection, database, name):
        return found
    where = _found_database(connection, catalog_name(database)).name
    names = select(tables.tables.c.name).where(tables.tables.c.database == where).order_by("name")
    known = [str(one) for one in connection.execute(names).scalars()]
    raise ConfigError(
        f"The database {where!r} has no table {name!r}; it has {', '.join(known) or 'none'}."
        f"{did_you_mean(name, known)} `gluepot catalog import` reads one in."
    )


def _maybe_table(connection: Connection, database: str, name: str) -> Table | None:
    wanted = Table(catalog_name(database), catalog_name(name), {})
    query = select(tables.tables).where(_is_table(tables.tables, wanted)).with_for_update()
    rows = _rows(connection, query)
    return _table(rows[0]) if rows else None


def _is_table(sql: SqlTable, table: Table) -> ColumnElement[bool]:
    return (sql.c.database == table.database) & (sql.c.name == table.name)


def _insert_new(connection: Connection, sql: SqlTable, rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert the rows whose keys do not exist yet; return their number."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    added = 0
    for first in range(0, len(rows), _ROWS_A_STATEMENT):
        some = dialect.insert(sql).values(rows[first : first + _ROWS_A_STATEMENT])
        done = connection.execute(some.on_conflict_do_nothing().returning(sql.c.created_ms))
        added += len(done.all())
    return added


def _database(row: RowMapping) -> Database:
    return Database(row["name"], json.loads(row["body"]), row["created_ms"])


def _table(row: RowMapping) -> Table:
    return Table(
        row["database"], row["name"], json.loads(row["body"]), row["version"], row["created_ms"], row["updated_ms"]
    )


def _partition(row: RowMapping) -> Partition:
    return Partition(tuple(json.loads(row["partition_values"])), json.loads(row["body"]), row["created_ms"])


def _digest(values: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()


def _text(body: object) -> str:
    return json.dumps(body)  # in ASCII: no database takes all of what JSON can hold


def _rows(connection: Connection, query: Any) -> Sequence[RowMapping]:
    return connection.execute(query).mappings().all()
