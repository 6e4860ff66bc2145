"""The ledger of jobs: runs, all versions of bookmarks, leases, commits, and an audit of changes by people.

    ledger = open_ledger(ledger_url(os.environ), SystemClock())
    run = ledger.begin(RunStart("clicks", "jr_1", "enable"), Owner("host", 4711), over=None)
    ledger.state("clicks", "source0", run.base)     # bodies, oldest first; the source knows how to read them
    ledger.commit(run, {"source0": Change("...")})  # everything at once, or VersionMismatch

The job's `uid` and the run's number make up the commit key of the run's writes. The number grows only with a commit. So
each attempt has the same key as the failed attempt before it, and replaces what that attempt published, even if it
reads other input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gluepot.bookmarks.ledger.values import (
    AuditEntry,
    BegunRun,
    Change,
    Held,
    Job,
    LedgerWrite,
    Owner,
    Run,
    RunStart,
    StateChange,
    VersionMismatch,
)

if TYPE_CHECKING:
    from gluepot.bookmarks.ledger.connect import ledger_url, open_ledger
    from gluepot.bookmarks.ledger.ledger import Ledger

__all__ = [
    "AuditEntry",
    "BegunRun",
    "Change",
    "Held",
    "Job",
    "Ledger",
    "LedgerWrite",
    "Owner",
    "Run",
    "RunStart",
    "StateChange",
    "VersionMismatch",
    "ledger_url",
    "open_ledger",
]


def __getattr__(name: str) -> Any:
    """Import the modules that need SQLAlchemy on first use: that takes half a second, and most jobs do not need it."""
    if name in __all__:
        from gluepot.bookmarks.ledger import connect  # noqa: PLC0415

        return getattr(connect, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
