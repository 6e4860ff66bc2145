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
    # Bookmarks store values as text, so the same value must always be printed in the same way.
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL IntervalStyle = 'iso_8601'",
    "SET LOCAL extra_float_digits = 1",
)


@dataclass(frozen=True, slots=True)
class Session:
    """A transaction in progress.

    Args:
        connection: connection of the driver.
        endpoint: the database, for error messages.
    """

    connection: dbapi.Connection
    endpoint: JdbcEndpoint

    def run(self, statement: Sql | str) -> None:
        """Execute a statement and discard its result."""
        with self._cursor() as cursor:
            self._bind(cursor, statement)
            cursor.execute(_text(statement))

    def changed(self, statement: Sql | str) -> int:
        """Execute a statement and return how many rows it has changed, as the server tells."""
        with self._cursor() as cursor:
            self._bind(cursor, statement)
            cursor.adbc_statement.set_sql_query(_text(statement))
            return int(cursor.adbc_statement.execute_update())

    def script(self, statements: str) -> None:
        """Execute any number of statements, separated by semicolons."""
        with self._cursor() as cursor:
            # The cursor's executescript cannot be used, because it ends the transaction first.
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
        """Yield the result of a query as it arrives."""
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

    def begin_again(self) -> None:
        """Roll the transaction back, and begin another one on the same connection."""
        with mapped(self.endpoint, "A rollback"):
            self.connection.rollback()
        for setting in _SETTINGS:
            self.run(setting)

    @contextmanager
    def _cursor(self) -> Iterator[dbapi.Cursor]:
        with mapped(self.endpoint, "A statement"), self.connection.cursor() as cursor:
            yield cursor

    @staticmethod
    def _bind(cursor: dbapi.Cursor, statement: Sql | str) -> None:
        """Send the values to the server as settings, before the statement that reads them.

        The driver fetches by COPY, which is three times as fast but takes no parameters. A COPY can read settings, and
        settings of a transaction end with it.
        """
        bounds = statement.bounds if isinstance(statement, Sql) else []
        if bounds:
            given = ", ".join(f"set_config('{_setting(n)}', ${n + 1}, true)" for n in range(len(bounds)))
            cursor.execute(f"SELECT {given}", tuple(bound.text for bound in bounds))
            cursor.fetchall()


@contextmanager
def session(endpoint: JdbcEndpoint, *, reading: bool = True, snapshot: str | None = None) -> Iterator[Session]:
    """Open a transaction; it is committed at the end of the block, or rolled back if an exception leaves the block.

    Args:
        endpoint: the database.
        reading: whether the transaction is read-only and sees one state of the database throughout.
        snapshot: snapshot of another transaction, whose state this one is to see; None for the newest state.

    Raises:
        TransientError: the server cannot be reached.
        ConfigError: the server refuses the login or a statement.
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
