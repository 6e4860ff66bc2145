"""The properties of one connection, references followed."""

from __future__ import annotations

from collections.abc import Mapping

from gluepot.catalog.connections.connection import Connection
from gluepot.catalog.connections.references import resolve
from gluepot.core.errors import ConfigError
from gluepot.core.option_values import truth


class Properties:
    """Looks up properties only when they are requested, so that a secret that is not needed is never fetched.

    Args:
        connection: whose.
        environ: where `env:` looks.
    """

    def __init__(self, connection: Connection, environ: Mapping[str, str]) -> None:
        self.connection = connection.name
        self._values = connection.properties
        self._environ = environ

    def optional(self, name: str) -> str:
        """Return the value, or an empty text.

        Raises:
            ConfigError: it refers to nothing.
        """
        value = self._values.get(name, "")
        return resolve(value, self._environ, f"connection {self.connection!r}, property {name}")

    def required(self, name: str) -> str:
        """Return the value; ConfigError when it is absent or empty."""
        value = self.optional(name)
        if not value:
            raise ConfigError(
                f"connection {self.connection!r} lacks the property {name}; add it to the connections file"
            )
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a switch; ConfigError when it is neither true nor false."""
        text = self.optional(name) or str(default)
        said = truth(text)
        if said is None:
            raise ConfigError(f"connection {self.connection!r}: {name} is {text!r}; use true or false")
        return said
