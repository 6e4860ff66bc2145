"""Posts rows to an HTTP server, each as a request with the row's JSON, or several as a JSON list."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import urllib3

from gluepot.connectors.aws.errors import Throttled
from gluepot.connectors.documents.bulk import Answer, Entry, Limits, Refused
from gluepot.connectors.json_values import json_document
from gluepot.connectors.notifications.sending import notify, required
from gluepot.connectors.options import ScriptOptions
from gluepot.connectors.values import Document, Refusal
from gluepot.core.datasets import Dataset
from gluepot.core.errors import ConfigError, TransientError

KNOWN = ("url", "headers", "method", "batchSize", "rejectsPath")
METHODS = ("POST", "PUT")
IDEMPOTENCY_KEY = "Idempotency-Key"
_CALL_BYTES = 1 << 20
_CONNECT_SECS, _ANSWER_SECS = 5.0, 30.0
_TOO_MANY, _TIMED_OUT, _TOO_EARLY, _AWAY = 429, 408, 425, 500
_NOT_ALLOWED = (401, 403, 404, 405)
_SAID_CHARACTERS = 200


@dataclass(frozen=True)
class WebhookStore:
    """A `DocumentStore` over an HTTP server.

    Args:
        url: of the server.
        headers: of each request, as pairs.
        method: POST or PUT.
        batch_size: how many rows a request has; with 1 its body is the row's object, otherwise a list of objects.
        guarantee: see `DocumentStore`.
    """

    url: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    method: str = "POST"
    batch_size: int = 1
    guarantee: str = "each row at least once; a repetition of a row has the same Idempotency-Key"

    @property
    def place(self) -> str:
        """See `DocumentStore`."""
        parts = urlsplit(self.url)
        return f"webhook {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def dataset(self) -> Dataset:
        """See `DocumentStore`."""
        parts = urlsplit(self.url)
        return Dataset(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", parts.path or "/")

    def check(self) -> None:
        """Do nothing: a server that takes rows need not answer anything else."""

    def put(self, documents: Sequence[Document]) -> list[Refusal]:
        """See `DocumentStore`."""
        bodies = (json_document(one.fields) for one in documents)
        entries = [
            Entry(at, (one.id, body), len(body)) for at, (one, body) in enumerate(zip(documents, bodies, strict=True))
        ]
        return notify(entries, self._send, Limits(self.batch_size, _CALL_BYTES), f"The {self.place}")

    def _send(self, part: Sequence[Entry[tuple[str, bytes]]]) -> Answer[tuple[str, bytes]]:
        ids, bodies = zip(*(one.body for one in part), strict=True)
        body = bodies[0] if self.batch_size == 1 else b"[" + b",".join(bodies) + b"]"
        headers = {"Content-Type": "application/json", IDEMPOTENCY_KEY: ",".join(ids), **dict(self.headers)}
        try:
            answer = _pool(os.getpid()).request(self.method, self.url, body=body, headers=headers, redirect=False)
        except urllib3.exceptions.HTTPError as away:
            raise TransientError(f"The {self.place} does not answer ({type(away).__name__}).") from away
        said = f"HTTP {answer.status}: {answer.data[:_SAID_CHARACTERS].decode(errors='replace')}".strip().rstrip(":")
        if answer.status in {_TOO_MANY, _TIMED_OUT, _TOO_EARLY} or answer.status >= _AWAY:
            raise Throttled(said)
        if answer.status in _NOT_ALLOWED:
            raise ConfigError(f"The {self.place} may not be used ({said}); check url, method and headers.")
        if not 200 <= answer.status < 300:
            raise Refused(f"The {self.place} does not accept a request ({said}).", said)
        return Answer()


@cache
def _pool(process: int) -> urllib3.PoolManager:  # noqa: ARG001  a fork opens its own
    return urllib3.PoolManager(
        maxsize=8, retries=False, timeout=urllib3.Timeout(connect=_CONNECT_SECS, read=_ANSWER_SECS)
    )


def webhook_store(options: Mapping[str, Any]) -> WebhookStore:
    """Return the store for a script's options.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    given = ScriptOptions(options)
    given.warn_unknown(KNOWN)
    url = required(given, "url")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ConfigError(f"The url of the webhook begins with {parts.scheme!r}; use http://... or https://...")
    method = (given.text("method") or "POST").upper()
    if method not in METHODS:
        raise ConfigError(f"method is {method!r}; use one of {', '.join(METHODS)}.")
    return WebhookStore(url, _headers(given.text("headers")), method, given.count("batchSize") or 1)


def _headers(text: str) -> tuple[tuple[str, str], ...]:
    try:
        plain = json.loads(text or "{}")
    except ValueError:
        plain = None
    if not isinstance(plain, dict):
        raise ConfigError("headers is not a JSON object; use a dict of names and values, such as {'X-Team': 'data'}.")
    return tuple((str(name), str(value)) for name, value in plain.items())
