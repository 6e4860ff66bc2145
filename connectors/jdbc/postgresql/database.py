"""Answers planning's questions about a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.keys import Key, KeyColumn, Row
from gluepot.connectors.jdbc.plan import hash_cuts, range_cuts
from gluepot.connectors.jdbc.postgresql.columns import WHOLE, Column, columns_of, quoted
from gluepot.connectors.jdbc.postgresql.session import Session, session
from gluepot.connectors.jdbc.questions import count_by_key, count_of_rows, newest_row
from gluepot.connectors.jdbc.relation import Query, Table, find_column
from gluepot.connectors.jdbc.settings import HashPartitions, RangePartitions
from gluepot.connectors.jdbc.sql import Sql
from gluepot.core.errors import ConfigError

_FIND = """
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name, c.oid::int8 AS oid
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND """
_AS_WRITTEN = "c.oid = to_regclass($1)"
_IN_ANY_CASE = (
    "lower(c.relname) = lower($1) AND (lower(n.nspname) = lower($2) OR ($2 = '' AND pg_table_is_visible(c.oid)))"
)
_PRIMARY_KEY = """
SELECT a.attname::text AS name FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k(number, place), pg_attribute a
WHERE i.indrelid = $1::oid AND i.indisprimary AND a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place
"""

_REMAINDER = "mod({0}, {1})"


def _hash_of_text(value: str) -> str:
    """Return SQL that computes an integer from a value of any type."""
    return f"hashtextextended({value}::text, 0)"


@dataclass(frozen=True, slots=True)
class PostgresqlRelation:
    """A table or query within a transaction; answers `gluepot.connectors.jdbc.plan.Relation`.

    Args:
        session: the transaction.
        name: name in messages and bookmarks: the table with its schema, or the query.
        source: the table or query as it is written in a statement.
        columns: its columns.
        primary_key: names of the primary key's columns; empty if there is none.
    """

    session: Session
    name: str
    source: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()

    def key(self, names: Sequence[str], *, descending: bool) -> Key:
        """Return the named columns as a key.

        Raises:
            ConfigError: there is no such column.
        """
        found = [self._column(name, "jobBookmarkKeys") for name in names]
        return Key(tuple(KeyColumn(column.name, column.type, column.family) for column in found), descending)

    def cuts(self, partitions: HashPartitions | RangePartitions | None) -> list[Sql]:
        """Return the conditions that divide the rows among tasks; none for one task.

        Raises:
            ConfigError: there is no such column.
        """
        match partitions:
            case None:
                return []
            case RangePartitions(column, lower, upper, count):
                return range_cuts(quoted(self._column(column, "partitionColumn").name), lower, upper, count)
            case HashPartitions(None, expression, count):
                return self._hash_cuts(str(expression), count)
            case HashPartitions(field, _, count):
                return hash_cuts(
                    _hash_of_text(quoted(self._column(str(field), "hashfield").name)), count, _REMAINDER, whole=True
                )

    def _hash_cuts(self, expression: str, count: int) -> list[Sql]:
        """Divide by the script's own expression; if it computes no number, by a hash of its text."""
        (kind,) = columns_of(self.session.schema(f"SELECT ({expression}) AS share FROM {self.source}"))
        if kind.type in WHOLE:
            return hash_cuts(expression, count, _REMAINDER, whole=True)
        if kind.type in {"numeric", "float4", "float8"}:
            return hash_cuts(f"({expression})::numeric", count, _REMAINDER, whole=False)
        return hash_cuts(_hash_of_text(f"({expression})"), count, _REMAINDER, whole=True)

    def quoted(self, names: Sequence[str]) -> list[str]:
        """Return names of columns, quoted for a statement."""
        return [quoted(name) for name in names]

    def newest(self, key: Key, where: Sql) -> Row | None:
        """Return the key of the last row in the key's order, ignoring rows with a null in their key."""
        rows = self.session.rows(newest_row(key, self.quoted(key.names), "text", self.source, where))
        return cast("Row", rows[0]) if rows else None

    def count(self, where: Sql) -> int:
        """Return the number of rows."""
        return cast("int", self.session.rows(count_of_rows(self.source, where))[0][0])

    def keys(self, key: Key, where: Sql) -> list[tuple[Row, int]]:
        """Return every key that occurs, with its number of rows."""
        rows = self.session.rows(count_by_key(self.quoted(key.names), "text", self.source, where))
        return [(cast("Row", row[:-1]), cast("int", row[-1])) for row in rows]

    def _column(self, name: str, option: str) -> Column:
        found = find_column(name, option, [column.name for column in self.columns], self.name)
        return next(column for column in self.columns if column.name == found)


@contextmanager
def open_relation(
    endpoint: JdbcEndpoint, wanted: Table | Query, snapshot: str | None = None
) -> Iterator[PostgresqlRelation]:
    """Open a table or query in a transaction that sees one state of the database.

    Raises:
        ConfigError: the table does not exist, or the query is wrong.
        TransientError: the server cannot be reached.
    """
    with session(endpoint, snapshot=snapshot) as begun:
        if isinstance(wanted, Query):
            source = f"({wanted.text}) AS gluepot_query"
            yield PostgresqlRelation(begun, wanted.text, source, _columns(begun, source))
            return
        name, oid = _found(begun, wanted.name)
        key = tuple(str(row[0]) for row in begun.rows_bound(_PRIMARY_KEY, [oid]))
        source = wanted.source(name)
        yield PostgresqlRelation(begun, wanted.shown(name), source, _columns(begun, source), key)


def _columns(begun: Session, source: str) -> tuple[Column, ...]:
    return columns_of(begun.schema(f"SELECT * FROM {source}"))


def _found(begun: Session, name: str) -> tuple[str, int]:
    rows = begun.rows_bound(_FIND + _AS_WRITTEN, [name])
    if not rows:
        schema, _, table = name.replace('"', "").rpartition(".")
        rows = begun.rows_bound(_FIND + _IN_ANY_CASE, [table, schema])
    if len(rows) != 1:
        what = "is not there" if not rows else f"could be {' or '.join(str(row[0]) for row in rows)}"
        raise ConfigError(f"The table {name!r} {what} at {begun.endpoint.shown}; correct dbtable, and name the schema.")
    return str(rows[0][0]), cast("int", rows[0][1])
