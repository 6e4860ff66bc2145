"""The names of sources and targets in lineage, by OpenLineage's naming rules (its spec/Naming.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_SCHEMES = {"postgresql": "postgres"}
_DEFAULT_PORTS = {"kafka": 9092, "postgres": 5432, "mysql": 3306, "oracle": 1521, "sqlserver": 1433}
_DEFAULT_SCHEMAS = {"postgres": "public", "sqlserver": "dbo"}


@dataclass(frozen=True, slots=True, order=True)
class Dataset:
    """A topic, stream, folder or table.

    Args:
        namespace: where it is: `kafka://host:port`, `s3://bucket`, `file`.
        name: its name in that namespace.
    """

    namespace: str
    name: str


def folder_dataset(url: str) -> Dataset:
    """Return the name of a folder or file.

    Args:
        url: a path on this machine, a `file://` URL or the URL of an object store.
    """
    parts = urlsplit(url)
    if parts.scheme in {"", "file"}:
        return Dataset("file", parts.path or "/")
    return Dataset(f"{parts.scheme}://{parts.netloc}", parts.path.strip("/") or "/")


def topic_dataset(bootstrap: str, topic: str) -> Dataset:
    """Return the name of a Kafka topic.

    Args:
        bootstrap: the bootstrap servers, as a client gets them; the first one stands for the cluster.
        topic: its name.
    """
    first = bootstrap.split(",", maxsplit=1)[0].strip().rpartition("//")[2]
    return Dataset(f"kafka://{_with_port(first, 'kafka')}", topic)


def stream_dataset(host: str, stream: str) -> Dataset:
    """Return the name of a Kinesis stream: the host of the service and its name. The specification has no rule."""
    return Dataset(f"kinesis://{host}", stream)


def table_dataset(url: str, table: str) -> Dataset:
    """Return the name of a database table, without user, password and options of the URL.

    Args:
        url: `jdbc:kind://host:port/database` or `postgresql://...`.
        table: with or without its schema.
    """
    plain, *options = re.split(r"[;?&]", url.removeprefix("jdbc:"))
    parts = urlsplit(plain)
    kind = _SCHEMES.get(parts.scheme, parts.scheme)
    named = dict(option.lower().split("=", 1) for option in options if "=" in option)
    database = parts.path.strip("/") or named.get("databasename", "")
    given = table.replace('"', "").split(".")
    schema = [_DEFAULT_SCHEMAS[kind]] if len(given) == 1 and kind in _DEFAULT_SCHEMAS else []
    host = parts.netloc.rpartition("@")[2]
    return Dataset(f"{kind}://{_with_port(host, kind)}", ".".join(filter(None, [database, *schema, *given])))


def _with_port(host: str, kind: str) -> str:
    if re.search(r":\d+$", host) or kind not in _DEFAULT_PORTS:
        return host
    return f"{host}:{_DEFAULT_PORTS[kind]}"
