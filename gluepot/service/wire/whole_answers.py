"""Sends the head and the body of an HTTP answer together.

Uvicorn writes them one after the other. If the service is killed between the two, a client has a head without a body,
and botocore takes that for a success without members: `StartJobRun` would have no id. Sent together, an answer is
there as a whole, or the client sees a broken connection and asks again.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class JoinedWrites:
    """A transport that writes all that it was given in one step of the event loop at once.

    Args:
        transport: what writes.
        loop: the event loop.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Keep the bytes until the event loop has nothing more to do at once."""
        if not self._held:
            self._loop.call_soon(self._send)
        self._held.append(data)

    def close(self) -> None:
        """Write what is left, then close."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._held:
            joined, self._held = b"".join(self._held), []
            self._transport.write(joined)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class WholeAnswers(H11Protocol):
    """Uvicorn's HTTP/1.1 with joined writes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # noqa: D102
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
