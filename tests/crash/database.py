"""The tables of a job in PostgreSQL, read through psycopg, and what the product's own table says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pyarrow as pa
from psycopg import sql

if TYPE_CHECKING:
    from psycopg import Connection

COMMITS, REJECTS, STAGED = "gluepot_commits", "gluepot_rejects", "gluepot_stage_"

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
class Database:
    """A database that one job alone writes to.

    Args:
        url: of it, as a job is told.
    """

    url: str

    def tables(self, place: str, *, several: bool) -> Sequence[str]:
        """The tables there are of a place: one of that name, or several whose names go on after it."""
        like = f"{place}_%" if several else place
        found = self._rows("SELECT tablename FROM pg_tables WHERE tablename LIKE %s ORDER BY 1", like)
        return [name for (name,) in found]

    def rows(self, table: str, *, committed: bool) -> pa.Table:
        """All rows of a table, or those alone whose transaction is on record."""
        recorded = f"WHERE EXISTS (SELECT 1 FROM {COMMITS} WHERE target = %s AND {OF_COMMIT})"
        return self._arrow(
            ("event_id", "kind", "amount", "text"),
            f"SELECT event_id, kind, amount, text FROM {{table}} {recorded if committed else ''}",
            *([_target(table)] if committed else []),
            table=table,
        )

    def rejects(self, table: str) -> pa.Table:
        asked = f"SELECT raw, stream, shard, position FROM {REJECTS} WHERE target = %s"
        return self._arrow(("raw", "stream", "shard", "position"), asked, _target(table))

    def doubled(self, table: str) -> int:
        """Records that are in a table twice at this moment; none if there is no table."""
        if not self.tables(table, several=False):
            return 0
        again = "SELECT event_id FROM {table} GROUP BY event_id HAVING count(*) > 1"
        return len(self._rows(again, table=table))

    def commits(self, table: str) -> Sequence[Commit]:
        asked = (
            "SELECT batch_id, (record::json->>'rows_out')::int8, (SELECT count(*) FROM {table} WHERE "
            f"{OF_COMMIT}) FROM {COMMITS} WHERE target = %s"
        )
        return [Commit(table, *found) for found in self._rows(asked, _target(table), table=table)]

    def published(self, batch_id: int) -> bool:
        """Whether a write of a batch is on record."""
        return self._has(COMMITS) and bool(self._rows(f"SELECT 1 FROM {COMMITS} WHERE batch_id = %s LIMIT 1", batch_id))

    def staged(self) -> Sequence[str]:
        """The tables of rows that are not published yet."""
        return self.tables(STAGED.removesuffix("_"), several=True)

    def _has(self, table: str) -> bool:
        return bool(self.tables(table, several=False))

    def _arrow(self, columns: Sequence[str], asked: str, *values: object, table: str = "") -> pa.Table:
        found = self._rows(asked, *values, table=table)
        return pa.table({name: [row[n] for row in found] for n, name in enumerate(columns)})

    def _rows(self, asked: str, *values: object, table: str = "") -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url) as connection:
            return list(_cursor(connection, asked, values, table))


def _cursor(connection: Connection, asked: str, values: Sequence[object], table: str) -> Iterator[tuple[Any, ...]]:
    statement = sql.SQL(asked).format(table=sql.Identifier(table)) if table else asked.encode()
    yield from connection.execute(statement, values)


def _target(table: str) -> str:
    """How the product names a table."""
    return f"public.{table}"
