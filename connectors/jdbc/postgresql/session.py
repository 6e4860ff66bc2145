"""One transaction with a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from adbc_driver_postgresql import StatementOptions, dbapi

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.postgresql.columns import unquoted
from gluepot.connectors.jdbc.postgresql.errors import mapped
from gluepot.connectors.jdbc.sql import Bound, Sql

_SETTINGS = (
    # A value in text means the same whenever it was printed, and a bookmark keeps such texts.
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL IntervalStyle = 'iso_8601'",
    "SET LOCAL extra_float_digits = 1",
)


@dataclass(frozen=True, slots=True)
class Session:
    """A transaction in progress.

    Args:
        connection: the driver's.
        endpoint: for errors.
    """

    connection: dbapi.Connection
    endpoint: JdbcEndpoint

    def run(self, statement: Sql | str) -> None:
        """Execute a statement and drop what it returns."""
        with self._cursor() as cursor:
            self._bind(cursor, statement)
            cursor.execute(_text(statement))

    def script(self, statements: str) -> None:
        """Execute any number of statements, divided by semicolons."""
        with self._cursor() as cursor:
            # Not the cursor's executescript, which ends the transaction first.
            cursor.adbc_statement.set_sql_query(statements)
            cursor.adbc_statement.execute_update()

    def rows(self, statement: Sql | str) -> list[tuple[object, ...]]:
        """Return all rows of a statement."""
        with self._cursor() as cursor:
            self._bind(cursor, statement)
            cursor.adbc_statement.set_options(**{StatementOptions.USE_COPY.value: "false"})
            cursor.execute(_text(statement))
            return _rows(cursor.fetch_arrow_table())

    def batches(self, statement: Sql) -> Iterator[pa.RecordBatch]:
        """Yield the result of a query while it comes in."""
        with self._cursor() as cursor:
            self._bind(cursor, statement)
            cursor.execute(_text(statement))
            with cursor.fetch_record_batch() as reader:
                yield from reader

    def schema(self, query: str) -> pa.Schema:
        """Return the columns of a query; their metadata names the database's types."""
        with self._cursor() as cursor:
            return cursor.adbc_execute_schema(query)

    def rows_bound(self, statement: str, values: Sequence[object]) -> list[tuple[object, ...]]:
        """Return all rows of a statement with `$1`, `$2`, ... in it."""
        with self._cursor() as cursor:
            cursor.execute(statement, tuple(values))
            return _rows(cursor.fetch_arrow_table())

    def ingest(self, schema: str, table: str, rows: pa.RecordBatchReader) -> int:
        """Append rows to a table by COPY; return how many there were.

        Args:
            schema: schema of the table, quoted.
            table: a name that needs no quotes.
            rows: columns of exactly the table's types.
        """
        with self._cursor() as cursor:
            taken: int = cursor.adbc_ingest(table, rows, mode="append", db_schema_name=unquoted(schema))
            return taken

    @contextmanager
    def _cursor(self) -> Iterator[dbapi.Cursor]:
        with mapped(self.endpoint, "A statement"), self.connection.cursor() as cursor:
            yield cursor

    @staticmethod
    def _bind(cursor: dbapi.Cursor, statement: Sql | str) -> None:
        """Hand the values to the server before the statement that refers to them.

        COPY, by which the driver fetches three times as fast as otherwise, takes no parameters. It can read settings,
        and those of the transaction are gone with it.
        """
        bounds = statement.bounds if isinstance(statement, Sql) else []
        if bounds:
            given = ", ".join(f"set_config('{_setting(n)}', ${n + 1}, true)" for n in range(len(bounds)))
            cursor.execute(f"SELECT {given}", tuple(bound.text for bound in bounds))
            cursor.fetchall()


@contextmanager
def session(endpoint: JdbcEndpoint, *, reading: bool = True, snapshot: str | None = None) -> Iterator[Session]:
    """Give a transaction; it is committed at the end of the block, or rolled back if an exception leaves it.

    Args:
        endpoint: where.
        reading: it changes nothing and sees one state of the database throughout.
        snapshot: snapshot of another transaction, whose state this one is to see; None for the newest state.

    Raises:
        TransientError: the server is away.
        ConfigError: it refuses what it is asked.
    """
    with mapped(endpoint, "A connection"):
        connection = dbapi.connect(endpoint.libpq_uri())
    with connection:
        begun = Session(connection, endpoint)
        if reading:
            begun.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if snapshot:
            begun.run(f"SET TRANSACTION SNAPSHOT '{snapshot}'")
        for setting in _SETTINGS:
            begun.run(setting)
        try:
            yield begun
        except BaseException:
            connection.rollback()
            raise
        with mapped(endpoint, "The commit"):
            connection.commit()


def _rows(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _text(statement: Sql | str) -> str:
    return statement if isinstance(statement, str) else statement.render(_placeholder)


def _placeholder(nth: int, bound: Bound) -> str:
    return f"current_setting('{_setting(nth)}')::{bound.type}"


def _setting(nth: int) -> str:
    return f"gluepot.value_{nth}"
