"""Serves a job's pages from one thread, to a bounded number of sockets, none of which may dawdle."""

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
from gluepot.ops.allowance import Allowance
from gluepot.ops.connections import OpenConnections

LOOPBACK = "127.0.0.1"
MOST_SOCKETS = 512
# Connections that the kernel completes and keeps until we accept them. Linux lowers this to net.core.somaxconn.
QUEUED_SOCKETS = 4096
# After so many accepted connections the event loop reads what has arrived, so that a request which is already here is
# read before further connections can take its place.
ACCEPTS_AT_ONCE = 64
IDLE_SECS = 5
REQUEST_SECS = 10.0
"""How long a whole request, or the next one on a kept socket, may take to arrive and its answer to be fetched."""
CLOSE_SECS = 1
REFUSE_SECS = 1.0
"""How long a refusal is held back: who asks hundreds of times a second waits for it and does not ask meanwhile."""
SWITCH_SECS = 0.0005
SCRAPE = b"GET /metrics"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"


class _Prompt(H11Protocol):
    """Closes a socket from which no request comes, and refuses scrapes beyond the allowance.

    Uvicorn itself waits for a first request without end. A scrape that is refused is not even parsed: hundreds of them
    a second would take a good part of the core that batches need. Health and the page are always answered: where all
    sockets are taken, a new one is let in and the one that has been silent for the longest time is closed.
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
        """Tell whether this is one whole request for the metrics, with nothing before it still to be answered."""
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
        self._note_request()  # one that arrived before this answer was complete has been begun


class _Http(uvicorn.Server):
    """Lets the kernel queue more connections than are accepted at once; for asyncio both are one number."""

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
        """Where Prometheus finds the metrics."""
        return f"{self.page_url}metrics"

    @property
    def page_url(self) -> str:
        """Where people find the page."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"

    def stop(self) -> None:
        """Close the port; answers that were begun have a second."""
        self._http.should_exit = True
        self._thread.join()
        self._listening.close()  # uvicorn leaves it open when it is told to end before it has begun


def serve(app: ASGIApp, host: str = LOOPBACK, port: int = 0, allowance: Allowance | None = None) -> Server:
    """Listen in a thread of its own.

    Args:
        app: what answers.
        host: loopback unless told, because the numbers are not for everybody.
        port: 0 takes a free one.
        allowance: for scrapes; None for the usual one.

    Raises:
        ConfigError: the port is taken or may not be used, or the host is not one of this machine.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=QUEUED_SOCKETS)
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
    # A batch's thread waits so long for this one each time that Spark has answered it, 5 ms unless told.
    sys.setswitchinterval(min(SWITCH_SECS, sys.getswitchinterval()))
    thread = threading.Thread(target=http.run, args=([listening],), name="gluepot-ops", daemon=True)
    thread.start()
    return Server(host, cast("int", listening.getsockname()[1]), listening, http, thread)
