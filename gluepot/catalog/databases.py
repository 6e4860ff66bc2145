"""Catalog tables that stand for a table in a database, as Glue's crawlers create them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.catalog.values import Table
from gluepot.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class DatabaseRead:
    """A read or a write of a table in a database.

    Args:
        kind: the `connection_type` that reads and writes it.
        options: its `connection_options`; the connection is named, not followed.
    """

    kind: str
    options: Mapping[str, Any]


def is_of_database(table: Table) -> bool:
    """Return whether a table stands for one in a database, which it does if it names a connection."""
    return "connectionName" in table.parameters


def database_read(table: Table, options: Mapping[str, Any]) -> DatabaseRead:
    """Return how a table is read, and written.

    Args:
        table: one that `is_of_database`; its location is `database.schema.table`, or `database.table`.
        options: `additional_options`; they override the table's own.

    Raises:
        ConfigError: the location names no table.
    """
    database, dot, name = table.storage.location.partition(".")
    if not dot or not name:
        raise ConfigError(
            f"The table {table.title} has the location {table.storage.location!r}; write database.schema.table."
        )
    told = {
        "useConnectionProperties": "true",
        "connectionName": table.parameters["connectionName"],
        "database": database,
        "dbtable": name,
    }
    return DatabaseRead(table.parameters.get("classification", "jdbc").lower(), {**told, **options})
