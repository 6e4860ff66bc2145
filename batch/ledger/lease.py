"""One run per job: who may begin, and the sign of life of the one that did.

The lease is a courtesy that refuses a second run early. What keeps bookmarks right is the version that every commit
checks, and what keeps tables right is the token in every manifest (see `batch.commit`).
"""

from __future__ import annotations

import os
import socket
import threading

from batch.ledger.ledger import Ledger, lease_held
from batch.ledger.values import TTL_SECS, BegunRun, Owner, RunStart
from etlcore.clock import Clock
from etlcore.errors import EtlError
from etlcore.logging import get_logger

_BEATS_PER_TTL = 3
_WATCHES_PER_TTL = 5

log = get_logger(__name__)


def this_process() -> Owner:
    """Return who would own a lease taken here."""
    return Owner(socket.gethostname(), os.getpid())


def is_dead(owner: Owner, here: Owner) -> bool:
    """Tell whether an owner has surely ended; one on another machine, or whose number is in use again, may live."""
    if owner.host != here.host or owner.pid == here.pid:
        return False
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it lives, as another user
        return False
    return False


def begin_run(ledger: Ledger, start: RunStart, here: Owner, clock: Clock, ttl_secs: float = TTL_SECS) -> BegunRun:
    """Begin a run; where an owner may be dead, wait up to `ttl_secs` for a sign of life first.

    Only a beat that changes, or does not, tells: clocks of two machines are never compared.

    Raises:
        LeaseHeld: the owner lives.
    """
    seen = ledger.lease(start.job)
    if seen is not None and not is_dead(seen.owner, here):
        log.info("waiting_for_lease", job=start.job, run=seen.run_id, host=seen.owner.host, most_secs=ttl_secs)
        for _ in range(_WATCHES_PER_TTL):
            clock.sleep(ttl_secs / _WATCHES_PER_TTL)
            now = ledger.lease(start.job)
            if now is not None and now != seen:
                raise lease_held(start.job, now)
            if now is None:
                seen = None
                break
    return ledger.begin(start, here, seen)


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
        """End it."""
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
