"""Whether the master of a standalone cluster answers, asked before Spark tries: Spark says only that it gives up."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError, TransientError

STANDALONE = "spark://"
# A master that is being restarted is back by then.
WAIT_SECS = 5.0
_POLL_SECS, _CONNECT_SECS = 0.5, 2.0


def addresses(master: str) -> list[tuple[str, int]]:
    """Return host and port of each master in `spark://HOST:PORT,HOST:PORT`; none for masters of other kinds.

    Raises:
        ConfigError: one has no port.
    """
    if not master.startswith(STANDALONE):
        return []
    found = []
    for one in master.removeprefix(STANDALONE).split(","):
        host, _, port = one.rpartition(":")
        if not host or not port.isdecimal():
            raise ConfigError(f"Spark's master is {master!r}; write spark://HOST:PORT, as its log and its page do.")
        found.append((host.strip("[]"), int(port)))
    return found


def _connect(host: str, port: int) -> None:
    socket.create_connection((host, port), _CONNECT_SECS).close()


def require_master(master: str, clock: Clock, connect: Callable[[str, int], None] = _connect) -> None:
    """Wait until the master of a standalone cluster answers. Masters of other kinds are left to Spark.

    Args:
        master: Spark's master.
        clock: for the wait.
        connect: connects to a host and a port; raises OSError if that fails.

    Raises:
        ConfigError: the URL is wrong.
        TransientError: no master answers.
    """
    masters, deadline = addresses(master), clock.monotonic() + WAIT_SECS
    while masters and (refused := _refused(masters, connect)):
        if clock.monotonic() >= deadline:
            raise TransientError(f"Spark's master {master} does not answer: {refused}. Start it, or correct the URL.")
        clock.sleep(_POLL_SECS)


def _refused(masters: Sequence[tuple[str, int]], connect: Callable[[str, int], None]) -> Exception | None:
    """Return why no master answers, None if one does."""
    refused: Exception | None = None
    for host, port in masters:
        try:
            connect(host, port)
        except (OSError, OverflowError) as error:
            refused = error
        else:
            return None
    return refused
