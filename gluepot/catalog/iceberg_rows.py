"""Iceberg's JDBC catalog beside the entries of the Data Catalog, in the same database.

Jobs change the rows of Iceberg's catalog without us. So whoever reads the Data Catalog first brings the entries up to
date; an entry that a client of the API changes takes its row along, in the same transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, or_, select, update

from gluepot.catalog import tables
from gluepot.catalog.iceberg_entries import (
    GLUE_CATALOG,
    LOCATION,
    Differences,
    Linked,
    Pointer,
    differences,
    entry,
    is_iceberg,
    metadata_of,
)
from gluepot.catalog.inserts import insert_new
from gluepot.catalog.values import Table
from gluepot.core.errors import ConfigError, TransientError
from gluepot.core.logging import get_logger
from gluepot.core.storage import open_storage

log = get_logger(__name__)

_ICE, _SPACES, _OURS = tables.iceberg_tables, tables.iceberg_namespaces, tables.tables
_NO_VIEW = or_(_ICE.c.iceberg_type == "TABLE", _ICE.c.iceberg_type.is_(None))
_EXISTS = {"property_key": "exists", "property_value": "true"}


class ChangedMeanwhile(ConfigError):
    """A job has committed to a table of Iceberg since the client read its entry."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """What jobs have changed since somebody last looked.

    Args:
        entries: the entries that differ.
        new_databases: namespaces without a database.
        dropped_databases: databases without a table, whose namespaces were dropped.
        kept_databases: databases with tables, whose namespaces were dropped.
    """

    entries: Differences
    new_databases: Sequence[str] = ()
    dropped_databases: Sequence[str] = ()
    kept_databases: Sequence[str] = ()

    def __bool__(self) -> bool:
        databases = (self.new_databases, self.dropped_databases, self.kept_databases)
        return any((self.entries.changed, self.entries.gone, *databases))


def outdated(connection: Connection, database: str, name: str) -> Outdated:
    """Compare the Data Catalog with Iceberg's.

    Args:
        connection: in a transaction.
        database: the only one to look at; empty looks at all.
        name: the only table to look at; empty looks at all tables.
    """
    rows = select(_ICE).where(_NO_VIEW, *_within(_ICE.c.table_namespace, _ICE.c.table_name, database, name))
    pointers = [Pointer(one[0], one[1], one[2], one[3] or "", one[4] or "") for one in connection.execute(rows)]
    place = _within(_OURS.c.database, _OURS.c.name, database, name)
    following = select(_OURS.c.database, _OURS.c.name, _OURS.c.iceberg_catalog, _OURS.c.metadata_location)
    linked = {
        (one[0], one[1]): Linked(one[2], one[3], is_iceberg=True)
        for one in connection.execute(following.where(_OURS.c.iceberg_catalog.is_not(None), *place))
    }
    same_name = (_ICE.c.table_namespace == _OURS.c.database) & (_ICE.c.table_name == _OURS.c.name)
    others = select(_OURS.c.database, _OURS.c.name, _OURS.c.body).join(_ICE, same_name)
    for one in connection.execute(others.where(_OURS.c.iceberg_catalog.is_(None), _NO_VIEW, *place)):
        linked[one[0], one[1]] = Linked(None, None, is_iceberg(json.loads(one[2]).get("Parameters") or {}))
    return Outdated(differences(pointers, linked), *_namespaces(connection, database, pointers))


def follow(
    connection: Connection, found: Outdated, described: Mapping[str, Mapping[str, Any] | None], now_ms: int
) -> list[Table]:
    """Bring databases and entries up to date. What has changed again meanwhile is left for the next time.

    Args:
        connection: in a transaction.
        found: the differences.
        described: the contents of the metadata files of the rows that have changed, by URL; None for a file that
            cannot be read.
        now_ms: milliseconds since 1970.

    Returns:
        The entries that the caller has to drop, as jobs have dropped their tables.
    """
    new = [{"name": name, "body": "{}", "created_ms": now_ms} for name in found.new_databases]
    insert_new(connection, tables.databases, new, tables.databases.c.name)
    for name in found.kept_databases:
        add_namespace(connection, GLUE_CATALOG, name)
    for name in found.dropped_databases:
        if not _has_namespace(connection, name):
            connection.execute(delete(tables.databases).where(tables.databases.c.name == name))
    for pointer in found.entries.changed:
        if connection.execute(select(_ICE.c.table_name).where(_is_pointer(pointer))).first():
            _follow_row(connection, pointer, described.get(pointer.location), now_ms)
    return [
        Table(database, name, {}) for database, name in found.entries.gone if not _has_row(connection, database, name)
    ]


def descriptions(pointers: Iterable[Pointer]) -> dict[str, Mapping[str, Any] | None]:
    """Read metadata files: their contents by URL. A file that cannot be read is logged, and has None."""
    return {one.location: _description(one.location) for one in pointers}


@lru_cache(maxsize=256)  # a metadata file never changes
def _description(url: str) -> Mapping[str, Any] | None:
    folder, _, name = url.rpartition("/")
    try:
        return metadata_of(open_storage(folder).get(name))
    except (OSError, ValueError, ConfigError, TransientError) as error:
        log.warning("iceberg_metadata_unreadable", url=url, error=str(error))
        return None


def claim(connection: Connection, table: Table) -> dict[str, str]:
    """Give a table that a client of the API has created to jobs; return what its entry notes.

    Args:
        connection: in the transaction that adds the entry.
        table: an entry; one that is not a table of Iceberg has no row.

    Raises:
        ConfigError: its parameters have no URL of a metadata file.
        ChangedMeanwhile: a job has created a table of that name.
    """
    if not is_iceberg(table.parameters):
        return {}
    location = _location(table)
    row = {
        "catalog_name": GLUE_CATALOG,
        "table_namespace": table.database,
        "table_name": table.name,
        "metadata_location": location,
        "iceberg_type": "TABLE",
    }
    if _has_row(connection, table.database, table.name) or not insert_new(connection, _ICE, [row], _ICE.c.table_name):
        raise ChangedMeanwhile(f"A job has created {table.title} meanwhile; use its table, or choose another name.")
    return {"iceberg_catalog": GLUE_CATALOG, "metadata_location": location}


def move(connection: Connection, before: Table, after: Table) -> dict[str, str]:
    """Let the row of a table follow a client's change of its entry; return what the entry notes.

    Args:
        connection: in the transaction that changes the entry.
        before: the entry before.
        after: the entry as it will be.

    Raises:
        ChangedMeanwhile: a job has committed since the entry was read.
        ConfigError: the table would not be one of Iceberg any more, or would have no metadata file.
    """
    if before.iceberg_catalog is None:
        return {}
    if not is_iceberg(after.parameters):
        raise ConfigError(
            f"{before.title} is a table of Iceberg and its new definition is not; change it in Spark's catalog"
            f" {before.iceberg_catalog}, or delete it and create another table."
        )
    location, previous = _location(after), _location(before)
    if location == previous:
        return {}
    changed = update(_ICE).where(_is_row(before.iceberg_catalog, before.database, before.name), _is_at(previous))
    values = {"metadata_location": location, "previous_metadata_location": previous}
    if connection.execute(changed.values(values)).rowcount == 0:
        raise ChangedMeanwhile(f"A job has changed {before.title} meanwhile; read it again and repeat the change.")
    return {"metadata_location": location}


def release(connection: Connection, table: Table) -> None:
    """Remove the row of a table, in the transaction that drops its entry."""
    if table.iceberg_catalog is not None:
        connection.execute(delete(_ICE).where(_is_row(table.iceberg_catalog, table.database, table.name)))


def release_database(connection: Connection, database: str) -> None:
    """Remove the rows of all tables of a database and its namespaces, in the transaction that drops it."""
    connection.execute(delete(_ICE).where(_ICE.c.table_namespace == database))
    connection.execute(delete(_SPACES).where(_SPACES.c.namespace == database))


def add_namespace(connection: Connection, catalog: str, name: str) -> None:
    """Let the jobs that use a catalog create tables in a database."""
    wanted = (_SPACES.c.catalog_name == catalog) & (_SPACES.c.namespace == name)
    if connection.execute(select(_SPACES.c.namespace).where(wanted)).first() is None:
        insert_new(connection, _SPACES, [{"catalog_name": catalog, "namespace": name, **_EXISTS}], _SPACES.c.namespace)


def _follow_row(connection: Connection, pointer: Pointer, metadata: Mapping[str, Any] | None, now_ms: int) -> None:
    is_entry = (_OURS.c.database == pointer.database) & (_OURS.c.name == pointer.name)
    before = connection.execute(select(_OURS.c.body, _OURS.c.version).where(is_entry)).first()
    table = entry(pointer, metadata, json.loads(before[0]) if before else {})
    row = {
        "body": json.dumps(table.body),
        "updated_ms": now_ms,
        "iceberg_catalog": pointer.catalog,
        "metadata_location": pointer.location,
    }
    if before is not None:
        # As Iceberg's catalog for Glue does by default, a commit makes no version of its own to go back to.
        connection.execute(update(_OURS).where(is_entry).values(version=before[1] + 1, **row))
        return
    place = {"database": pointer.database, "name": pointer.name, "version": 0, "created_ms": now_ms}
    insert_new(connection, _OURS, [{**place, **row}], _OURS.c.name)  # another reader may be first


def _namespaces(
    connection: Connection, database: str, pointers: Sequence[Pointer]
) -> tuple[list[str], list[str], list[str]]:
    """Return the new databases, those that were dropped, and those that are kept for their tables."""
    of_spaces = select(_SPACES.c.namespace).where(*_within(_SPACES.c.namespace, None, database)).distinct()
    spaces = {*connection.execute(of_spaces).scalars(), *(one.database for one in pointers)}
    of_ours = select(tables.databases.c.name).where(*_within(tables.databases.c.name, None, database))
    known = set(connection.execute(of_ours).scalars())
    new = [one for one in spaces - known if Pointer("", one, "", "").is_of_glue]
    if not (lost := known - spaces):
        return sorted(new), [], []
    holding = select(_OURS.c.database).where(_OURS.c.database.in_(lost), _OURS.c.iceberg_catalog.is_(None))
    held = set(connection.execute(holding.distinct()).scalars())
    return sorted(new), sorted(lost - held), sorted(held)


def _has_namespace(connection: Connection, database: str) -> bool:
    found = select(_SPACES.c.namespace).where(_SPACES.c.namespace == database)
    return connection.execute(found).first() is not None


def _has_row(connection: Connection, database: str, name: str) -> bool:
    is_there = (_ICE.c.table_namespace == database) & (_ICE.c.table_name == name)
    return connection.execute(select(_ICE.c.table_name).where(is_there, _NO_VIEW)).first() is not None


def _within(database: Any, name: Any, wanted_database: str, wanted_name: str = "") -> list[ColumnElement[bool]]:
    conditions = [database == wanted_database] if wanted_database else []
    return [*conditions, name == wanted_name] if wanted_name else conditions


def _is_pointer(pointer: Pointer) -> ColumnElement[bool]:
    return _is_row(pointer.catalog, pointer.database, pointer.name) & _is_at(pointer.location)


def _is_row(catalog: str, database: str, name: str) -> ColumnElement[bool]:
    place = (_ICE.c.table_namespace == database) & (_ICE.c.table_name == name)
    return (_ICE.c.catalog_name == catalog) & place & _NO_VIEW


def _is_at(location: str) -> ColumnElement[bool]:
    return _ICE.c.metadata_location == location


def _location(table: Table) -> str:
    location = str(table.parameters.get(LOCATION) or "")
    if not location:
        raise ConfigError(
            f"{table.title} has the table_type ICEBERG and no {LOCATION}; give the URL of its metadata file among the"
            " parameters."
        )
    return location
