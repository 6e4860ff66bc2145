"""Ends connections that are slow or half open, and bounds their number and what they hold in memory.

Uvicorn ends a connection that is idle after an answer. It waits without limit for the first request, for the rest of a
request, and for a client that does not read its answer.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterable
from typing import Any

import h11

from gluepot.service.wire.whole_answers import WholeAnswers

MOST_CONNECTIONS = 512
"""Connections at the same time. Operations run in 40 threads; a connection without a request ends after 5 seconds."""
MOST_HEAD_BYTES = 16_384
"""The head of a request. AWS's clients send 1 or 2 kB."""
REQUEST_SECS = 20.0
"""The time for a whole request, and for a client to read a part of its answer."""
# A connection holds what it has read until the application takes it.
_READ_BYTES = 16_384
# Files and sockets of others in this process: databases, logs, pipes.
_OTHER_FILES = 256


def most_connections(most_files: int) -> int:
    """Return how many connections there may be at the same time.

    Args:
        most_files: how many files and sockets the process may open; negative for any number.
    """
    return MOST_CONNECTIONS if most_files < 0 else max(16, min(MOST_CONNECTIONS, most_files - _OTHER_FILES))


def longest_waiting(connections: Iterable[Any]) -> BoundedConnection | None:
    """Return the connection that has waited longest for the rest of a request; None if none waits."""
    waiting = [one for one in connections if isinstance(one, BoundedConnection) and one.awaits_request]
    return min(waiting, key=lambda one: one.waits_since, default=None)


class BoundedConnection(WholeAnswers):
    """A connection with limits."""

    request_secs = REQUEST_SECS
    most = most_connections(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    waits_since = 0.0
    """When the wait for the current request began, in the time of the event loop."""
    _timer: asyncio.TimerHandle | None = None
    _unread_bytes = 0

    @property
    def awaits_request(self) -> bool:
        """Whether the rest of a request has not arrived."""
        return self.conn.their_state in {h11.IDLE, h11.SEND_BODY}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # noqa: D102
        transport.max_size = _READ_BYTES  # type: ignore[attr-defined]
        super().connection_made(transport)
        self.waits_since = self.loop.time()
        self._timer = self.loop.call_later(self.request_secs, self._check)
        if len(self.connections) > self.most:
            # A new connection is more likely to have a request than one that has waited for long.
            (longest_waiting(one for one in self.connections if one is not self) or self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: D102
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:  # noqa: D102
        self.waits_since = self.loop.time()
        self.cycle.body.clear()  # the rest of a request that was refused
        super().on_response_complete()

    def _check(self) -> None:
        """End the connection if nothing has happened for too long; look again later if not."""
        unread = self.transport.get_write_buffer_size()
        does_not_read = unread > 0 and unread == self._unread_bytes
        left = self.waits_since + self.request_secs - self.loop.time() if self.awaits_request else self.request_secs
        if does_not_read or left <= 0:
            self.transport.abort()
            return
        self._unread_bytes = unread
        self._timer = self.loop.call_later(left, self._check)
