"""Options of reads and writes of OpenSearch and Elasticsearch, as Glue and the connectors of Spark spell them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gluepot.connectors.options import ScriptOptions
from gluepot.core.errors import ConfigError, NotSupported

TYPES = ("opensearch", "elasticsearch")
_ADDRESS = ("nodes", "port", "resource", "net.ssl", "net.ssl.cert.allow.self.signed", "net.http.auth.user",
            "net.http.auth.pass")  # fmt: skip
_READ = ("resource.read", "query", "scroll.size", "scroll.keepalive", "max.docs.per.partition", "read.field.include",
         "read.field.exclude", "read.metadata")  # fmt: skip
_WRITE = ("resource.write", "mapping.id", "mapping.exclude", "write.operation", "batch.size.entries",
          "batch.size.bytes")  # fmt: skip


def _in_both(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{prefix}.{name}" for prefix in ("opensearch", "es") for name in names)


READ_OPTIONS = _in_both((*_ADDRESS, *_READ))
WRITE_OPTIONS = (*_in_both((*_ADDRESS, *_WRITE)), "rejectsPath")
HARMLESS = frozenset(
    {
        "connectionname", "connectiontype", "usecatalogtable", "pushdown",
        *_in_both(
            (
                "nodes.wan.only", "nodes.discovery", "nodes.client.only", "nodes.data.only", "batch.write.refresh",
                "batch.write.retry.count", "batch.write.retry.wait", "index.auto.create", "http.timeout",
                "http.retries", "mapping.date.rich", "aws.sigv4.enabled", "aws.sigv4.region",
            )
        ),
    }
)  # fmt: skip
"""Only the given nodes are called, always, and calls are tried again by time and not by number."""

# Defaults of OpenSearch's connector for Spark.
PORT, BATCH_ENTRIES, BATCH_BYTES, SCROLL_SIZE = 9200, 1000, 1 << 20, 1000
OPERATIONS = ("index", "create", "update", "upsert")
_SIZE = re.compile(r"(\d+)(b|kb|mb|gb)?", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_KEEP_ALIVE = re.compile(r"\d+(ms|s|m|h)")
_BAD_INDEX = re.compile(r'[\s\\/*?"<>|#A-Z]')


@dataclass(frozen=True, slots=True)
class Address:
    """An index.

    Args:
        type: `opensearch` or `elasticsearch`.
        nodes: URLs of the nodes, without user and password.
        index: name of the index, an alias or, for a read, a pattern.
        user: empty where none is needed.
        password: likewise.
        checks_certificates: whether the certificates of the nodes must be trusted ones.
    """

    type: str
    nodes: tuple[str, ...]
    index: str
    user: str = ""
    password: str = field(default="", repr=False)
    checks_certificates: bool = True

    @property
    def where(self) -> str:
        """The index, for messages."""
        return f"The index {self.index} at {', '.join(self.nodes)}"


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """One write.

    Args:
        address: the index.
        id_path: names that lead to the field whose value is the id; empty to use the id that a retry repeats.
        left_out: fields that are not written.
        operation: one of `OPERATIONS`.
        batch_entries: largest number of documents in a call.
        batch_bytes: largest size of a call with several documents.
    """

    address: Address
    id_path: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()
    operation: str = "index"
    batch_entries: int = BATCH_ENTRIES
    batch_bytes: int = BATCH_BYTES


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """One read.

    Args:
        address: the index.
        query: JSON of the query.
        page_documents: how many documents a call returns.
        keep_alive: how long the server waits for the next call, such as `5m`.
        documents_a_slice: most documents of a task; None for one task for each shard.
        included: patterns of fields to read; empty for all.
        excluded: patterns of fields to leave out.
        has_metadata: whether rows have a column `_metadata` with index and id.
    """

    address: Address
    query: str
    page_documents: int
    keep_alive: str
    documents_a_slice: int | None
    included: tuple[str, ...]
    excluded: tuple[str, ...]
    has_metadata: bool


def write_settings(kind: str, options: Mapping[str, Any]) -> WriteSettings:
    """Check the options of a write.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    given = _given(options)
    given.warn_unknown(WRITE_OPTIONS, HARMLESS)
    address = _address(kind, given, "opensearch.resource.write")
    if _BAD_INDEX.search(address.index) or address.index.startswith(("-", "_", "+")):
        raise ConfigError(
            f"opensearch.resource is {address.index!r}; an index to write to has a name in lower case, without spaces"
            ' and without any of \\/*?"<>|#.'
        )
    id_path = tuple(filter(None, given.text("opensearch.mapping.id").split(".")))
    operation = given.text("opensearch.write.operation").lower() or "index"
    if operation not in OPERATIONS:
        raise ConfigError(f"opensearch.write.operation is {operation!r}; use one of {', '.join(OPERATIONS)}.")
    if operation == "create" and id_path:
        raise ConfigError(
            "opensearch.write.operation is 'create', and a batch that is tried again could not create its documents a"
            " second time; use 'index', which puts each document under its id."
        )
    if operation == "update" and not id_path:
        raise ConfigError("opensearch.write.operation is 'update' without opensearch.mapping.id; name the id's field.")
    return WriteSettings(
        address,
        id_path,
        frozenset(_names(given, "opensearch.mapping.exclude")),
        operation,
        given.count("opensearch.batch.size.entries") or BATCH_ENTRIES,
        _size_bytes(given, "opensearch.batch.size.bytes", BATCH_BYTES),
    )


