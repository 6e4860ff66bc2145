"""A server that takes pushes of metrics as Prometheus' gateway does, and tells what it was sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

from prometheus_client.parser import text_string_to_metric_families


@dataclass
class Gateway:
    """What was sent, and what is answered.

    Args:
        url: its address.
        status: of its answers.
        pushes: method, path and the values by name of each push.
    """

    url: str
    status: int = 200
    pushes: list[tuple[str, str, dict[str, float]]] = field(default_factory=list)


@contextmanager
def push_gateway() -> Iterator[Gateway]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            samples = [one for family in text_string_to_metric_families(text) for one in family.samples]
            gateway.pushes.append((self.command, self.path, {one.name: one.value for one in samples}))
            self.send_response(gateway.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        gateway = Gateway(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield gateway
        finally:
            server.shutdown()
            thread.join()
