"""What the stores of the service's things have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table, insert, update


def save_named(connection: Connection, table: Table, name: str, row: Mapping[str, Any]) -> None:
    """Save a row, in the place of one of the same name.

    Args:
        connection: of the transaction.
        table: has the column `name` as its key.
        name: the row's name.
        row: all other columns.
    """
    if not connection.execute(update(table).where(table.c.name == name).values(row)).rowcount:
        connection.execute(insert(table).values(name=name, **row))
