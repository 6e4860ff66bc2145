"""An HTTP proxy that spoils requests, in front of whatever server."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive", "content-length", "date", "server"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the proxy says in the server's place."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Fate = Answer | Literal["pass", "reset", "time-out", "lost reply"]
"""Of a request; but for `pass` and `lost reply` the server never sees it."""

Decide = Callable[[str, str, Mapping[str, str]], Fate]
"""Says what happens to a request: method, path, headers."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream: str
    decide: Decide
    hold: Callable[[], object]

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        match type(self).decide(self.command, self.path, self.headers):
            case "pass":
                self._answer(self._pass_on(body))
            case "lost reply":
                self._pass_on(body)
                self._reset()
            case "reset":
                self._reset()
            case "time-out":
                type(self).hold()
                self._reset()
            case Answer() as answer:
                self._answer(answer)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _handle  # noqa: N815  the base class looks for these names

    def _pass_on(self, body: bytes) -> Answer:
        upstream = http.client.HTTPConnection(self.upstream)
        try:
            upstream.request(self.command, self.path, body, dict(self.headers))
            answer = upstream.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            upstream.close()

    def _answer(self, answer: Answer) -> None:
        self.send_response(answer.status)
        length = answer.headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(answer.body))
        for name, value in answer.headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(answer.body)

    def _reset(self) -> None:
        """Close the connection the hard way, as a router that lost its state does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def finish(self) -> None:
        if self.connection.fileno() != -1:
            super().finish()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name in the base class
        """Say nothing: requests are the test's business."""


@contextmanager
def http_proxy(server_url: str, decide: Decide, *, hold_secs: float) -> Iterator[str]:
    """Run a proxy on loopback for as long as the context lasts; yields its URL.

    Args:
        server_url: where requests are passed on to.
        decide: called with each request, from several threads.
        hold_secs: how long a request of the kind `time-out` is left without an answer.
    """
    closing = threading.Event()
    about = {"upstream": urlsplit(server_url).netloc, "decide": decide, "hold": lambda: closing.wait(hold_secs)}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), about))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
