"""A Glue connection of type MONGODB as options of a read or a write (docs/glue 11.5)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gluepot.catalog.connections.connection import Connection
from gluepot.catalog.connections.login import login
from gluepot.catalog.connections.properties import Properties
from gluepot.core.errors import ConfigError

MONGODB_PROPERTIES = ("CONNECTION_URL", "USERNAME", "PASSWORD", "SECRET_ID")


def mongodb_options(connection: Connection, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the options that are equal to the connection, with references followed.

    Raises:
        ConfigError: it is of another type, lacks its URL, or refers to nothing.
        TransientError: Secrets Manager does not answer.
    """
    if connection.type != "mongodb":
        raise ConfigError(f"connection {connection.name!r} is of type {connection.type}; name one of type mongodb")
    properties = Properties(connection, environ)
    user, password = login(properties)
    options = {"connection.uri": properties.required("CONNECTION_URL"), "username": user, "password": password}
    return {name: value for name, value in options.items() if value}
