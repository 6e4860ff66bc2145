"""TCP ports on the loopback interface."""

from __future__ import annotations

import socket
from random import Random

from gluepot.core.errors import ConfigError
from gluepot.core.sockets import LOOPBACK

# These ports lie below the range from which Linux (32768 up) and macOS (49152 up) take ports for outgoing connections.
# Within that range, a client that retries against a stopped server may get the server's own port, connect to itself,
# and so keep the port in use.
FIRST, LAST = 20000, 32000
TRIES = 100


def is_free(port: int) -> bool:
    """Tell whether a server could listen on the port now; lingering closed connections do not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def free_port(chance: Random) -> int:
    """Return a port that nothing listens on; nothing reserves it.

    Raises:
        ConfigError: every port tried was in use.
    """
    for _ in range(TRIES):
        port = chance.randint(FIRST, LAST)
        if is_free(port):
            return port
    raise ConfigError(f"No free port between {FIRST} and {LAST} on {LOOPBACK}; stop some servers and try again.")


def require_free(port: int) -> None:
    """Make sure that a port can be listened on.

    Raises:
        ConfigError: something else listens on it.
    """
    if not is_free(port):
        raise ConfigError(
            f"Port {port} on {LOOPBACK} is in use; stop what listens there (`gluepot status` tells whether it is ours) "
            "or choose another port.",
        )
