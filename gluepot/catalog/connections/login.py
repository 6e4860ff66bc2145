"""The user and the password of a connection."""

from __future__ import annotations

from gluepot.catalog.connections.properties import Properties
from gluepot.catalog.connections.secrets import secret_member, secret_text


def login(properties: Properties) -> tuple[str, str]:
    """Return user and password, from the connection's secret where it names one; both empty where it has neither.

    Raises:
        ConfigError: the secret cannot be read, or lacks one of them.
        TransientError: Secrets Manager does not answer.
    """
    secret = properties.optional("SECRET_ID")
    if not secret:
        return properties.optional("USERNAME"), properties.optional("PASSWORD")
    owner = f"connection {properties.connection!r}, property SECRET_ID"
    text = secret_text(secret, owner)
    user, password = (secret_member(text, member, secret, owner) for member in ("username", "password"))
    return user, password
