"""A connection with a MySQL or MariaDB server."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from pymysql.connections import Connection, MySQLResult
from pymysql.err import MySQLError

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.mysql.address import Tls, address_of
from gluepot.connectors.jdbc.mysql.errors import mapped
from gluepot.core.errors import ConfigError

IDLE_SECS = 60
"""After this time without a statement the server ends a transaction, so that a paused driver does not hold its lock."""

# A task may wait long for its rows.
_TASK_IDLE_SECS = 28_800
_CONNECT_SECS = 10
# A transaction waits for another one of the same query, which may be moving many rows.
_LOCK_SECS = 3600
# A change of a table waits for the transactions that use it.
_TABLE_LOCK_SECS = 120
_PACKET_BYTES = 1 << 18
# Strict, so that a value that does not fit is an error and not another value. A 0 that the script writes stays a 0.
_SQL_MODE = (
    "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,"
    "NO_AUTO_VALUE_ON_ZERO"
)
_SETTINGS = (
    f"SET SESSION sql_mode = '{_SQL_MODE}', time_zone = '+00:00', sql_safe_updates = 0",
    f"SET SESSION innodb_lock_wait_timeout = {_LOCK_SECS}, lock_wait_timeout = {_TABLE_LOCK_SECS}",
    "SET SESSION max_error_count = 64",  # so that the warnings of a load can be seen
    # Without locks on the gaps between rows, by which writes to one table would end each other.
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)


class _Loader(Connection):
    """A connection that answers a request for a local file with given bytes, whatever file the server asks for."""

    given: memoryview = memoryview(b"")

    def _create_ssl_ctx(self, sslp: object) -> ssl.SSLContext:
        # Without options the client would read the machine's certificates, for 30 ms, and then not look at them.
        return sslp if isinstance(sslp, ssl.SSLContext) else _unverified()

    def _read_query_result(self, unbuffered: bool = False) -> int | None:  # noqa: ARG002  the client's signature
        self._result = None
        result = _Result(self)
        result.read()
        self._result = result
        if result.server_status is not None:
            self.server_status = result.server_status
        return result.affected_rows


class _Result(MySQLResult):
    def _read_load_local_packet(self, first_packet: object) -> None:  # noqa: ARG002  the client's signature
        connection: Any = self.connection
        for start in range(0, len(connection.given), _PACKET_BYTES):
            connection.write_packet(bytes(connection.given[start : start + _PACKET_BYTES]))
        connection.write_packet(b"")
        whole: Any = self
        whole._read_ok_packet(connection._read_packet())  # noqa: SLF001  the client has no public way to send bytes


@dataclass(frozen=True, slots=True)
class Session:
    """A connection; each statement is a transaction unless one was begun.

    Args:
        connection: connection of the client.
        endpoint: the database, for error messages.
    """

    connection: _Loader
    endpoint: JdbcEndpoint

    def run(self, statement: str, values: Sequence[object] = ()) -> int:
        """Execute a statement with `%s` for each value; return how many rows it has changed."""
        with mapped(self.endpoint, "A statement"), self.connection.cursor() as cursor:
            return int(cursor.execute(statement, tuple(values) or None))

    def insert(self, statement: str) -> tuple[int, int]:
        """Execute an INSERT; return how many rows it has added, and the first number that AUTO_INCREMENT gave, or 0."""
        with mapped(self.endpoint, "A statement"), self.connection.cursor() as cursor:
            return cursor.execute(statement), cursor.lastrowid or 0

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement."""
        with mapped(self.endpoint, "A statement"), self.connection.cursor() as cursor:
            cursor.execute(statement, tuple(values) or None)
            return list(cursor.fetchall())

    def send(self, statement: bytes) -> int:
        """Execute a statement that is encoded already; return how many rows it has changed."""
        with mapped(self.endpoint, "A load"):
            return int(self.connection.query(statement))

    def load(self, statement: str, lines: memoryview) -> int:
        """Execute LOAD DATA LOCAL with given bytes as its file; return how many rows it has added.

        Raises:
            ConfigError: a value does not fit its column.
        """
        with mapped(self.endpoint, "A load"):
            self.connection.given = lines
            try:
                rows = int(self.connection.query(statement))
            finally:
                self.connection.given = memoryview(b"")
        # The server cannot stop what a client sends, so it changes values that do not fit and warns.
        if said := self.rows("SHOW WARNINGS LIMIT 1"):
            raise ConfigError(f"A load at {self.endpoint.shown} did not work: {said[0][2]} (error {said[0][1]}).")
        return rows

    @contextmanager
    def transaction(self, *, guarded: bool) -> Iterator[None]:
        """Begin a transaction; it is committed at the end of the block, or rolled back if an exception leaves it.

        Args:
            guarded: whether the server must refuse statements that would end the transaction, such as CREATE TABLE.
        """
        xid = uuid4().hex
        self.run(f"XA START '{xid}'" if guarded else "START TRANSACTION")
        try:
            yield
        except BaseException:
            with suppress(MySQLError, OSError):
                cursor = self.connection.cursor()
                for statement in (f"XA END '{xid}'", f"XA ROLLBACK '{xid}'") if guarded else ("ROLLBACK",):
                    with suppress(MySQLError):  # the server may have ended it already
                        cursor.execute(statement)
            raise
        if guarded:
            self.run(f"XA END '{xid}'")
            self.run(f"XA COMMIT '{xid}' ONE PHASE")
        else:
            self.run("COMMIT")


@contextmanager
def session(endpoint: JdbcEndpoint, *, idle_secs: int = _TASK_IDLE_SECS) -> Iterator[Session]:
    """Open a connection.

    Args:
        endpoint: the database.
        idle_secs: after how long without a statement the server closes it.

    Raises:
        TransientError: the server cannot be reached.
        ConfigError: the server refuses the login or a statement.
    """
    address = address_of(endpoint)
    login: dict[str, Any] = {"user": address.user} if address.user else {}
    with mapped(endpoint, "A connection"):
        connection = _Loader(
            host=address.host,
            port=address.port,
            database=address.database,
            password=address.password,
            charset="utf8mb4",
            connect_timeout=_CONNECT_SECS,
            local_infile=True,
            autocommit=True,
            **login,
            **_tls(address.tls, address.ca_path),
        )
    try:
        begun = Session(connection, endpoint)
        for setting in _SETTINGS:
            begun.run(setting)
        begun.run(f"SET SESSION wait_timeout = {idle_secs}")
        yield begun
    finally:
        with suppress(MySQLError, OSError):
            connection.close()


def _tls(mode: Tls, ca_path: str) -> dict[str, Any]:
    """Return the client's options for encryption; without any it encrypts if the server can."""
    match mode:
        case Tls.DISABLED:
            return {"ssl_disabled": True}
        case Tls.PREFERRED:
            return {}
        case Tls.REQUIRED:
            return {"ssl": _unverified()}
    context = ssl.create_default_context(cafile=ca_path or None)
    context.check_hostname = mode is Tls.VERIFY_IDENTITY
    return {"ssl": context}


def _unverified() -> ssl.SSLContext:
    """Return a context that encrypts and believes every server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
