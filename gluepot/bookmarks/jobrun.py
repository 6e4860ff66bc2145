"""One run of a job in this process: who it is, and with bookmarks what it has read and written so far."""

from __future__ import annotations

import atexit
import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from gluepot.bookmarks.ledger import BegunRun, Change, LedgerWrite, RunStart
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError, EtlError
from gluepot.core.failpoints import reach
from gluepot.core.leases import TTL_SECS
from gluepot.core.logging import get_logger

if TYPE_CHECKING:
    from gluepot.bookmarks.ledger import Ledger
    from gluepot.bookmarks.ledger.lease import Heartbeat

log = get_logger(__name__)

T = TypeVar("T")

ENABLE, PAUSE = "enable", "pause"


@dataclass(frozen=True, slots=True)
class Between:
    """Numbers of two states; what was read after the first, up to the second, is read again."""

    after: int
    upto: int


@dataclass(slots=True)
class Bookmarks:
    """The bookmarks of a run in progress.

    Args:
        ledger: where they are kept.
        run: as begun.
        heartbeat: renews the run's lease.
        between: `--job-bookmark-from` and `-to`; None for the ordinary "what is new".
    """

    ledger: Ledger
    run: BegunRun
    heartbeat: Heartbeat
    between: Between | None = None
    _changes: dict[str, Change] = field(default_factory=dict)
    _digests: list[str] = field(default_factory=list)
    _writes: list[LedgerWrite] = field(default_factory=list)
    _named: Counter[str] = field(default_factory=Counter)
    _until_end: ExitStack = field(default_factory=ExitStack)
    _before_commit: list[Callable[[], None]] = field(default_factory=list)

    def next_read(self, transformation_ctx: str) -> str:
        """Return the name of the next read's bookmark: the n-th read of a ctx within a run has one of its own."""
        self._named[transformation_ctx] += 1
        nth = self._named[transformation_ctx]
        return transformation_ctx if nth == 1 else f"{transformation_ctx}.{nth}"

    def bodies(self, name: str, at: int | None = None) -> list[str]:
        """Return what makes up a bookmark, oldest first; at the run's base unless another state is named."""
        return self.ledger.state(self.run.job.name, name, self.run.base if at is None else at)

    def planned(self, name: str, digest: str, change: Change | None) -> None:
        """Take down what a read is going to read.

        Args:
            name: from `next_read`.
            digest: equal for equal input.
            change: what the commit saves; None for nothing.
        """
        self._digests.append(f"{name}={digest}")
        if change is not None:
            self._changes[name] = change

    def wrote(self, write: LedgerWrite) -> None:
        """Take down what was published."""
        self._writes.append(write)

    def until_end(self, held: AbstractContextManager[T]) -> T:
        """Enter a context that is left when the run ends, however it does: what its reads need until then."""
        return self._until_end.enter_context(held)

    def before_commit(self, action: Callable[[], None]) -> None:
        """Have something done when the run is about to commit; if that fails, the run is not committed."""
        self._before_commit.append(action)

    @property
    def input_digest(self) -> str:
        """Text that is equal for runs that have planned to read the same, up to now."""
        return "run:" + hashlib.sha256("\n".join(self._digests).encode()).hexdigest()

    def commit(self) -> None:
        """Save everything at once; called after the sinks.

        Raises:
            VersionMismatch: another run or a reset came between; nothing is saved.
            TransientError: what an earlier attempt wrote could not be taken back; nothing is saved.
        """
        try:
            for action in self._before_commit:
                action()
            reach("job.committing")
            state = self.ledger.commit(self.run, self._changes, self._writes)
        except EtlError as error:
            self.abandon(str(error))
            raise
        reach("job.committed")
        self._leave()
        job, number = self.run.job.name, self.run.job.run
        log.info("job_committed", job=job, run=number, state=state, contexts=len(self._changes), saved=self.run.saves)
        self.ledger.close()

    def abandon(self, reason: str) -> None:
        """End without saving: the next run reads the same again."""
        self._leave()
        self.ledger.fail(self.run, reason)
        self.ledger.close()

    def _leave(self) -> None:
        self.heartbeat.stop()
        try:
            self._until_end.close()
        except EtlError as error:  # of no consequence: what was read is read
            log.warning("not_released", error=str(error))


