"""A registry of schemas that answers the calls of Confluent's clients, in memory, over HTTP."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Registry:
    """What it holds, and what it does.

    Args:
        by_id: schemas by id.
        subjects: ids by subject, the oldest first.
        asked: the paths of all GET requests.
        away: whether it answers every request with HTTP 503.
    """

    url: str = ""
    by_id: dict[int, dict[str, Any]] = field(default_factory=dict)
    subjects: dict[str, list[int]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    away: bool = False

    def register(self, subject: str, schema: dict[str, Any]) -> int:
        kept = {name: schema[name] for name in ("schema", "schemaType", "references") if schema.get(name)}
        known = next((number for number, one in self.by_id.items() if one == kept), None)
        number = known or len(self.by_id) + 1
        self.by_id[number] = kept
        ids = self.subjects.setdefault(subject, [])
        if number not in ids:
            ids.append(number)
        return number

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self.away:
            return 503, {"error_code": 50301, "message": "away"}
        if found := re.fullmatch(r"/schemas/ids/(\d+)", path):
            one = self.by_id.get(int(found[1]))
            return (200, one) if one else (404, {"error_code": 40403, "message": "Schema not found"})
        if (found := re.fullmatch(r"/subjects/([^/]+)(/versions)?", path)) and method == "POST":
            number = self.register(found[1], body)
            version = self.subjects[found[1]].index(number) + 1
            return 200, {"id": number, "subject": found[1], "version": version, **self.by_id[number]}
        if found := re.fullmatch(r"/subjects/([^/]+)/versions/(\d+)", path):
            number = self.subjects[found[1]][int(found[2]) - 1]
            return 200, {"id": number, "subject": found[1], "version": int(found[2]), **self.by_id[number]}
        return 404, {"error": "no such path"}


@contextmanager
def running() -> Iterator[Registry]:
    """Run a registry on a free port."""
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            registry.asked.append(self.path)
            self._answer("GET", {})

        def do_POST(self) -> None:
            self._answer("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, method: str, body: dict[str, Any]) -> None:
            status, plain = registry.answer(method, self.path.partition("?")[0], body)
            text = json.dumps(plain).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
