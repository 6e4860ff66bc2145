"""Connections as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gluepot.core.errors import ConfigError, did_you_mean

VARIABLE = "GLUEPOT_CONNECTIONS"
FILE_NAME = "gluepot.connections.yaml"


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection.

    Args:
        name: what `connectionName` says.
        type: Glue's connection type in lower case, one of `gluepot.catalog.connections.kinds.KINDS`.
        properties: by Glue's names, references (`env:`, `file:`, `secretsmanager:`) not yet followed.
    """

    name: str
    type: str
    properties: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Connections:
    """All connections of one file.

    Args:
        by_name: the connections.
        source: the file; None when there is none.
    """

    by_name: Mapping[str, Connection] = field(default_factory=dict)
    source: Path | None = None

    def get(self, name: str) -> Connection:
        """Return a connection; raise ConfigError with the known names if there is none of this name."""
        if name in self.by_name:
            return self.by_name[name]
        if self.source is None:
            raise ConfigError(
                f"connection {name!r} is not known, because there is no connections file; "
                f"write ./{FILE_NAME} or name one in {VARIABLE}",
            )
        known = ", ".join(sorted(self.by_name)) or "none"
        raise ConfigError(
            f"connection {name!r} is not known; {self.source} has {known}.{did_you_mean(name, self.by_name)}",
        )