def read_settings(kind: str, options: Mapping[str, Any]) -> ReadSettings:
    """Check the options of a read.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    given = _given(options)
    given.warn_unknown(READ_OPTIONS, HARMLESS)
    keep_alive = given.text("opensearch.scroll.keepalive") or "5m"
    if not _KEEP_ALIVE.fullmatch(keep_alive):
        raise ConfigError(f"opensearch.scroll.keepalive is {keep_alive!r}; use a time such as 5m.")
    return ReadSettings(
        _address(kind, given, "opensearch.resource.read"),
        _query(given),
        given.count("opensearch.scroll.size") or SCROLL_SIZE,
        keep_alive,
        given.count("opensearch.max.docs.per.partition"),
        _names(given, "opensearch.read.field.include"),
        _names(given, "opensearch.read.field.exclude"),
        given.flag("opensearch.read.metadata", default=False),
    )


def _given(options: Mapping[str, Any]) -> ScriptOptions:
    """Return the options under the names that OpenSearch's connector has for them."""
    given = ScriptOptions({re.sub(r"(?i)^es\.", "opensearch.", name): value for name, value in options.items()})
    if given.flag("opensearch.aws.sigv4.enabled", default=False):
        raise NotSupported(
            "opensearch.aws.sigv4.enabled",
            "Leave it out and give opensearch.net.http.auth.user and opensearch.net.http.auth.pass.",
        )
    return given


def _address(kind: str, given: ScriptOptions, further: str) -> Address:
    # Indexes had types, such as `orders/_doc`.
    index = (given.text(further) or given.text("opensearch.resource")).partition("/")[0]
    if not index:
        raise ConfigError("opensearch.resource is missing; give the name of an index.")
    if "{" in index:
        raise ConfigError(
            f"opensearch.resource is {index!r}; an index that a field names is not supported, so write each index by"
            " itself."
        )
    is_encrypted = given.flag("opensearch.net.ssl", default=False)
    port = given.count("opensearch.port")
    nodes = tuple(
        _node(one.strip(), port, is_encrypted=is_encrypted)
        for one in (given.text("opensearch.nodes") or "localhost").split(",")
        if one.strip()
    )
    return Address(
        kind,
        nodes,
        index,
        given.text("opensearch.net.http.auth.user"),
        given.raw("opensearch.net.http.auth.pass"),
        not given.flag("opensearch.net.ssl.cert.allow.self.signed", default=False),
    )


def _node(text: str, port: int | None, *, is_encrypted: bool) -> str:
    scheme, found, host = text.rpartition("://")
    scheme = scheme.lower() if found else "https" if is_encrypted or port == 443 else "http"
    host = host.rstrip("/")
    if scheme not in {"http", "https"} or not host or "@" in host or "/" in host:
        shown = host.rpartition("@")[2] or "empty"
        raise ConfigError(f"opensearch.nodes has the node {shown!r}; write nodes as host, host:port or https://host.")
    if re.search(r":\d+$", host):
        return f"{scheme}://{host}"
    return f"{scheme}://{host}:{port or PORT}"


def _query(given: ScriptOptions) -> str:
    text = given.text("opensearch.query")
    if not text:
        return json.dumps({"match_all": {}})
    if text.startswith("?"):
        found = re.fullmatch(r"\?q=(.+)", text)
        if found is None:
            raise ConfigError(f"opensearch.query is {text!r}; write ?q=text, or a query as JSON.")
        return json.dumps({"query_string": {"query": found[1]}})
    try:
        plain = json.loads(text)
        query = plain.get("query", plain)
    except (ValueError, AttributeError) as wrong:
        raise ConfigError(
            f"opensearch.query is {text[:40]!r}, which is not a JSON object; write ?q=text or JSON."
        ) from wrong
    return json.dumps(query)


def _names(given: ScriptOptions, option: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in given.text(option).split(",") if name.strip())


def _size_bytes(given: ScriptOptions, option: str, default: int) -> int:
    text = given.text(option)
    found = _SIZE.fullmatch(text)
    if not text:
        return default
    if found is None or not int(found[1]):
        raise ConfigError(f"{option} is {text!r}; use a size such as 1mb.")
    return int(found[1]) * _UNITS[(found[2] or "").lower()]
