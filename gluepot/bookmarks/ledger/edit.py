"""Changes that people make to bookmarks: reset, rewind, pause, fork. Each is audited; no version is ever lost.

A run that is in progress meanwhile finds that the version of the job's entry has changed, and does not commit. With
`keep=False`, every function only returns what it would do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import Connection, insert, select, update

from gluepot.bookmarks.ledger import tables
from gluepot.bookmarks.ledger.ledger import Ledger, add_version, found_job, head_before, make_job
from gluepot.bookmarks.ledger.values import Job, StateChange
from gluepot.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit did: numbers of the job's state before and after; equal when nothing changed."""

    job: str
    before: int
    after: int


def reset(ledger: Ledger, job: str, actor: str, ctx: str | None = None, *, keep: bool = True) -> Edited:
    """Forget what was read: the next run reads everything. Targets are not cleaned.

    Raises:
        ConfigError: no such job, or no such ctx.
    """

    def forget(_: Connection, __: Job, name: str, state: int, now_ms: int) -> StateChange:
        return StateChange(name, state, None, "reset", None, now_ms, "")

    what = f"ctx {ctx}" if ctx else "all contexts"
    return _change_each(ledger, job, actor, ctx, "reset", what, forget, keep=keep)


def rewind(ledger: Ledger, job: str, actor: str, to_state: int, ctx: str | None = None, *, keep: bool = True) -> Edited:
    """Restore the bookmarks of an earlier state.

    Raises:
        ConfigError: the job or ctx is unknown, or the job has had no state of that number.
    """
    known = ledger.job(job).state
    if not 0 <= to_state <= known:
        raise ConfigError(f"Job {job!r} has had the states 0 to {known}; {to_state} is none of them.")

    def go_back(connection: Connection, entry: Job, name: str, state: int, now_ms: int) -> StateChange:
        parent = head_before(connection, entry.name, name, to_state)
        return StateChange(name, state, parent, "rewind", None, now_ms, "")

    return _change_each(ledger, job, actor, ctx, "rewind", f"to state {to_state}", go_back, keep=keep)


def pause(ledger: Ledger, job: str, actor: str, *, paused: bool, keep: bool = True) -> Edited:
    """Pause a job, so that its runs read bookmarks without changing them, or end the pause.

    Raises:
        ConfigError: no such job.
    """
    with ledger.transaction(keep=keep) as connection:
        entry = found_job(connection, job)
        changed = {"paused": paused, "version": entry.version + 1}
        connection.execute(update(tables.jobs).where(tables.jobs.c.name == job).values(changed))
        action = "pause" if paused else "resume"
        note(connection, ledger.now_ms(), actor, job, action, "all contexts", entry.state, entry.state)
        return Edited(job, entry.state, entry.state)


def fork(ledger: Ledger, job: str, actor: str, to_job: str, *, keep: bool = True) -> Edited:
    """Copy the current bookmarks of a job to a new job. Later changes of one do not affect the other.

    Raises:
        ConfigError: the job is unknown, or the new job already exists.
    """
    entry = ledger.job(job)
    lines = {ctx: ledger.state(job, ctx, entry.state) for ctx in ledger.contexts(job, entry.state)}
    with ledger.transaction(keep=keep) as connection:
        if not make_job(connection, to_job, uuid4().hex):
            raise ConfigError(f"There is a job {to_job!r} already; fork to another name.")
        for ctx, bodies in lines.items():
            for state, body in enumerate(bodies, 1):
                parent = state - 1 if state > 1 else None
                change = StateChange(ctx, state, parent, "fork", None, ledger.now_ms(), body)
                add_version(connection, to_job, change)
        state = max(map(len, lines.values()), default=0)
        _move_on(connection, found_job(connection, to_job), state)
        note(connection, ledger.now_ms(), actor, to_job, "fork", f"from {job} at state {entry.state}", 0, state)
        return Edited(to_job, 0, state)


def note(
    connection: Connection, at_ms: int, actor: str, job: str, action: str, detail: str, before: int, after: int
) -> None:
    """Add an entry to the audit: who changed what."""
    row = {"at_ms": at_ms, "actor": actor, "job": job, "action": action, "detail": detail}
    connection.execute(insert(tables.audit).values(before=before, after=after, **row))


def _change_each(
    ledger: Ledger,
    job: str,
    actor: str,
    ctx: str | None,
    action: str,
    detail: str,
    change: Callable[[Connection, Job, str, int, int], StateChange],
    *,
    keep: bool,
) -> Edited:
    with ledger.transaction(keep=keep) as connection:
        entry = found_job(connection, job)
        marks = tables.bookmarks
        known = set(connection.execute(select(marks.c.ctx).where(marks.c.job == job).distinct()).scalars())
        if ctx is not None and ctx not in known:
            names = ", ".join(sorted(known)) or "none"
            raise ConfigError(f"Job {job!r} has no bookmark of ctx {ctx!r}; it has {names}.")
        state = entry.state + 1
        for name in sorted(known if ctx is None else {ctx}):
            add_version(connection, job, change(connection, entry, name, state, ledger.now_ms()))
        _move_on(connection, entry, state)
        note(connection, ledger.now_ms(), actor, job, action, detail, entry.state, state)
        return Edited(job, entry.state, state)


def _move_on(connection: Connection, entry: Job, state: int) -> None:
    changed = {"state": state, "version": entry.version + 1, "attempt": 0}
    connection.execute(update(tables.jobs).where(tables.jobs.c.name == entry.name).values(changed))
