"""The types of connections and the properties of each (docs/glue 3.2, 11.5)."""

from __future__ import annotations

from collections.abc import Mapping

from gluepot.catalog.connections.connection import Connection
from gluepot.catalog.connections.jdbc import JDBC_PROPERTIES
from gluepot.catalog.connections.kafka import KAFKA_PROPERTIES
from gluepot.catalog.connections.mongodb import MONGODB_PROPERTIES
from gluepot.catalog.connections.opensearch import OPENSEARCH_PROPERTIES
from gluepot.core.errors import ConfigError, did_you_mean

ANY = ("*",)
"""Properties that only the reader of such a connection knows."""

KINDS: Mapping[str, tuple[str, ...]] = {
    "kafka": KAFKA_PROPERTIES,
    "jdbc": JDBC_PROPERTIES,
    "mongodb": MONGODB_PROPERTIES,
    "opensearch": OPENSEARCH_PROPERTIES,
    "network": (),
    "kinesis": ANY,
    "s3": ANY,
    "custom": ANY,
    "marketplace": ANY,
}


def check(connection: Connection, source: object) -> None:
    """Check type and property names of a connection. Values are never quoted in an error: they may be secrets.

    Args:
        connection: to check.
        source: where it is written down, for the error.

    Raises:
        ConfigError: the type or a property is not known.
    """
    known = KINDS.get(connection.type)
    if known is None:
        hint = f"use one of {', '.join(KINDS)}.{did_you_mean(connection.type, KINDS)}"
        raise ConfigError(f"{source}: connection {connection.name!r} has the type {connection.type!r}; {hint}")
    odd = None if known == ANY else next((name for name in connection.properties if name not in known), None)
    if odd is not None:
        hint = did_you_mean(odd, known) or f" Known are {', '.join(known) or 'none'}."
        raise ConfigError(f"{source}: connection {connection.name!r} has an unknown property {odd!r}.{hint}")
