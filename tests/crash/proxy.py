"""An HTTP proxy in front of an S3 server that spoils chosen requests."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import parse_qs, urlsplit

FaultKind = Literal["429", "500", "503", "reset", "time-out", "lost reply"]
Operation = Literal["put", "create", "begin", "part", "complete", "abort", "copy", "list", "delete", "get"]

FAULTS: tuple[FaultKind, ...] = ("429", "500", "503", "reset", "time-out", "lost reply")
CODES = {"429": "TooManyRequests", "500": "InternalError", "503": "SlowDown"}
HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive", "content-length", "date", "server"}


def operation_of(method: str, url: str, headers: Mapping[str, str]) -> Operation:
    """What a request asks S3 for."""
    query = parse_qs(urlsplit(url).query, keep_blank_values=True)
    names = {name.lower() for name in headers}
    match method:
        case "PUT" if "partNumber" in query:
            return "part"
        case "PUT" if "x-amz-copy-source" in names:
            return "copy"
        case "PUT" if "if-none-match" in names:
            return "create"
        case "PUT":
            return "put"
        case "POST" if "uploads" in query:
            return "begin"
        case "POST" if "uploadId" in query:
            return "complete"
        case "DELETE" if "uploadId" in query:
            return "abort"
        case "POST" | "DELETE":
            return "delete"
        case _ if "list-type" in query:
            return "list"
    return "get"


@dataclass(frozen=True, slots=True)
class Fault:
    """What to spoil.

    Args:
        kind: how; every kind but `lost reply` keeps the request from the server.
        operation: which requests are counted.
        nth: the first of them that is spoilt, from 1.
        times: how many in a row.
    """

    kind: FaultKind
    operation: Operation
    nth: int = 1
    times: int = 1


@dataclass
class S3Proxy:
    """A running proxy.

    Args:
        server: `host:port` it passes requests on to.
        hold_secs: how long a request of the kind `time-out` is left without an answer.
        fault: what to spoil; None for nothing. May be changed at any time, which starts the counting anew.
        spoilt: how many requests were.
    """

    server: str
    hold_secs: float
    spoilt: int = 0
    url: str = ""
    _fault: Fault | None = None
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closing: threading.Event = field(default_factory=threading.Event)

    def spoil(self, fault: Fault | None) -> None:
        with self._lock:
            self._fault, self.spoilt = fault, 0
            self._seen.clear()

    def fault_for(self, operation: Operation) -> FaultKind | None:
        """Count a request, and say what happens to it."""
        with self._lock:
            self._seen[operation] += 1
            fault = self._fault
            if fault is None or fault.operation != operation:
                return None
            if not fault.nth <= self._seen[operation] < fault.nth + fault.times:
                return None
            self.spoilt += 1
            return fault.kind

    def hold(self) -> None:
        self._closing.wait(self.hold_secs)

    def close(self) -> None:
        self._closing.set()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: S3Proxy

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        match self.proxy.fault_for(operation_of(self.command, self.path, self.headers)):
            case None:
                self._answer(*self._pass_on(body))
            case "lost reply":
                self._pass_on(body)
                self._reset()
            case "reset":
                self._reset()
            case "time-out":
                self.proxy.hold()
                self._reset()
            case code:
                text = f"<?xml version='1.0'?><Error><Code>{CODES[code]}</Code><Message>made up</Message></Error>"
                self._answer(int(code), {"Content-Type": "application/xml"}, text.encode())

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _handle  # noqa: N815  the base class looks for these names

    def _pass_on(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        upstream = http.client.HTTPConnection(self.proxy.server)
        try:
            upstream.request(self.command, self.path, body, dict(self.headers))
            answer = upstream.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            upstream.close()

    def _answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        length = headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(body))
        for name, value in headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(body)

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
def s3_proxy(server_url: str, *, hold_secs: float = 3.0) -> Iterator[S3Proxy]:
    """Run a proxy on loopback for as long as the context lasts."""
    proxy = S3Proxy(urlsplit(server_url).netloc, hold_secs)
    handler = type("Handler", (_Handler,), {"proxy": proxy})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        server.shutdown()
        server.server_close()
        thread.join()
