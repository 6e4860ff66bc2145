"""What jobs have done and where they stand: runs, bookmarks with every version, leases, commits, and who changed what.

    ledger = open_ledger(ledger_url(os.environ), SystemClock())
    run = ledger.begin(RunStart("clicks", "jr_1", "enable"), Owner("host", 4711), over=None)
    ledger.state("clicks", "source0", run.base)     # bodies, oldest first; the source knows how to read them
    ledger.commit(run, {"source0": Change("...")})  # everything at once, or VersionMismatch

A job's `uid` and the number of the run make the commit key of a run's writes. The number grows only with a commit, so
every attempt has the key of the one before that failed, whatever it reads: what that one published is replaced.
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
    """Load what needs SQLAlchemy when it is asked for: that takes half a second, and most jobs have no bookmarks."""
    if name in __all__:
        from gluepot.bookmarks.ledger import connect  # noqa: PLC0415

        return getattr(connect, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
