"""Judges what was found. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from gluepot.catalog.connections import Connection
from gluepot.core.disk import GIB_BYTES

# Spark's shuffles, Kafka's development broker and Kinesis' spool are on the disk; the broker alone wants 2 GiB.
ENOUGH_BYTES = 4 * GIB_BYTES
LEAST_BYTES = GIB_BYTES // 2
# AWS refuses signatures that are more than five minutes off.
REFUSED_SECS = 300.0
NOTABLE_SECS = 30.0
_DATABASES = ("GLUEPOT_LEDGER", "GLUEPOT_CATALOG", "GLUEPOT_SERVICE")
_PORTS = {"http": 80, "https": 443, "postgresql": 5432, "mysql": 3306, "sqlserver": 1433}
_JDBC = re.compile(r"jdbc:(?P<kind>\w+):/*(?P<host>[^:/;?]+)(?::(?P<port>\d+))?")

State = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check.

    Args:
        name: what was checked.
        state: a problem keeps jobs from running; a warning does not.
        found: what there is.
        to_do: the next step; empty if there is nothing to do.
    """

    name: str
    state: State
    found: str
    to_do: str = ""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that this machine is told to use.

    Args:
        name: who names it: a variable or a connection.
        host: its host.
        port: its port.
        url: its URL if it speaks HTTP; else empty.
    """

    name: str
    host: str
    port: int
    url: str = ""


def endpoints(environ: Mapping[str, str], connections: Iterable[Connection]) -> Iterator[Endpoint]:
    """Yield the servers that variables and connections name. References to secrets are left out."""
    for name, value in sorted(environ.items()):
        if name.startswith("AWS_ENDPOINT_URL") or name in {"GLUEPOT_PUSH_GATEWAY", *_DATABASES}:
            yield from _of_url(name, value)
    for one in connections:
        for broker in one.properties.get("KAFKA_BOOTSTRAP_SERVERS", "").split(","):
            host, _, port = broker.strip().rpartition(":")
            if host and port.isdecimal():
                yield Endpoint(f"connection {one.name}", host, int(port))
        if found := _JDBC.match(one.properties.get("JDBC_CONNECTION_URL", "")):
            port = found["port"] or str(_PORTS.get(found["kind"], ""))
            if port:
                yield Endpoint(f"connection {one.name}", found["host"], int(port))


def _of_url(name: str, text: str) -> Iterator[Endpoint]:
    try:
        parts = urlsplit(text)
        port = parts.port or _PORTS.get(parts.scheme.partition("+")[0])
    except ValueError:
        return
    if parts.hostname and port:
        yield Endpoint(name, parts.hostname, port, text if parts.scheme.startswith("http") else "")


def of_disk(name: str, folder: str, free_bytes: int) -> Check:
    """Judge the free space of the disk that holds a folder."""
    found = f"{free_bytes / GIB_BYTES:.1f} GiB free in {folder}"
    if free_bytes >= ENOUGH_BYTES:
        return Check(name, "ok", found)
    state: State = "problem" if free_bytes < LEAST_BYTES else "warning"
    return Check(name, state, found, f"Make room: {ENOUGH_BYTES // GIB_BYTES} GiB are enough for a start.")


def of_compiled_modules(missing: Mapping[str, Path], *, forbidden: bool) -> Check:
    """Judge whether Python has to compile its modules at each start; a job of one row takes 1.6 s of CPU time for it.

    Args:
        missing: the packages that are not stored compiled, and never will be, and the folders that they are in.
        forbidden: whether PYTHONDONTWRITEBYTECODE is set.
    """
    if not missing:
        return Check("compiled modules", "ok", "stored")
    why = "PYTHONDONTWRITEBYTECODE is set" if forbidden else "their folders cannot be written"
    found = f"each process compiles {', '.join(missing)} anew: {why}"
    how = "Unset it, or run" if forbidden else "Run"
    folders = " ".join(str(folder) for folder in dict.fromkeys(missing.values()))
    return Check("compiled modules", "warning", found, f"{how} `python -m compileall -q {folders}` once.")


def of_clock(name: str, behind_secs: float) -> Check:
    """Judge how far this machine's clock is behind that of a server."""
    off = abs(behind_secs)
    found = f"{off:.0f} s {'behind' if behind_secs > 0 else 'ahead of'} the server of {name}"
    if off < NOTABLE_SECS:
        return Check("clock", "ok", found)
    state: State = "problem" if off >= REFUSED_SECS else "warning"
    return Check("clock", state, found, "Let NTP set the clock: signatures of AWS and leases depend on it.")


def of_endpoint(endpoint: Endpoint, failure: str, developments: Mapping[str, int]) -> Check:
    """Judge whether a server can be reached.

    Args:
        endpoint: the server.
        failure: why no connection came about; empty if one did.
        developments: ports of the development servers that the project file names, by name.
    """
    where = f"{endpoint.host}:{endpoint.port}"
    if not failure:
        return Check(endpoint.name, "ok", f"{where} answers")
    found = f"{where} does not answer ({failure})"
    if endpoint.port in developments.values():
        return Check(endpoint.name, "problem", found, "Start it with `gluepot up`.")
    kind = endpoint.name.removeprefix("AWS_ENDPOINT_URL_").lower()
    if kind in {"s3", "kinesis"} and endpoint.host in {"127.0.0.1", "localhost"}:
        step = f"Start it with `gluepot up {kind}` and export what that prints, or unset {endpoint.name}."
    elif endpoint.name.startswith("connection "):
        step = "Start the server, or correct the connection."
    else:
        step = f"Start the server, or correct {endpoint.name}."
    return Check(endpoint.name, "problem", found, step)


def conclusion(checks: Iterable[Check]) -> str:
    """Return one sentence about all checks."""
    problems = [one.name for one in checks if one.state == "problem"]
    if not problems:
        return "Nothing that jobs need is missing."
    return f"Jobs need what is missing here: {', '.join(problems)}. The last column says what to do."
