"""Confluent's schema registry, or one that answers its API, such as Karapace or Redpanda's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final
from urllib.parse import quote

import urllib3

from gluepot.connectors.streams.registries.lookup import Lookup
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError, PermanentError, TransientError
from gluepot.frames.registered import ConfluentHeader, WrittenSchema

_CONNECT_SECS, _ANSWER_SECS = 5.0, 30.0
_TOO_MANY = 429
# Codes of the registry's own errors: a subject, a version and a schema that there is not.
_MISSING: Final = frozenset({40401, 40402, 40403})
# How deep references may lead, so that a registry whose schemas name each other in a circle is not asked for ever.
_DEEPEST: Final = 32


@dataclass(frozen=True, slots=True)
class ConfluentRegistry:
    """A `SchemaRegistry`.

    Args:
        urls: addresses of one registry; the next is asked if one does not answer.
        login: `user:password`; empty for none.
        token: bearer token; empty for none.
        ca_file: certificates of authorities to trust; empty for those of the machine.
    """

    urls: tuple[str, ...]
    login: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    ca_file: str = ""

    @property
    def header(self) -> ConfluentHeader:
        """See `SchemaRegistry`."""
        return ConfluentHeader()

    def schema(self, schema_id: str) -> WrittenSchema | None:
        """See `SchemaRegistry`."""
        return _lookup(self).schema(schema_id)

    @property
    def title(self) -> str:
        """The registry, for messages."""
        return f"The schema registry at {', '.join(self.urls)}"


@cache
def _lookup(registry: ConfluentRegistry) -> Lookup:
    return Lookup(lambda schema_id: _schema(registry, schema_id), SystemClock())


@cache
def _pool(ca_file: str) -> urllib3.PoolManager:
    timeout = urllib3.Timeout(connect=_CONNECT_SECS, read=_ANSWER_SECS)
    return urllib3.PoolManager(retries=False, timeout=timeout, ca_certs=ca_file or None)


def _schema(registry: ConfluentRegistry, schema_id: str) -> WrittenSchema | None:
    path = f"/schemas/ids/{schema_id}"
    answer = _get(registry, path)
    if answer is None:
        return None
    kind = str(answer.get("schemaType") or "AVRO")
    if kind == "PROTOBUF":  # a descriptor needs no parser; a registry that has none answers with the text again
        answer = _get(registry, f"{path}?format=serialized") or answer
    return WrittenSchema(kind, str(answer["schema"]), tuple(_references(registry, answer, kind, 0).items()))


def _references(registry: ConfluentRegistry, answer: Mapping[str, Any], kind: str, depth: int) -> dict[str, str]:
    """Return the schemas that a schema refers to, by name, each after those that it refers to itself."""
    if depth > _DEEPEST:
        raise ConfigError(f"{registry.title} has schemas that refer to each other more than {_DEEPEST} times.")
    found: dict[str, str] = {}
    for one in answer.get("references") or ():
        path = f"/subjects/{quote(one['subject'], safe='')}/versions/{one['version']}"
        referred = _get(registry, f"{path}?format=serialized" if kind == "PROTOBUF" else path)
        if referred is None:
            raise ConfigError(
                f"{registry.title} lacks version {one['version']} of {one['subject']}, to which a schema refers;"
                " register it again."
            )
        found |= {**_references(registry, referred, kind, depth + 1), one["name"]: str(referred["schema"])}
    return found


def _says_missing(body: bytes) -> bool:
    """Tell a registry that lacks a subject, a version or a schema from a server that lacks the path."""
    try:
        return json.loads(body).get("error_code") in _MISSING
    except (ValueError, AttributeError):
        return False


def _get(registry: ConfluentRegistry, path: str) -> dict[str, Any] | None:
    """Return an answer; None if the registry has no such schema. Addresses are tried in turn."""
    headers = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
    if registry.login:
        headers |= urllib3.make_headers(basic_auth=registry.login)
    elif registry.token:
        headers["Authorization"] = f"Bearer {registry.token}"
    problem = ""
    for url in registry.urls:
        try:
            answer = _pool(registry.ca_file).request("GET", url + path, headers=headers)
        except urllib3.exceptions.HTTPError as away:
            problem = f"{url} does not answer: {away}"
            continue
        if answer.status == 404 and _says_missing(answer.data):
            return None
        if answer.status in {401, 403}:
            raise ConfigError(f"The schema registry at {url} refuses access (HTTP {answer.status}); check its login.")
        if answer.status >= 500 or answer.status == _TOO_MANY:
            problem = f"{url} answers {path} with HTTP {answer.status}"
            continue
        if answer.status != 200:
            raise PermanentError(
                f"The schema registry at {url} refuses {path} (HTTP {answer.status}); check schema.registry.url."
            )
        try:
            plain = json.loads(answer.data)
        except ValueError:
            plain = None
        if not isinstance(plain, dict) or "schema" not in plain:
            raise ConfigError(f"{url} answers {path} with something else than a schema; is it a schema registry?")
        return plain
    raise TransientError(f"The schema registry is away: {problem}.", 5.0)
