"""The run of a job in this process: its identity and, with bookmarks, what it has read and written so far."""

from __future__ import annotations

import atexit
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from gluepot.bookmarks.last_schema import with_schema
from gluepot.bookmarks.ledger import BegunRun, Change, LedgerWrite, RunStart
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError, EtlError
from gluepot.core.failpoints import reach
from gluepot.core.leases import TTL_SECS
from gluepot.core.logging import get_logger
from gluepot.engine.account import Account
from gluepot.engine.readings import READINGS

if TYPE_CHECKING:
    import pyarrow as pa

    from gluepot.bookmarks.ledger import Ledger
    from gluepot.bookmarks.ledger.lease import Heartbeat

log = get_logger(__name__)

T = TypeVar("T")

ENABLE, PAUSE = "enable", "pause"
SCRIPT = "script"
"""The scope of reads outside of runs with bookmarks."""


@dataclass(frozen=True, slots=True)
class Between:
    """The numbers of two states: the run reads again what was read after state `after`, up to state `upto`."""

    after: int
    upto: int


@dataclass(slots=True)
class Bookmarks:
    """The bookmarks of a run in progress.

    Args:
        ledger: the ledger that stores them.
        run: the run as the ledger began it.
        heartbeat: renews the run's lease.
        between: `--job-bookmark-from` and `-to`; None to read what is new, as usual.
    """

    ledger: Ledger
    run: BegunRun
    heartbeat: Heartbeat
    between: Between | None = None
    _changes: dict[str, Change] = field(default_factory=dict)
    _schemas: dict[str, pa.Schema] = field(default_factory=dict)
    _digests: list[str] = field(default_factory=list)
    _writes: list[LedgerWrite] = field(default_factory=list)
    _named: Counter[str] = field(default_factory=Counter)
    _until_end: ExitStack = field(default_factory=ExitStack)
    _before_commit: list[Callable[[], None]] = field(default_factory=list)
    _written: Callable[[], Account] = Account
    _changing: Lock = field(default_factory=Lock)

    @property
    def scope(self) -> str:
        """The scope of the run's reads in `READINGS`."""
        return f"{self.run.job.uid}/{self.run.job.run}"

    def next_read(self, transformation_ctx: str) -> str:
        """Return the name of the next read's bookmark; each of several reads of one ctx has its own bookmark."""
        with self._changing:  # two threads may read under one ctx, and would share a bookmark
            self._named[transformation_ctx] += 1
            nth = self._named[transformation_ctx]
        return transformation_ctx if nth == 1 else f"{transformation_ctx}.{nth}"

    def bodies(self, name: str, at: int | None = None) -> list[str]:
        """Return the bodies of a bookmark, oldest first, at the state `at` or by default at the run's base."""
        return self.ledger.state(self.run.job.name, name, self.run.base if at is None else at)

    def planned(self, name: str, digest: str, change: Change | None) -> None:
        """Note what a read is going to read.

        Args:
            name: name from `next_read`.
            digest: a text that is equal for equal input.
            change: the change that the commit saves; None if there is none.
        """
        self._digests.append(f"{name}={digest}")
        if change is not None:
            self._changes[name] = change

    def learned(self, name: str, schema: pa.Schema) -> None:
        """Note the columns of what a read has read; a read that finds nothing new has those of the last one."""
        self._schemas[name] = schema

    def wrote(self, write: LedgerWrite) -> None:
        """Note a write that was published."""
        self._writes.append(write)

    def until_end(self, context: AbstractContextManager[T]) -> T:
        """Enter a context that the run's reads need, and leave it when the run ends in any way."""
        return self._until_end.enter_context(context)

    def before_commit(self, action: Callable[[], None]) -> None:
        """Register an action to do just before the run commits; if the action fails, the run is not committed."""
        self._before_commit.append(action)

    def account_of_writes(self, written: Callable[[], Account]) -> None:
        """Register what returns the account of the run's writes."""
        self._written = written

    @property
    def input_digest(self) -> str:
        """A text that is equal for runs that have planned the same reads so far."""
        return "run:" + hashlib.sha256("\n".join(self._digests).encode()).hexdigest()

    def commit(self) -> None:
        """Save everything in one transaction, after the sinks have finished.

        Raises:
            VersionMismatch: another run or a reset changed the job meanwhile; nothing is saved.
            TransientError: what an earlier attempt wrote could not be taken back; nothing is saved.
        """
        try:
            for action in self._before_commit:
                action()
            reach("job.committing")
            account = Account(READINGS.of_scope(self.scope)) + self._written()
            self._leave_unread()
            changes = {
                name: with_schema(change, self._schemas[name]) if name in self._schemas else change
                for name, change in self._changes.items()
            }
            state = self.ledger.commit(self.run, changes, self._writes, json.dumps(account.to_plain()))
        except EtlError as error:
            self.abandon(str(error))
            raise
        reach("job.committed")
        self._leave()
        job, number = self.run.job.name, self.run.job.run
        log.info("job_committed", job=job, run=number, state=state, contexts=len(self._changes), saved=self.run.saves)
        self.ledger.close()

    def _leave_unread(self) -> None:
        """Do not move the bookmarks of sources of which every read has failed; the script has caught the errors."""
        for name in READINGS.failed(self.scope):
            if self._changes.pop(name, None) is not None:
                hint = "every read of this source failed, and the script caught the error; the next run reads it again"
                log.warning("bookmark_not_moved", job=self.run.job.name, ctx=name, hint=hint)
        for name in READINGS.unused(self.scope):
            if name in self._changes:
                hint = (
                    "the script did not use this source, but its bookmark advances; use its records or remove the read"
                )
                log.warning("source_not_used", job=self.run.job.name, ctx=name, hint=hint)

    def abandon(self, reason: str) -> None:
        """End without saving: the next run reads the same again."""
        self._leave()
        self.ledger.fail(self.run, reason)
        self.ledger.close()

    def _leave(self) -> None:
        self.heartbeat.stop()
        try:
            self._until_end.close()
        except EtlError as error:  # does no harm, because the reads are complete
            log.warning("not_released", error=str(error))


