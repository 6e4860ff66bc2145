"""The tables of a job in a database, read by its own client, and what the product's own tables say of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import sql

from tests import mariadb

COMMITS, REJECTS, STAGED = "gluepot_commits", "gluepot_rejects", "gluepot_stage"

# PostgreSQL notes in each row the last 32 bits of the number of the transaction that wrote it.
OF_COMMIT = "xmin::text = (xact & 4294967295)::text"


@dataclass(frozen=True, slots=True)
class Commit:
    """What stands beside the rows of one write.

    Args:
        table: it went to.
        batch_id: of the batch.
        rows: that it wrote, by its own account.
        held: rows that its transaction has in the table.
    """

    table: str
    batch_id: int
    rows: int
    held: int


@dataclass(frozen=True)
class Database(ABC):
    """A database that one job alone writes to. In a statement, `{table}` stands for the name of a table.

    Args:
        url: of it, as a job is told.
    """

    url: str

    @abstractmethod
    def tables(self, place: str, *, several: bool) -> Sequence[str]:
        """The tables there are of a place: one of that name, or several whose names go on after it."""

    @abstractmethod
    def rows(self, table: str, *, committed: bool) -> pa.Table:
        """All rows of a table, or those alone whose write is on record."""

    @abstractmethod
    def commits(self, table: str) -> Sequence[Commit]:
        """The writes to a table that are on record."""

    @abstractmethod
    def staged(self) -> Sequence[str]:
        """The tables of rows that are not published yet."""

    @abstractmethod
    def _rows(self, asked: str, *values: object, table: str = "") -> list[tuple[Any, ...]]:
        """All rows of a statement."""

    @abstractmethod
    def _target(self, table: str) -> str:
        """How the product names a table."""

    def rejects(self, table: str) -> pa.Table:
        asked = f"SELECT raw, stream, shard, position FROM {REJECTS} WHERE target = %s"
        return self._arrow(("raw", "stream", "shard", "position"), asked, self._target(table))

    def doubled(self, table: str) -> int:
        """Records that are in a table twice at this moment; none if there is no table."""
        if not self.tables(table, several=False):
            return 0
        again = "SELECT event_id FROM {table} GROUP BY event_id HAVING count(*) > 1"
        return len(self._rows(again, table=table))

    def published(self, batch_id: int) -> bool:
        """Whether a write of a batch is on record."""
        return bool(self.tables(COMMITS, several=False)) and bool(
            self._rows(f"SELECT 1 FROM {COMMITS} WHERE batch_id = %s LIMIT 1", batch_id)
        )

    def _arrow(self, columns: Sequence[str], asked: str, *values: object, table: str = "") -> pa.Table:
        found = self._rows(asked, *values, table=table)
        return pa.table({name: [row[n] for row in found] for n, name in enumerate(columns)})


EVENTS = ("event_id", "kind", "amount", "text")


class PostgresqlDatabase(Database):
    """One of PostgreSQL, read through psycopg."""

    def tables(self, place: str, *, several: bool) -> Sequence[str]:
        like = f"{place}_%" if several else place
        found = self._rows("SELECT tablename FROM pg_tables WHERE tablename LIKE %s ORDER BY 1", like)
        return [name for (name,) in found]

    def rows(self, table: str, *, committed: bool) -> pa.Table:
        recorded = f"WHERE EXISTS (SELECT 1 FROM {COMMITS} WHERE target = %s AND {OF_COMMIT})"
        return self._arrow(
            EVENTS,
            f"SELECT event_id, kind, amount, text FROM {{table}} {recorded if committed else ''}",
            *([self._target(table)] if committed else []),
            table=table,
        )

    def commits(self, table: str) -> Sequence[Commit]:
        asked = (
            "SELECT batch_id, (record::json->>'rows_out')::int8, (SELECT count(*) FROM {table} WHERE "
            f"{OF_COMMIT}) FROM {COMMITS} WHERE target = %s"
        )
        return [Commit(table, *found) for found in self._rows(asked, self._target(table), table=table)]

    def staged(self) -> Sequence[str]:
        return self.tables(STAGED, several=True)

    def _rows(self, asked: str, *values: object, table: str = "") -> list[tuple[Any, ...]]:
        statement = sql.SQL(asked).format(table=sql.Identifier(table)) if table else asked.encode()
        with psycopg.connect(self.url) as connection:
            return list(connection.execute(statement, values))

    def _target(self, table: str) -> str:
        return f"public.{table}"


class MariadbDatabase(Database):
    """One of MariaDB, read through PyMySQL. Its rows do not tell which write they belong to."""

    def tables(self, place: str, *, several: bool) -> Sequence[str]:
        like = f"{place}\\_%" if several else place
        found = self._rows(
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE %s"
            " ORDER BY 1",
            like,
        )
        return [name for (name,) in found]

    def rows(self, table: str, *, committed: bool) -> pa.Table:
        # That no row is there without a write on record is told by their number, see `commits`.
        return self._arrow(EVENTS, "SELECT event_id, kind, amount, text FROM {table}", table=table)

    def commits(self, table: str) -> Sequence[Commit]:
        """See `Database`; the newest write has what the table has more or less than all writes together."""
        asked = f"SELECT batch_id, JSON_VALUE(record, '$.rows_out') FROM {COMMITS} WHERE target = %s ORDER BY 1"
        found = [(batch_id, int(rows)) for batch_id, rows in self._rows(asked, self._target(table))]
        ((there,),) = self._rows("SELECT COUNT(*) FROM {table}", table=table)
        more = there - sum(rows for _, rows in found)
        last = len(found) - 1
        return [
            Commit(table, batch_id, rows, rows + (more if n == last else 0)) for n, (batch_id, rows) in enumerate(found)
        ]

    def staged(self) -> Sequence[str]:
        """See `Database`; without those that are kept to be taken back."""
        kept = (
            {name for (name,) in self._rows("SELECT name FROM gluepot_kept")}
            if self.tables(COMMITS, several=False)
            else {}
        )
        return [name for name in self.tables(STAGED, several=True) if name not in kept]

    def _rows(self, asked: str, *values: object, table: str = "") -> list[tuple[Any, ...]]:
        return mariadb.rows(self.url, asked.replace("{table}", f"`{table}`"), values)

    def _target(self, table: str) -> str:
        return f"`{mariadb.schema_of(self.url)}`.`{table}`"
