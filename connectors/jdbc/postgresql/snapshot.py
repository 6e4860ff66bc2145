"""One state of a database for several transactions, in whatever process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.postgresql.session import session


@contextmanager
def exported(endpoint: JdbcEndpoint) -> Iterator[str]:
    """Give the name of the database's state as it is now; good until the end of the block.

    A connection stays open for as long, which keeps the server from removing rows that are deleted meanwhile.

    Raises:
        TransientError: the server is away.
    """
    with session(endpoint) as begun:
        begun.run("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield str(begun.rows("SELECT pg_export_snapshot()")[0][0])
