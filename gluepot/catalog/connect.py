"""Finds and opens the database of the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from gluepot.catalog.store import NAME, Catalog
from gluepot.core.clock import Clock
from gluepot.core.database import Part, open_engine
from gluepot.core.statedir import state_root

VARIABLE = "GLUEPOT_CATALOG"
VERSION_TABLE = "catalog_alembic_version"
HEAD = "0005"
"""The newest migration; a test compares it with the scripts."""

_opened: dict[str, Catalog] = {}
_opening = Lock()
_PART = Part(NAME, VARIABLE, HEAD, Path(__file__).parent / "migrations", VERSION_TABLE)


def catalog_url(environ: Mapping[str, str]) -> str:
    """Return the catalog's URL: `GLUEPOT_CATALOG`, or a SQLite file in the state folder.

    It may be the database of the ledger: neither touches the other's tables.
    """
    return environ.get(VARIABLE) or f"sqlite:///{state_root(environ) / 'catalog.db'}"


def open_catalog(url: str, clock: Clock) -> Catalog:
    """Connect and bring the tables up to date.

    Args:
        url: `sqlite:///path` or `postgresql://user@host/database`.
        clock: for time stamps.

    Raises:
        ConfigError: the URL is of another kind, or its driver is not installed.
        TransientError: the database cannot be reached.
        CheckpointError: a newer Gluepot wrote it.
    """
    return Catalog(open_engine(url, _PART), clock)


def shared_catalog(url: str, clock: Clock) -> Catalog:
    """Return a connection that all of this process shares; the first call makes it, see `open_catalog`."""
    with _opening:
        if url not in _opened:
            _opened[url] = open_catalog(url, clock)
        return _opened[url]
