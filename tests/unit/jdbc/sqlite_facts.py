"""A table in SQLite as a database that planning asks, and that plans are read from."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from gluepot.connectors.jdbc.keys import Family, Key, KeyColumn, Row
from gluepot.connectors.jdbc.plan import JdbcPlan
from gluepot.connectors.jdbc.sql import Sql

DAY_AND_ID = (KeyColumn("day", "INTEGER", Family.NUMBER), KeyColumn("id", "INTEGER", Family.NUMBER))


def empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE t (day INTEGER, id INTEGER)")
    return connection


@dataclass
class SqliteFacts:
    connection: sqlite3.Connection = field(default_factory=empty)

    def insert(self, *rows: tuple[int | None, int | None]) -> None:
        self.connection.executemany("INSERT INTO t VALUES (?, ?)", rows)

    def quoted(self, names: Sequence[str]) -> list[str]:
        return [f'"{name}"' for name in names]

    def newest(self, key: Key, where: Sql) -> Row | None:
        names = self.quoted(key.names)
        order = ", ".join(f"{name} {'ASC' if key.descending else 'DESC'}" for name in names)
        conditions = [f"{name} IS NOT NULL" for name in names] + ([_text(where)] if where.parts else [])
        found = self._rows(f"SELECT {', '.join(names)} FROM t WHERE {' AND '.join(conditions)} ORDER BY {order}", where)
        return tuple(map(str, found[0])) if found else None

    def count(self, where: Sql) -> int:
        return self._rows(f"SELECT count(*) FROM t WHERE {_text(where)}", where)[0][0]

    def keys(self, key: Key, where: Sql) -> list[tuple[Row, int]]:
        names = ", ".join(self.quoted(key.names))
        rows = self._rows(f"SELECT {names}, count(*) FROM t WHERE {_text(where)} GROUP BY {names}", where)
        return [(tuple(map(str, row[:-1])), row[-1]) for row in rows]

    def read(self, plan: JdbcPlan, cuts: Sequence[Sql] = ()) -> list[tuple[int, int]]:
        """The rows of a plan, as its queries give them, sorted."""
        conditions = list(plan.conditions(self.quoted(plan.key.names), cuts))
        return sorted(
            row for where in conditions for row in self._rows(f"SELECT day, id FROM t WHERE {_text(where)}", where)
        )

    def _rows(self, statement: str, where: Sql) -> list[tuple]:
        return self.connection.execute(statement, [bound.text for bound in where.bounds]).fetchall()


def _text(where: Sql) -> str:
    return where.render(lambda _, bound: f"CAST(? AS {bound.type})")
