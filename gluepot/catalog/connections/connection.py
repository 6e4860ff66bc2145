"""Connections as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    """All connections of one file, and those that are kept elsewhere.

    Args:
        by_name: the connections.
        source: the file; None when there is none.
        elsewhere: looks a name up that the file does not have; None when there is no other place.
    """

    by_name: Mapping[str, Connection] = field(default_factory=dict)
    source: Path | None = None
    elsewhere: Callable[[str], Connection | None] | None = field(default=None, compare=False, repr=False)

    def get(self, name: str) -> Connection:
        """Return a connection; raise ConfigError with the known names if there is none of this name."""
        if name in self.by_name:
            return self.by_name[name]
        if self.elsewhere is not None and (found := self.elsewhere(name)) is not None:
            return found
        further = "" if self.elsewhere is None else " The Data Catalog does not have it, either."
        if self.source is None:
            raise ConfigError(
                f"connection {name!r} is not known, because there is no connections file; "
                f"write ./{FILE_NAME} or name one in {VARIABLE}.{further}",
            )
        known = ", ".join(sorted(self.by_name)) or "none"
        raise ConfigError(
            f"connection {name!r} is not known; {self.source} has {known}.{did_you_mean(name, self.by_name)}{further}",
        )
