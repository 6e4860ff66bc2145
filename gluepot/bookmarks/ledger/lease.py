"""The lease of a job, which allows one run at a time, and the heartbeat of that run.

The lease only serves to refuse a second run early. Bookmarks stay correct because every commit checks the version of
the job's entry, and tables stay correct because of the token in every manifest (see `gluepot.commit`).
"""

from __future__ import annotations

import os
import socket
import threading

from gluepot.bookmarks.ledger.ledger import Ledger
from gluepot.bookmarks.ledger.owner_lock import OwnerLock
from gluepot.bookmarks.ledger.values import BegunRun, Held, Owner, RunStart
from gluepot.core.clock import Clock
from gluepot.core.errors import EtlError
from gluepot.core.leases import TTL_SECS, Free, is_gone, watch
from gluepot.core.logging import get_logger

_BEATS_PER_TTL = 3

log = get_logger(__name__)


def this_process() -> Owner:
    """Return this process as the owner of a lease."""
    return Owner(socket.gethostname(), os.getpid())


def begin_run(
    ledger: Ledger,
    start: RunStart,
    here: Owner,
    clock: Clock,
    ttl_secs: float = TTL_SECS,
    lock: OwnerLock | None = None,
) -> BegunRun:
    """Begin a run. If another owner may still be alive, first wait up to `ttl_secs` for its heartbeat.

    Args:
        ledger: the ledger with the lease.
        start: name, run id and option of the run.
        here: this process.
        clock: the clock to wait with.
        ttl_secs: how long a lease is valid without a heartbeat.
        lock: the job's lock on this machine, held as long as the run; None on a machine without locks.

    Raises:
        LeaseHeld: the owner is alive.
    """
    seen = ledger.lease(start.job)
    if seen is not None and not _is_gone(seen, here, lock):
        log.info("waiting_for_lease", job=start.job, run=seen.run_id, host=seen.owner.host, most_secs=ttl_secs)
        watch(lambda: ledger.lease(start.job) or Free(), seen, clock, ttl_secs)
    run = ledger.begin(start, here, seen)  # refused if the owner has given a sign of life, which changed the lease
    if lock is not None:
        lock.mark(run.token)
    return run


def _is_gone(lease: Held, here: Owner, lock: OwnerLock | None) -> bool:
    if lock is None:
        return False
    return is_gone(lease.owner.host, here.host, locked=lock.was_of(lease.token), lock_is_free=lock.is_ours)


class Heartbeat:
    """Renews the lease of a run in a thread of its own until it is stopped or the lease is lost."""

    def __init__(self, ledger: Ledger, run: BegunRun, ttl_secs: float = TTL_SECS) -> None:
        self._ledger = ledger
        self._run = run
        self._wait_secs = ttl_secs / _BEATS_PER_TTL
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="gluepot-job-lease", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the heartbeat and wait for its thread."""
        self._stopped.set()
        self._thread.join()

    def _renew(self) -> None:
        while not self._stopped.wait(self._wait_secs):
            try:
                if not self._ledger.beat(self._run):
                    log.error("job_lease_lost", job=self._run.job.name, hint="this run will not commit")
                    return
            except EtlError as error:
                log.warning("job_lease_not_renewed", error=str(error))
