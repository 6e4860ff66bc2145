"""Serves a job's pages from one thread, to a limited number of sockets, and closes sockets that are slow."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from gluepot.core.errors import ConfigError
from gluepot.core.sockets import LOOPBACK, listen, origin_of
from gluepot.ops.allowance import Allowance
from gluepot.ops.connections import OpenConnections

MOST_SOCKETS = 512
# Connections that the kernel completes and keeps until we accept them. Linux lowers this to net.core.somaxconn.
QUEUED_SOCKETS = 4096
# After this many accepted connections, the event loop reads what has arrived. So a request that is already here is read
# before further connections can take its place.
ACCEPTS_AT_ONCE = 64
IDLE_SECS = 5
# The time in which a whole request, or the next one on a kept socket, must arrive and its answer must be fetched.
REQUEST_SECS = 10.0
CLOSE_SECS = 1
# A refusal is delayed by this time, so that a client that asks hundreds of times a second waits and does not ask
# meanwhile.
REFUSE_SECS = 1.0
SWITCH_SECS = 0.0005
SCRAPE = b"GET /metrics"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"


class _Prompt(H11Protocol):
    """Closes a socket from which no request comes, and refuses scrapes beyond the allowance.

    Uvicorn itself waits for a first request for ever. A refused scrape is not even parsed, because hundreds of them a
    second would take a good part of the core that batches need. Health and the page are always answered: if all sockets
    are in use, a new one is accepted and the one that has been silent for the longest time is closed.
    """

    allowance: Allowance
    open: OpenConnections[_Prompt]
    _deadline: asyncio.TimerHandle

    def data_received(self, data: bytes) -> None:
        if self._is_scrape(data) and not self.allowance.is_left():
            self._unset_keepalive_if_required()
            self.transport.pause_reading()
            self._await(REFUSE_SECS, self._refuse)
            return
        super().data_received(data)
        self._note_request()

    def _note_request(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self.open.asked(self)

    def _refuse(self) -> None:
        self.transport.write(BUSY)
        self.transport.resume_reading()
        self._await(REQUEST_SECS, self.transport.abort)

    def _is_scrape(self, data: bytes) -> bool:
        """Tell whether this is one complete request for the metrics, and no earlier request is still being answered."""
        if not data.startswith(SCRAPE) or data.find(b"\r\n\r\n") != len(data) - 4:
            return False
        answered = self.cycle is None or self.cycle.response_complete
        return answered and not self.conn.trailing_data[0]

    def _await(self, secs: float, then: Callable[[], None]) -> None:
        self._deadline.cancel()
        self._deadline = self.loop.call_later(secs, then)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(REQUEST_SECS, transport.abort)
        if (silent := self.open.opened(self)) is not None:
            silent.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.cancel()
        self.open.closed(self)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._await(REQUEST_SECS, self.transport.abort)
        self.open.answered(self)
        super().on_response_complete()
        self._note_request()  # a request that arrived before this answer was complete is being answered now


class _Http(uvicorn.Server):
    """Lets the kernel queue more connections than are accepted at once; asyncio uses one number for both."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(QUEUED_SOCKETS)


@dataclass(frozen=True, slots=True)
class Server:
    """A running ops server; it ends with the process or with `stop`.

    Args:
        host: address it listens on.
        port: port it listens on, also when a free one was asked for.
    """

    host: str
    port: int
    _listening: socket.socket
    _http: uvicorn.Server
    _thread: threading.Thread

    @property
    def url(self) -> str:
        """The URL of the metrics, for Prometheus."""
        return f"{self.page_url}metrics"

    @property
    def page_url(self) -> str:
        """The URL of the page for people."""
        return f"{origin_of(self.host, self.port)}/"

    def stop(self) -> None:
        """Close the port; answers in progress get one more second."""
        self._http.should_exit = True
        self._thread.join()
        self._listening.close()  # uvicorn leaves it open if it is stopped before it has started


def serve(app: ASGIApp, host: str = LOOPBACK, port: int = 0, allowance: Allowance | None = None) -> Server:
    """Listen in a separate thread.

    Args:
        app: the application that answers.
        host: address to listen on. The default is loopback, because not everybody should see the numbers.
        port: port to listen on; 0 for a free one.
        allowance: the allowance for scrapes; None for the usual one.

    Raises:
        ConfigError: the port is taken or may not be used, or the host is not one of this machine.
    """
    try:
        listening = listen(host, port, QUEUED_SOCKETS)
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"the metrics port {port} on {host} cannot be used ({error}); "
            "choose another with --metrics-port, or 0 for a free one",
        ) from error
    connections = OpenConnections[_Prompt](MOST_SOCKETS)
    http = _Http(
        uvicorn.Config(
            app,
            http=type("_PromptHere", (_Prompt,), {"allowance": allowance or Allowance(), "open": connections}),
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            backlog=ACCEPTS_AT_ONCE,
            timeout_keep_alive=IDLE_SECS,
            timeout_graceful_shutdown=CLOSE_SECS,
        ),
    )
    # When Spark has answered a batch's thread, the thread waits up to this interval for the server's thread. Python's
    # default is 5 ms.
    sys.setswitchinterval(min(SWITCH_SECS, sys.getswitchinterval()))
    thread = threading.Thread(target=http.run, args=([listening],), name="gluepot-ops", daemon=True)
    thread.start()
    return Server(host, cast("int", listening.getsockname()[1]), listening, http, thread)
