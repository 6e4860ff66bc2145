"""What a proxy in front of an S3 server spoils: chosen requests, counted by what they ask for."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from tests.crash.http_proxy import Answer, Fate, http_proxy

FaultKind = Literal["429", "500", "503", "reset", "time-out", "lost reply"]
Operation = Literal["put", "create", "begin", "part", "complete", "abort", "copy", "list", "delete", "get"]

FAULTS: tuple[FaultKind, ...] = ("429", "500", "503", "reset", "time-out", "lost reply")
CODES = {"429": "TooManyRequests", "500": "InternalError", "503": "SlowDown"}


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
        spoilt: how many requests were.
        url: where clients go.
    """

    spoilt: int = 0
    url: str = ""
    _fault: Fault | None = None
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spoil(self, fault: Fault | None) -> None:
        """Spoil something else from now on, or nothing; the counting starts anew."""
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

    def fate(self, method: str, path: str, headers: Mapping[str, str]) -> Fate:
        """What happens to a request."""
        match self.fault_for(operation_of(method, path, headers)):
            case None:
                return "pass"
            case "lost reply" | "reset" | "time-out" as kind:
                return kind
            case code:
                text = f"<?xml version='1.0'?><Error><Code>{CODES[code]}</Code><Message>made up</Message></Error>"
                return Answer(int(code), {"Content-Type": "application/xml"}, text.encode())


@contextmanager
def s3_proxy(server_url: str, *, hold_secs: float = 3.0) -> Iterator[S3Proxy]:
    """Run a proxy on loopback for as long as the context lasts; `hold_secs` is how long a `time-out` takes."""
    proxy = S3Proxy()
    with http_proxy(server_url, proxy.fate, hold_secs=hold_secs) as proxy.url:
        yield proxy
