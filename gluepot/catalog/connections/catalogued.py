"""Connections of the Data Catalog, where the service keeps those that clients create."""

from __future__ import annotations

from collections.abc import Mapping

from gluepot.catalog.connections.connection import Connection
from gluepot.catalog.connections.kinds import check
from gluepot.catalog.values import Entry
from gluepot.core.clock import SystemClock


def connection_of_catalog(environ: Mapping[str, str], name: str) -> Connection | None:
    """Return a connection of the Data Catalog; None if it has none of this name.

    Args:
        environ: says where the catalog is.
        name: of the connection.

    Raises:
        ConfigError: scripts cannot use a connection of its type, or with one of its properties.
        TransientError: the catalog's database does not answer.
    """
    from gluepot.catalog.connect import catalog_url, shared_catalog  # noqa: PLC0415  its database is slow to load

    found = shared_catalog(catalog_url(environ), SystemClock()).entry(Entry("connection", name))
    if found is None:
        return None
    connection = Connection(name, str(found.body["ConnectionType"]).lower(), found.body["ConnectionProperties"])
    check(connection, "Data Catalog")
    return connection
