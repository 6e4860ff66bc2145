"""Shares one state of a database among several transactions, also in other processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.postgresql.session import session


@contextmanager
def exported(endpoint: JdbcEndpoint) -> Iterator[str]:
    """Export the database's current state and return its name, which is valid until the end of the block.

    A connection stays open for that time. It keeps the server from removing rows that are deleted meanwhile.

    Raises:
        TransientError: the server cannot be reached.
    """
    with session(endpoint) as begun:
        begun.run("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield str(begun.rows("SELECT pg_export_snapshot()")[0][0])
