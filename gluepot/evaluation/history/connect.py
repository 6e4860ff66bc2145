"""Opens the tables of data quality, which lie in the ledger's database."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from sqlalchemy import Engine

from gluepot.bookmarks.ledger.connect import VARIABLE
from gluepot.core.database import Part, open_engine

NAME = "data quality history"
VERSION_TABLE = "quality_alembic_version"
HEAD = "0002"
"""The newest migration; a test compares it with the scripts."""

MIGRATIONS = Path(__file__).parent / "migrations"
_PART = Part(NAME, VARIABLE, HEAD, MIGRATIONS, VERSION_TABLE)
_opened: dict[str, Engine] = {}
_opening = Lock()


def shared_engine(url: str) -> Engine:
    """Return a connection that all of this process shares; the first call makes it.

    Raises:
        ConfigError: the URL is of another kind, or its driver is not installed.
        TransientError: the database cannot be reached.
        CheckpointError: a newer Gluepot wrote it.
    """
    with _opening:
        if url not in _opened:
            _opened[url] = open_engine(url, _PART)
        return _opened[url]
