"""A Glue connection of type OPENSEARCH as options of a read or a write.

Its only property, SparkProperties, is a JSON object of options. The member `secretId` names a secret with the user and
the password.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from gluepot.catalog.connections.connection import Connection
from gluepot.catalog.connections.properties import Properties
from gluepot.catalog.connections.secrets import secret_text
from gluepot.core.errors import ConfigError

OPENSEARCH_PROPERTIES = ("SparkProperties",)

_USER, _PASSWORD = "opensearch.net.http.auth.user", "opensearch.net.http.auth.pass"
_OF_SECRET = {"USERNAME": _USER, "PASSWORD": _PASSWORD, _USER: _USER, _PASSWORD: _PASSWORD}


def opensearch_options(connection: Connection, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the options that are equal to the connection, with references followed.

    Raises:
        ConfigError: it is of another type, its properties are no JSON object, or it refers to nothing.
        TransientError: Secrets Manager does not answer.
    """
    if connection.type != "opensearch":
        raise ConfigError(f"connection {connection.name!r} is of type {connection.type}; name one of type opensearch")
    owner = f"connection {connection.name!r}, property SparkProperties"
    options = _object(Properties(connection, environ).required("SparkProperties"), owner)
    secret = options.pop("secretId", "")
    if secret:
        held = _object(secret_text(secret, owner), f"{owner}, secret {secret!r}")
        options |= {_OF_SECRET[name]: value for name, value in held.items() if name in _OF_SECRET}
    return options


def _object(text: str, owner: str) -> dict[str, str]:
    try:
        plain = json.loads(text)
    except ValueError:
        plain = None
    if not isinstance(plain, dict):
        raise ConfigError(f"{owner}: the text is not a JSON object; write one with names of options and their values")
    return {str(name): str(value) for name, value in plain.items()}
