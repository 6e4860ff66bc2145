"""The types of connections and the properties of each (docs/glue 3.2, 11.5)."""

from __future__ import annotations

from collections.abc import Mapping

from gluepot.catalog.connections.jdbc import JDBC_PROPERTIES
from gluepot.catalog.connections.kafka import KAFKA_PROPERTIES

ANY = ("*",)
"""Properties that only the reader of such a connection knows."""

KINDS: Mapping[str, tuple[str, ...]] = {
    "kafka": KAFKA_PROPERTIES,
    "jdbc": JDBC_PROPERTIES,
    "mongodb": ("CONNECTION_URL", "USERNAME", "PASSWORD", "SECRET_ID"),
    "network": (),
    "kinesis": ANY,
    "s3": ANY,
    "custom": ANY,
    "marketplace": ANY,
}


def unknown_property(kind: str, names: Mapping[str, str]) -> str | None:
    """Return the first property that connections of a type do not have; None if there is none."""
    known = KINDS[kind]
    return None if known == ANY else next((name for name in names if name not in known), None)
