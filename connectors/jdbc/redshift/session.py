"""A connection with Redshift, and one transaction on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.logging import get_logger

try:
    import redshift_connector
    from redshift_connector.error import Error

    from gluepot.connectors.jdbc.redshift.errors import mapped
except ImportError as missing:
    raise ConfigError("Redshift needs Amazon's client; install gluepot[redshift].") from missing

_URL = re.compile(
    r"jdbc:redshift://(?P<host>[^/:?]+)(?::(?P<port>\d+))?/(?P<database>[^?;]+)(?:[?;](?P<query>.*))?", re.IGNORECASE
)
_PORT = 5439
_SETTINGS = (
    # Bookmarks store values as text, and rows that are taken back are found by texts of their values.
    "SET TIMEZONE TO 'UTC'",
    "SET DATESTYLE TO 'ISO, YMD'",
    "SET EXTRA_FLOAT_DIGITS TO 2",
)

log = get_logger(__name__)


def connect_arguments(endpoint: JdbcEndpoint) -> dict[str, Any]:
    """Return how the client connects.

    Raises:
        ConfigError: the URL is not of Redshift, or logs in by IAM, or there is no user.
    """
    found = _URL.fullmatch(endpoint.url)
    if found is None:
        raise ConfigError(
            f"The url {endpoint.shown!r} cannot be used; write jdbc:redshift://host:5439/database, and give user and"
            " password."
        )
    given = {name.lower(): value for name, value in parse_qsl((found["query"] or "").replace(";", "&"))}
    mode = given.get("sslmode", "verify-ca").lower()
    user = endpoint.user or given.get("user") or given.get("uid")
    if not user:
        raise ConfigError(f"The database {endpoint.shown} has no user; give user and password, or a connectionName.")
    return {
        "host": found["host"],
        "port": int(found["port"] or _PORT),
        "database": unquote(found["database"]),
        "user": user,
        "password": endpoint.password or given.get("password") or given.get("pwd") or "",
        "ssl": given.get("ssl", "true").lower() != "false",
        "sslmode": mode if mode in {"verify-ca", "verify-full"} else "verify-ca",
        "application_name": "gluepot",
    }


@dataclass(frozen=True, slots=True)
class Session:
    """A connection; statements are committed one by one unless a transaction is open.

    Args:
        connection: connection of the client.
        endpoint: the database, for error messages.
    """

    connection: Any
    endpoint: JdbcEndpoint

    def run(self, statement: str, values: Sequence[object] = ()) -> None:
        """Execute a statement and discard its result; `%s` in it stands for a value, if there are values."""
        with mapped(self.endpoint, "A statement"), self.connection.cursor() as cursor:
            cursor.execute(statement, tuple(values) or None)

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement."""
        with mapped(self.endpoint, "A statement"), self.connection.cursor() as cursor:
            cursor.execute(statement, tuple(values) or None)
            return [tuple(row) for row in cursor.fetchall()]

    def roll_back(self) -> None:
        """End an open transaction without its changes. If the connection is lost, the server does that."""
        with suppress(Error, OSError):
            self.connection.rollback()

    def require_open(self, what: str) -> None:
        """Check that the transaction is still open.

        Raises:
            PermanentError: a statement of the script has ended it.
        """
        if not self.connection.in_transaction:
            raise PermanentError(
                f"{what} ended the transaction at {self.endpoint.shown}, for example by a procedure that commits; rows"
                " may be there without a record of the write. Look at the table, and leave that statement out."
            )


@contextmanager
def connection(endpoint: JdbcEndpoint) -> Iterator[Session]:
    """Open a connection.

    Raises:
        TransientError: the server cannot be reached.
        ConfigError: the server refuses the login.
    """
    arguments = connect_arguments(endpoint)
    with mapped(endpoint, "A connection"):
        opened = redshift_connector.connect(**arguments)
    opened.autocommit = True  # transactions are begun and ended by statements of ours
    begun = Session(opened, endpoint)
    try:
        for setting in _SETTINGS:
            begun.run(setting)
        yield begun
    finally:
        with suppress(Error, OSError):
            opened.close()


@contextmanager
def transaction(endpoint: JdbcEndpoint, lock: str) -> Iterator[Session]:
    """Open a transaction that has a table for itself; it is committed at the end of the block, or rolled back.

    The lock is taken before the first statement that reads: Redshift fixes then what the transaction sees. So the
    transaction sees all that others with the same lock have committed.

    Args:
        endpoint: the database.
        lock: the table to lock, quoted.

    Raises:
        TransientError: the server cannot be reached, or the transaction was overtaken by another.
        ConfigError: the server refuses the login or a statement.
    """
    with connection(endpoint) as begun:
        begun.run("BEGIN")
        try:
            begun.run(f"LOCK TABLE {lock}")
            yield begun
        except BaseException:
            begun.roll_back()
            raise
        begun.require_open("A statement")
        begun.run("COMMIT")
