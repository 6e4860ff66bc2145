"""The plain values that go into the ledger and come out of it."""

from __future__ import annotations

from dataclasses import dataclass

from gluepot.core.errors import LeaseHeld

RUNNING, COMMITTED, FAILED = "running", "committed", "failed"
STREAM = "stream"
"""Cause of a change that mirrors the checkpoint of a running stream."""


class VersionMismatch(LeaseHeld):
    """Another run changed the job's entry since this one began; its commit is refused."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job's entry (docs/glue 4.3).

    Args:
        name: as given to `Job.init`.
        uid: given once, never used for another job; part of commit keys.
        version: grows with every write of the entry, at a run's start and at its commit.
        run: number of the next run to succeed, from 1.
        attempt: number of the attempt at that run, from 0; it grows by one after each attempt that did not commit.
        state: number of the bookmarks' state; grows when a bookmark changes, by whatever.
        paused: runs that ask for bookmarks read them and leave them as they are.
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
        token: fences off the owners before.
        beat: grows while the owner lives.
        run_id: whose run it is.
        owner: where it runs.
    """

    token: int
    beat: int
    run_id: str
    owner: Owner


@dataclass(frozen=True, slots=True)
class RunStart:
    """What is known when a run begins.

    Args:
        job: its name.
        run_id: as Glue gives it, `jr_...`.
        option: `enable` or `pause`.
    """

    job: str
    run_id: str
    option: str


@dataclass(frozen=True, slots=True)
class BegunRun:
    """A run in progress, as its driver knows it.

    Args:
        id: the run's row.
        job: the entry after the run's start.
        run_id: as Glue gives it.
        token: token of the lease.
        saves: whether a commit changes bookmarks: False when paused.
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
        body: JSON text, the source's own.
        extends: whether it is added to what was there, or replaces it.
    """

    body: str
    extends: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt of one run.

    Args:
        id: its row.
        job: name.
        run_id: as Glue gives it.
        number: number of the run.
        attempt: from 0.
        option: `enable` or `pause`.
        status: `running`, `committed` or `failed`.
        started_ms: since 1970.
        ended_ms: since 1970; None while it runs.
        base: number of the state it read from.
        state: number of the state it made; None if it made none.
        error: why it failed, one sentence.
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


@dataclass(frozen=True, slots=True)
class StateChange:
    """One version of one bookmark.

    Args:
        ctx: `transformation_ctx`.
        state: number of the job's state that it came with.
        parent: number of the state it extends; None if it stands alone.
        cause: `commit`, `stream`, `reset`, `rewind`, `fork` or `import`.
        run_id: id of the run that made it, or None.
        at_ms: since 1970.
        body: JSON text; empty where the change only points to another version.
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
        target: URL.
        rows: records written.
        files: number of data files.
    """

    ctx: str
    target: str
    rows: int
    files: int


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A change of bookmarks that no run made.

    Args:
        at_ms: since 1970.
        actor: `user@host`.
        job: name.
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
