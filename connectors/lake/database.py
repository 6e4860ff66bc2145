"""Translates the address of a SQL database to the form of Iceberg's JDBC catalog. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from gluepot.core.errors import ConfigError

_BUSY_MS = 30_000


@dataclass(frozen=True, slots=True)
class JdbcDatabase:
    """A database.

    Args:
        uri: `jdbc:...`, without user and password.
        user: user name; empty if there is none.
        password: password; empty if there is none.
    """

    uri: str
    user: str = ""
    password: str = field(default="", repr=False)


def jdbc_database(url: str) -> JdbcDatabase:
    """Translate `sqlite:///path` or `postgresql://user:password@host:port/name?option=value`.

    Raises:
        ConfigError: Java's drivers cannot reach such a database.
    """
    parts = urlsplit(url)
    path = unquote(parts.path.removeprefix("/"))
    if parts.scheme == "sqlite" and path and not parts.netloc:
        return JdbcDatabase(f"jdbc:sqlite:{path}?busy_timeout={_BUSY_MS}")
    if parts.scheme.partition("+")[0] == "postgresql" and parts.hostname and path:
        server = parts.netloc.rpartition("@")[2]
        query = f"?{parts.query}" if parts.query else ""
        uri = f"jdbc:postgresql://{server}/{path}{query}"
        return JdbcDatabase(uri, unquote(parts.username or ""), unquote(parts.password or ""))
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    raise ConfigError(
        f"Iceberg's tables cannot be kept in {shown}; let GLUEPOT_CATALOG be sqlite:///path or postgresql://host/name."
    )