@dataclass(slots=True)
class JobRun:
    """The running job.

    Args:
        name: the name that `Job.init` was given.
        run_id: `jr_...`.
        temp_dir: `--TempDir`; None if not given.
        bookmarks: the run's bookmarks; None if they are disabled.
    """

    name: str
    run_id: str
    temp_dir: str | None = None
    bookmarks: Bookmarks | None = None


_current: JobRun | None = None
# Begins another run like the one that was committed last; None if there is none.
_again: Callable[[], JobRun] | None = None
# Several threads of a script may read after a commit; one of them begins the run.
_beginning = Lock()


def current() -> JobRun | None:
    """Return the run that `Job.init` began; None before, and after its commit."""
    return _current


def scope() -> str:
    """Return the scope of the reads of the current run in `gluepot.engine.readings`."""
    marks = None if _current is None else _current.bookmarks
    return SCRIPT if marks is None else marks.scope


def for_read(transformation_ctx: str) -> JobRun | None:
    """Return the run to which a read belongs.

    A script may call `job.commit()` after each table of a loop. Each commit ends a run, so the next read that has a
    bookmark begins another run of the same job. Otherwise nobody would remember what it reads
    (docs/decisions/0067-reads-after-a-commit-begin-a-run.md).

    Raises:
        LeaseHeld: another process has begun a run of the job since the commit.
    """
    global _current  # noqa: PLW0603  as in `begin`
    with _beginning:
        if _current is None and _again is not None and transformation_ctx:
            _current = _again()
            log.warning(
                "read_after_commit",
                job=_current.name,
                ctx=transformation_ctx,
                hint="this read begins another run of the job; call job.commit() again after its writes",
            )
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
        temp_dir: `--TempDir`; None if not given.
        option: `ENABLE`, `PAUSE`, or None for no bookmarks.
        limits: run ids of `--job-bookmark-from` and `-to`, or nothing.
        environ: the environment, which says where the ledger is.
        clock: gives time stamps and waits.
        ttl_secs: how long a dead run keeps its lease.

    Raises:
        LeaseHeld: the job is already running.
        ConfigError: one of the limiting runs is unknown or saved no bookmarks.
    """
    global _current, _again  # noqa: PLW0603  a script reaches the engine only through Glue's signatures
    end("another Job.init followed")
    another = partial(_begun, name, run_id, temp_dir, option, limits, environ, clock, ttl_secs)
    _current = another()
    _again = None if _current.bookmarks is None else another
    return _current


def _begun(
    name: str,
    run_id: str,
    temp_dir: str | None,
    option: str | None,
    limits: Sequence[str],
    environ: dict[str, str],
    clock: Clock,
    ttl_secs: float,
) -> JobRun:
    marks = None
    if option is not None:
        from gluepot.bookmarks.ledger.connect import ledger_url, open_ledger  # noqa: PLC0415  as in `gluepot.bookmarks.ledger`
        from gluepot.bookmarks.ledger.lease import Heartbeat, begin_run, this_process  # noqa: PLC0415
        from gluepot.bookmarks.ledger.owner_lock import OwnerLock, lock_folder  # noqa: PLC0415

        url = ledger_url(environ)
        ledger = open_ledger(url, clock)
        between = _between(ledger, name, limits)
        with ExitStack() as stack:
            lock = stack.enter_context(OwnerLock(lock_folder(environ), url, name))
            run = begin_run(ledger, RunStart(name, run_id, option), this_process(), clock, ttl_secs, lock)
            marks = Bookmarks(ledger, run, Heartbeat(ledger, run, ttl_secs), between)
            marks.until_end(stack.pop_all())
        READINGS.forget(marks.scope)  # an earlier attempt in this process may have read something
        log.info("job_begun", job=name, run=run.job.run, attempt=run.job.attempt, state=run.base, saves=run.saves)
    return JobRun(name, run_id, temp_dir, marks)


def commit() -> None:
    """Save the current run's bookmarks and end it.

    Raises:
        VersionMismatch: another run or a reset changed the job meanwhile; nothing is saved.
    """
    global _current
    with _beginning:  # of two threads that commit, one does
        run, _current = _current, None
    if run is not None and run.bookmarks is not None:
        run.bookmarks.commit()


def end(reason: str) -> None:
    """End the current run, if there is one, without saving. No read begins another one."""
    global _current, _again
    with _beginning:
        run, _current, _again = _current, None, None
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
