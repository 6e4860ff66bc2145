"""Catalog tables that stand for a table in a database, as Glue's crawlers create them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.catalog.values import Table
from gluepot.core.errors import ConfigError

_DYNAMODB = "dynamodb"
_OF_DOCUMENTS = ("mongodb", "documentdb")


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
    """Return whether a table stands for one in a database: if it names a connection, or is one of DynamoDB."""
    return "connectionName" in table.parameters or _is_of_dynamodb(table)


def connection_of(table: Table) -> str:
    """Return the name of the connection of a table in a database; empty for DynamoDB, which needs none."""
    return table.parameters.get("connectionName", "")


def _is_of_dynamodb(table: Table) -> bool:
    return table.parameters.get("classification", "").lower() == _DYNAMODB


def database_read(table: Table, options: Mapping[str, Any], *, writes: bool = False) -> DatabaseRead:
    """Return how a table is read or written.

    Args:
        table: one that `is_of_database`; its location is `database.schema.table`, or `database.table`, of MongoDB
            `database.collection`, or the ARN of a table of DynamoDB.
        options: `additional_options`; they override the table's own.
        writes: whether it is written.

    Raises:
        ConfigError: the location names no table.
    """
    if _is_of_dynamodb(table):
        option = "dynamodb.output.tableName" if writes else "dynamodb.input.tableName"
        return DatabaseRead(_DYNAMODB, {option: table.storage.location, **options})
    database, dot, name = table.storage.location.partition(".")
    if not dot or not name:
        raise ConfigError(
            f"The table {table.title} has the location {table.storage.location!r}; write database.schema.table."
        )
    kind = table.parameters.get("classification", "jdbc").lower()
    told = {
        **({} if kind in _OF_DOCUMENTS else {"useConnectionProperties": "true"}),
        "connectionName": connection_of(table),
        "database": database,
        "collection" if kind in _OF_DOCUMENTS else "dbtable": name,
    }
    return DatabaseRead(kind, {**told, **options})
