"""Connects to the ledger's database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gluepot.bookmarks.ledger.ledger import NAME, Ledger
from gluepot.core.clock import Clock
from gluepot.core.database import Part, open_engine
from gluepot.core.statedir import state_root

VARIABLE = "GLUEPOT_LEDGER"
# The newest migration; a test compares it with the migration scripts.
HEAD = "0003"

_PART = Part(NAME, VARIABLE, HEAD, Path(__file__).parent / "migrations", "alembic_version")


def ledger_url(environ: Mapping[str, str]) -> str:
    """Return the ledger's URL: `GLUEPOT_LEDGER`, or a SQLite file in the state folder."""
    return environ.get(VARIABLE) or f"sqlite:///{state_root(environ) / 'ledger.db'}"


def open_ledger(url: str, clock: Clock) -> Ledger:
    """Connect and bring the tables up to date.

    Args:
        url: `sqlite:///path` or `postgresql://user@host/database`.
        clock: for time stamps and waits.

    Raises:
        ConfigError: the URL is of another kind, or its driver is not installed.
        TransientError: the database cannot be reached.
        CheckpointError: a newer Gluepot wrote it.
    """
    return Ledger(open_engine(url, _PART), clock)
