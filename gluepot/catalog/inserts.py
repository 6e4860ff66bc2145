"""Inserts rows into the catalog's tables beside others who insert the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

ROWS_A_STATEMENT = 500


def insert_new(connection: Connection, sql: Table, rows: Sequence[Mapping[str, Any]], key: Column[str]) -> list[str]:
    """Insert the rows whose keys do not exist yet; return their values of one column."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    added: list[str] = []
    for first in range(0, len(rows), ROWS_A_STATEMENT):
        some = dialect.insert(sql).values(rows[first : first + ROWS_A_STATEMENT])
        added += connection.execute(some.on_conflict_do_nothing().returning(key)).scalars()
    return added
