"""The options of a stream that name a schema registry, checked once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from gluepot.connectors.options import ScriptOptions
from gluepot.core.errors import ConfigError

if TYPE_CHECKING:  # they load decoders, and most streams have no registry
    from gluepot.connectors.streams.registries.confluent import ConfluentRegistry
    from gluepot.connectors.streams.registries.glue import GlueRegistry

# Names that begin with `schema.registry.` are those of Confluent's clients.
URL, LOGIN, TOKEN, CA = (
    "schema.registry.url",
    "schema.registry.basic.auth.user.info",
    "schema.registry.bearer.auth.token",
    "schema.registry.ssl.ca.location",
)
KIND, ENDPOINT = "schemaRegistry", "schemaRegistryEndpoint"
REGISTRY_OPTIONS = (KIND, ENDPOINT, URL, LOGIN, TOKEN, CA)


def registry_of(options: Mapping[str, Any]) -> GlueRegistry | ConfluentRegistry | None:
    """Return the registry that the options of a stream name; None if they name none.

    Raises:
        ConfigError: options contradict each other, or have a value outside what is allowed.
    """
    given = ScriptOptions(options)
    kind, url = given.text(KIND).lower(), given.text(URL)
    match kind:
        case "glue":
            if url:
                raise ConfigError(f"{KIND} is glue and {URL} is given, too; remove one of them.")
            return _glue(given.text(ENDPOINT))
        case "confluent":
            if not url:
                raise ConfigError(f"{KIND} is confluent and no registry is named; give {URL}.")
            return _confluent(given, url)
        case "":
            return _confluent(given, url) if url else None
    raise ConfigError(f"{KIND} is {given.text(KIND)!r}; use glue, or confluent with {URL}.")


def _glue(endpoint: str) -> GlueRegistry:
    from gluepot.connectors.streams.registries.glue import GlueRegistry  # noqa: PLC0415  as above

    named = endpoint or os.environ.get("AWS_ENDPOINT_URL_GLUE") or os.environ.get("AWS_ENDPOINT_URL") or ""
    return GlueRegistry(named, os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "")


def _confluent(given: ScriptOptions, text: str) -> ConfluentRegistry:
    from gluepot.connectors.streams.registries.confluent import ConfluentRegistry  # noqa: PLC0415  as above

    urls, logins = [], []
    for one in (part.strip() for part in text.split(",")):
        parts = urlsplit(one)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigError(f"{URL} is {text.rpartition('@')[2]!r}; use addresses such as http://127.0.0.1:8081.")
        if parts.username:
            logins.append(f"{unquote(parts.username)}:{unquote(parts.password or '')}")
        urls.append(_without_login(one).rstrip("/"))
    login = given.text(LOGIN) or next(iter(logins), "")
    if login and given.text(TOKEN):
        raise ConfigError(f"A user and {TOKEN} are both given for the schema registry; use one of them.")
    return ConfluentRegistry(tuple(urls), login, given.text(TOKEN), given.text(CA))


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
