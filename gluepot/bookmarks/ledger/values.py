"""The plain values that the ledger stores and returns."""

from __future__ import annotations

from dataclasses import dataclass

from gluepot.core.errors import LeaseHeld

RUNNING, COMMITTED, FAILED = "running", "committed", "failed"
# The cause of a change that copies the positions of a running stream from its checkpoint.
STREAM = "stream"


class VersionMismatch(LeaseHeld):
    """Another run changed the job's entry since this one began; its commit is refused."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job's entry (docs/glue 4.3).

    Args:
        name: the name that `Job.init` was given.
        uid: a unique id that is never used for another job; part of commit keys.
        version: grows with every write of the entry, at a run's start and at its commit.
        run: number of the next run to succeed, from 1.
        attempt: number of the attempt at that run, from 0; it grows by one after each attempt that did not commit.
        state: number of the bookmarks' state; grows with every change of a bookmark, whatever its cause.
        paused: whether runs read the bookmarks without changing them.
    """

    name: str
    uid: str
    version: int
    run: int
    attempt: int
    state: int
    paused: bool


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that may hold a job's lease."""

    host: str
    pid: int


@dataclass(frozen=True, slots=True)
class Held:
    """A job's lease as it is now.

    Args:
        token: a number that fences off earlier owners.
        beat: a counter that grows while the owner lives.
        run_id: id of the run that holds the lease.
        owner: process and host of the run.
    """

    token: int
    beat: int
    run_id: str
    owner: Owner


@dataclass(frozen=True, slots=True)
class RunStart:
    """The values that are known when a run begins.

    Args:
        job: name of the job.
        run_id: id of the run in Glue's form, `jr_...`.
        option: `enable` or `pause`.
    """

    job: str
    run_id: str
    option: str


@dataclass(frozen=True, slots=True)
class BegunRun:
    """A run in progress, as its driver knows it.

    Args:
        id: id of the run's row.
        job: the job's entry after the run's start.
        run_id: id of the run in Glue's form, `jr_...`.
        token: token of the lease.
        saves: whether a commit changes bookmarks; False if they are paused.
    """

    id: int
    job: Job
    run_id: str
    token: int
    saves: bool

    @property
    def base(self) -> int:
        """Number of the state that the run reads from."""
        return self.job.state


@dataclass(frozen=True, slots=True)
class Change:
    """A new state of one `transformation_ctx`.

    Args:
        body: JSON text in the source's own form.
        extends: True if it is added to the bookmark, False if it replaces the bookmark.
    """

    body: str
    extends: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt of one run.

    Args:
        id: id of its row.
        job: name of the job.
        run_id: id of the run in Glue's form, `jr_...`.
        number: number of the run.
        attempt: number of the attempt, from 0.
        option: `enable` or `pause`.
        status: `running`, `committed` or `failed`.
        started_ms: start in milliseconds since 1970.
        ended_ms: end in milliseconds since 1970; None while it runs.
        base: number of the state it read from.
        state: number of the state it made; None if it made none.
        error: why it failed, one sentence.
        account: the account of its records as JSON, see `gluepot.engine.account`; None if it did not commit, or if an
            older Gluepot ran it.
    """

    id: int
    job: str
    run_id: str
    number: int
    attempt: int
    option: str
    status: str
    started_ms: int
    ended_ms: int | None
    base: int
    state: int | None
    error: str | None
    account: str | None = None


@dataclass(frozen=True, slots=True)
class StateChange:
    """One version of one bookmark.

    Args:
        ctx: `transformation_ctx`.
        state: number of the job's state that it created.
        parent: number of the state that it extends; None if it extends none.
        cause: `commit`, `stream`, `reset`, `rewind`, `fork` or `import`.
        run_id: id of the run that made it, or None.
        at_ms: time of the change in milliseconds since 1970.
        body: JSON text; empty if the change only points to another version.
    """

    ctx: str
    state: int
    parent: int | None
    cause: str
    run_id: str | None
    at_ms: int
    body: str


@dataclass(frozen=True, slots=True)
class LedgerWrite:
    """A write that a run published.

    Args:
        ctx: ctx of the sink.
        target: URL of the target.
        rows: number of records written.
        files: number of data files.
    """

    ctx: str
    target: str
    rows: int
    files: int


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A change of bookmarks that a person made.

    Args:
        at_ms: time of the change in milliseconds since 1970.
        actor: `user@host`.
        job: name of the job.
        action: `reset`, `rewind`, `pause`, `resume`, `fork` or `import`.
        detail: one sentence.
        before: number of the state before.
        after: number of the state after.
    """

    at_ms: int
    actor: str
    job: str
    action: str
    detail: str
    before: int
    after: int
