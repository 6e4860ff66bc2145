"""What jobs have done and where they stand: runs, bookmarks with every version, leases, commits, and who changed what.

    ledger = open_ledger(ledger_url(os.environ), SystemClock())
    run = ledger.begin(RunStart("clicks", "jr_1", "enable"), Owner("host", 4711), over=None)
    ledger.state("clicks", "source0", run.base)     # bodies, oldest first; the source knows how to read them
    ledger.commit(run, {"source0": Change("...")})  # everything at once, or VersionMismatch

A job's `uid` and the number of the run make the commit key of a run's writes. The number grows only with a commit, so
every attempt has the key of the one before that failed, whatever it reads: what that one published is replaced.
"""

from batch.ledger.connect import ledger_url, open_ledger
from batch.ledger.ledger import Ledger
from batch.ledger.values import (
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