@dataclass(slots=True)
class JobRun:
    """The running job.

    Args:
        name: as given to `Job.init`.
        run_id: `jr_...`.
        temp_dir: `--TempDir`; None without.
        bookmarks: None where they are disabled.
    """

    name: str
    run_id: str
    temp_dir: str | None = None
    bookmarks: Bookmarks | None = None


_current: JobRun | None = None


def current() -> JobRun | None:
    """Return the run that `Job.init` began; None before, and after its commit."""
    return _current


def begin(
    name: str,
    run_id: str,
    temp_dir: str | None,
    option: str | None,
    limits: Sequence[str],
    environ: dict[str, str],
    clock: Clock,
    ttl_secs: float = TTL_SECS,
) -> JobRun:
    """Make a run the current one of this process.

    Args:
        name: name of the job.
        run_id: `jr_...`.
        temp_dir: `--TempDir`; None without.
        option: `ENABLE`, `PAUSE`, or None for no bookmarks.
        limits: run ids of `--job-bookmark-from` and `-to`, or nothing.
        environ: says where the ledger is.
        clock: for time stamps and waits.
        ttl_secs: how long a dead run keeps its lease.

    Raises:
        LeaseHeld: the job runs already.
        ConfigError: a run of the limits is not known or made no state.
    """
    global _current  # noqa: PLW0603  a script reaches the engine only through Glue's signatures
    end("another Job.init followed")
    marks = None
    if option is not None:
        from gluepot.bookmarks.ledger.connect import ledger_url, open_ledger  # noqa: PLC0415  as in `gluepot.bookmarks.ledger`
        from gluepot.bookmarks.ledger.lease import Heartbeat, begin_run, this_process  # noqa: PLC0415
        from gluepot.bookmarks.ledger.owner_lock import OwnerLock, lock_folder  # noqa: PLC0415

        url = ledger_url(environ)
        ledger = open_ledger(url, clock)
        between = _between(ledger, name, limits)
        with ExitStack() as held:
            lock = held.enter_context(OwnerLock(lock_folder(environ), url, name))
            run = begin_run(ledger, RunStart(name, run_id, option), this_process(), clock, ttl_secs, lock)
            marks = Bookmarks(ledger, run, Heartbeat(ledger, run, ttl_secs), between)
            marks.until_end(held.pop_all())
        log.info("job_begun", job=name, run=run.job.run, attempt=run.job.attempt, state=run.base, saves=run.saves)
    _current = JobRun(name, run_id, temp_dir, marks)
    return _current


def commit() -> None:
    """Save the current run's bookmarks and end it.

    Raises:
        VersionMismatch: another run or a reset came between; nothing is saved.
    """
    global _current
    run, _current = _current, None
    if run is not None and run.bookmarks is not None:
        run.bookmarks.commit()


def end(reason: str) -> None:
    """End the current run, if there is one, without saving."""
    global _current
    run, _current = _current, None
    if run is not None and run.bookmarks is not None:
        log.warning("job_not_committed", job=run.name, reason=reason, hint="the next run reads the same input again")
        run.bookmarks.abandon(reason)


atexit.register(end, "the script ended without job.commit()")


def _between(ledger: Ledger, job: str, limits: Sequence[str]) -> Between | None:
    if not limits:
        return None
    states = []
    for run_id in limits:
        state = ledger.run(job, run_id).state
        if state is None:
            raise ConfigError(f"Run {run_id!r} of job {job!r} saved no bookmarks; choose one that did.")
        states.append(state)
    return Between(*states)
