"""Notes what an S3 server of a test carries out, in its order."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from tests.model.changes import Change, Recorder
from tests.model.recording import Entry

_HOME = "/_gluepot/"

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class RequestLog:
    """A layer in front of a WSGI application that speaks S3: requests that change something are carried out in turn.

    A request whose body ends too early, because its sender was killed, is refused, as S3 does.
    """

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._in_turn = threading.Lock()

    def around(self, application: Application) -> Application:
        """Return the application with this layer."""

        def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
            if environ["REQUEST_METHOD"] in {"GET", "HEAD"}:
                return application(environ, start)
            length = int(environ.get("CONTENT_LENGTH") or 0)
            body = environ["wsgi.input"].read(length) if length else b""
            if len(body) < length:
                start("400 Bad Request", [("Content-Length", "0")])
                return []
            environ["wsgi.input"] = io.BytesIO(body)
            statuses: list[int] = []

            def started(status: str, *more: Any) -> Any:
                statuses.append(int(status.split(maxsplit=1)[0]))
                return start(status, *more)

            with self._in_turn:
                answered = list(application(environ, started))
                self.changes += changes_of(environ, body, statuses[-1])
            return answered

        return answer

    def entries(self, title: str) -> Iterator[Entry]:
        """Yield logs for the model; see `Recorder.entries`."""
        roots = {one.path.split(_HOME, 1)[0] for one in self.changes if _HOME in one.path}
        by_length = sorted(roots, key=len, reverse=True)
        recorder = Recorder(lambda path: next(root for root in by_length if path.startswith(f"{root}/")))
        for one in self.changes:
            with suppress(StopIteration):  # not of a table
                recorder(one)
        yield from recorder.entries(title)


def changes_of(environ: dict[str, Any], body: bytes, status: int) -> list[Change]:
    """Return what a request and its answer come to.

    Raises:
        AssertionError: it is of a kind that no job of the tests sends.
    """
    method = environ["REQUEST_METHOD"]
    path = environ["PATH_INFO"].encode("latin-1").decode().strip("/")  # WSGI passes bytes as characters
    query = environ.get("QUERY_STRING", "")
    done = 200 <= status < 300
    source = environ.get("HTTP_X_AMZ_COPY_SOURCE")
    is_creation = environ.get("HTTP_IF_NONE_MATCH") == "*"
    if "/" not in path and "delete" not in query.split("&")[0]:
        return []  # of the bucket itself
    match method:
        case "PUT" if source is not None:
            return [Change("", "copied" if done else "missed", path, source=unquote(source).strip("/"))]
        case "PUT" if "uploadId" not in query:
            if done:
                return [Change("", "created" if is_creation else "put", path, body)]
            return [Change("", "exists", path, body)] if is_creation and status == 412 else []
        case "DELETE" if "uploadId" not in query:
            return [Change("", "deleted", path)] if done else []
        case "POST" if query.split("&")[0].rstrip("=") == "delete":
            keys = [one.text for one in ET.fromstring(body).iter() if one.tag.endswith("Key")]
            return [Change("", "deleted", f"{path}/{key}") for key in keys] if done else []
    raise AssertionError(f"{method} {path}?{query} is no request that a log knows")
