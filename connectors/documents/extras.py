"""Clients of stores that are extras of the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gluepot.core.errors import ConfigError


@contextmanager
def needed(client: str, extra: str) -> Iterator[None]:
    """Import modules that need a client inside the block.

    Args:
        client: name of the client's package.
        extra: the extra that brings it.

    Raises:
        ConfigError: the client is not installed.
    """
    try:
        yield
    except ImportError as missing:
        raise ConfigError(f"The connection type needs {client}; run `pip install 'gluepot[{extra}]'`.") from missing
