"""Ends connections that are slow or half open, and bounds their number and what they hold in memory.

Uvicorn ends a connection that is idle after an answer. It waits without limit for the first request, for the rest of a
request, and for a client that does not read its answer.
"""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Any

import h11
import uvicorn

from gluepot.service.wire.whole_answers import WholeAnswers

MOST_CONNECTIONS = 512
"""Connections at the same time. Operations run in 40 threads; a connection without a request ends after 5 seconds."""
MOST_HEAD_BYTES = 16_384
"""The head of a request. AWS's clients send 1 or 2 kB."""
REQUEST_SECS = 20.0
"""The time for a whole request, and for a client to read a part of its answer."""
# A connection holds what it has read until the application takes it.
_READ_BYTES = 16_384
_DROPPED_BYTES = 65_536
_ENDED_TOGETHER = 64
MOST_ACCEPTED = 64
"""Connections that are accepted in one step of the event loop."""
_WAITING_CLIENTS = 2_048
# Files and sockets of others in this process: databases, logs, pipes.
_OTHER_FILES = 256


def most_connections(most_files: int) -> int:
    """Return how many connections there may be at the same time.

    Args:
        most_files: how many files and sockets the process may open; negative for any number.
    """
    return MOST_CONNECTIONS if most_files < 0 else max(16, min(MOST_CONNECTIONS, most_files - _OTHER_FILES))


def longest_waiting(connections: Iterable[Any], most: int) -> list[BoundedConnection]:
    """Return those connections that have waited longest for the rest of a request.

    Args:
        connections: all connections.
        most: how many to return.
    """
    waiting = [one for one in connections if isinstance(one, BoundedConnection) and one.awaits_request]
    return nsmallest(most, waiting, key=lambda one: one.waits_since)


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
        self._socket_transport: Any = transport
        self._read_at_once(_READ_BYTES)
        super().connection_made(transport)
        self.waits_since = self.loop.time()
        self._timer = self.loop.call_later(self.request_secs, self._check)
        if len(self.connections) > self.most:
            # A new connection is more likely to have a request than one that has waited for long. Several end at the
            # same time, because it takes long to find them.
            others = (one for one in self.connections if one is not self and not one.transport.is_closing())
            for one in longest_waiting(others, _ENDED_TOGETHER) or [self]:
                self.connections.discard(one)  # `abort` does it later, after the next connections
                one.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: D102
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:  # noqa: D102
        if self.conn.their_state is h11.SEND_BODY:
            # The request was refused before its body was read. The rest of it is read and dropped, in large pieces.
            self.cycle.body.clear()
            self._read_at_once(_DROPPED_BYTES)
        else:
            self.waits_since = self.loop.time()
            self._read_at_once(_READ_BYTES)
        super().on_response_complete()

    def _read_at_once(self, most_bytes: int) -> None:
        self._socket_transport.max_size = most_bytes  # asyncio's own setting, 256 KiB if nobody sets it

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


class PatientServer(uvicorn.Server):
    """Lets more clients wait than it accepts at a time.

    Asyncio takes one number for both, and answers nobody while it accepts.
    """

    async def startup(self, sockets: Sequence[socket.socket] | None = None) -> None:  # noqa: D102
        await super().startup(list(sockets or ()))
        for listening in sockets or ():
            listening.listen(_WAITING_CLIENTS)
