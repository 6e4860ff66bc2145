"""The ledger: begins runs, renews their leases, commits or fails them, and answers queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Engine, RowMapping, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from gluepot.bookmarks.ledger import tables
from gluepot.bookmarks.ledger.thinning import HOUR_MS, superfluous
from gluepot.bookmarks.ledger.values import (
    COMMITTED,
    FAILED,
    RUNNING,
    STREAM,
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
from gluepot.core.clock import Clock
from gluepot.core.database import transaction
from gluepot.core.errors import ConfigError, LeaseHeld

NAME = "ledger"

# The most notes that are removed at a time, so that the notes of years do not delay a batch.
_MOST_THINNED = 20_000


class Ledger:
    """The ledger in one database. Every method is one transaction; any number of processes may use it at once.

    Args:
        engine: engine of the database, whose tables must be up to date, see `open_ledger`.
        clock: gives time stamps.
    """

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    @contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[Connection]:
        """Open a transaction: it commits at the end of the block, or rolls back if an exception leaves the block.

        Args:
            keep: False always rolls back, to see what would happen.

        Raises:
            TransientError: the database cannot be reached, or was busy for too long.
        """
        with transaction(self._engine, NAME, keep=keep) as connection:
            yield connection

    def now_ms(self) -> int:
        """Return the current time in milliseconds since 1970."""
        return int(self._clock.epoch() * 1000)

    # -- runs

    def lease(self, job: str) -> Held | None:
        """Return who holds a job's lease; None if it is free."""
        with self.transaction() as connection:
            return _held(connection, job)

    def begin(self, start: RunStart, owner: Owner, over: Held | None) -> BegunRun:
        """Begin an attempt: take the lease and increase the version of the job's entry.

        Args:
            start: name, run id and option of the run.
            owner: this process.
            over: the lease as it was when its owner was found dead; None if it was free.

        Raises:
            LeaseHeld: the lease is held, and differs from `over`.
        """
        with self.transaction() as connection:
            job = _locked_job(connection, start.job)
            current = _held(connection, start.job)
            if current is not None and current != over:
                raise _lease_held(start.job, current)
            token = self._take(connection, start, owner)
            job = _end_left_over(connection, job, self.now_ms())
            job = _update_job(connection, job, version=job.version + 1)
            row = {
                "job": job.name,
                "run_id": start.run_id,
                "number": job.run,
                "attempt": job.attempt,
                "option": start.option,
                "status": RUNNING,
                "started_ms": self.now_ms(),
                "base": job.state,
            }
            done = connection.execute(insert(tables.runs).values(row).returning(tables.runs.c.id))
            saves = start.option == "enable" and not job.paused
            return BegunRun(done.scalar_one(), job, start.run_id, token, saves)

    def beat(self, run: BegunRun) -> bool:
        """Renew the lease; return False if it no longer belongs to this run."""
        lease = tables.leases
        mine = (lease.c.job == run.job.name) & (lease.c.token == run.token) & lease.c.held
        with self.transaction() as connection:
            return connection.execute(update(lease).where(mine).values(beat=lease.c.beat + 1)).rowcount == 1

    def commit(
        self,
        run: BegunRun,
        changes: Mapping[str, Change],
        writes: Sequence[LedgerWrite] = (),
        account: str | None = None,
    ) -> int:
        """End a run and save what it read; if bookmarks are paused, only end it.

        Args:
            run: the run that `begin` returned.
            changes: new state of each `transformation_ctx` that read something.
            writes: the published writes.
            account: the account of the run's records, see `Run`.

        Returns:
            The number of the job's state afterwards.

        Raises:
            VersionMismatch: another run or a reset has changed the entry since; nothing is saved.
        """
        with self.transaction() as connection:
            job = _own_job(connection, run)
            if job.version != run.job.version:
                raise _mismatch(run, job)
            state = None
            if run.saves:
                state = job.state + 1
                for ctx, change in changes.items():
                    parent = head_before(connection, job.name, ctx, job.state) if change.extends else None
                    add_version(connection, job.name, StateChange(
                        ctx, state, parent, "commit", run.run_id, self.now_ms(), change.body
                    ))  # fmt: skip
                job = _update_job(connection, job, state=state, run=job.run + 1)
                connection.execute(delete(tables.announced).where(tables.announced.c.job == job.name))
            for write in writes:
                connection.execute(
                    insert(tables.commits).values(
                        run=run.id, ctx=write.ctx, target=write.target, rows=write.rows, files=write.files
                    )
                )
            job = _update_job(connection, job, version=job.version + 1, attempt=0)
            self._end(connection, run, {"status": COMMITTED, "state": state, "account": account})
            return job.state

    def announced(self, run: BegunRun) -> list[str]:
        """Return the writes that attempts of a run have announced, see `announce`."""
        writes = tables.announced
        mine = (writes.c.job == run.job.name) & (writes.c.number == run.job.run)
        with self.transaction() as connection:
            return list(connection.execute(select(writes.c.write).where(mine).order_by(writes.c.id)).scalars())

    def announce(self, run: BegunRun, write: str) -> None:
        """Record a write that a run is about to make; the record is kept until a run of that number commits.

        Raises:
            VersionMismatch: the run has lost its lease to another one.
        """
        with self.transaction() as connection:
            job = _own_job(connection, run)
            connection.execute(insert(tables.announced).values(job=job.name, number=run.job.run, write=write))

    def mirror(self, run: BegunRun, ctx: str, body: str) -> None:
        """Save the positions of a stream of a running job, without changing the entry's version that commits check.

        The first note of each hour also removes old notes, see `gluepot.bookmarks.ledger.thinning`.

        Raises:
            VersionMismatch: the run has lost its lease to another one.
        """
        with self.transaction() as connection:
            job = _own_job(connection, run)
            now_ms = self.now_ms()
            marks = tables.bookmarks
            notes = (marks.c.job == job.name) & (marks.c.ctx == ctx) & (marks.c.cause == STREAM)
            newest = select(marks.c.at_ms).where(notes).order_by(marks.c.state.desc()).limit(1)
            before_ms = connection.execute(newest).scalar()
            change = StateChange(ctx, job.state + 1, None, STREAM, run.run_id, now_ms, body)
            add_version(connection, job.name, change)
            _update_job(connection, job, state=job.state + 1)
            if before_ms is not None and before_ms // HOUR_MS != now_ms // HOUR_MS:
                _thin(connection, job.name, ctx, now_ms)

    def fail(self, run: BegunRun, error: str) -> None:
        """End an attempt without a commit; the next one reads the same input again. Does nothing if it has ended."""
        with self.transaction() as connection:
            job = _locked_job(connection, run.job.name)
            if _status(connection, run) == RUNNING:
                _update_job(connection, job, attempt=job.attempt + 1)
                self._end(connection, run, {"status": FAILED, "error": error})

    def _take(self, connection: Connection, start: RunStart, owner: Owner) -> int:
        lease = tables.leases
        last = connection.execute(select(lease.c.token).where(lease.c.job == start.job)).scalar()
        # The token is at least the current time, so that a ledger that was restored from a copy repeats no token.
        token = self.now_ms() if last is None else max(last + 1, self.now_ms())
        row = {"token": token, "beat": 0, "held": True, "run_id": start.run_id, "host": owner.host, "pid": owner.pid}
        if last is None:
            connection.execute(insert(lease).values(job=start.job, **row))
        else:
            connection.execute(update(lease).where(lease.c.job == start.job).values(row))
        return token

    def _end(self, connection: Connection, run: BegunRun, values: dict[str, Any]) -> None:
        runs, lease = tables.runs, tables.leases
        connection.execute(update(runs).where(runs.c.id == run.id).values(ended_ms=self.now_ms(), **values))
        mine = (lease.c.job == run.job.name) & (lease.c.token == run.token)
        connection.execute(update(lease).where(mine).values(held=False))

    # -- reading

    def jobs(self) -> list[Job]:
        """Return all jobs, by name."""
        with self.transaction() as connection:
            return [Job(**row) for row in _rows(connection, select(tables.jobs).order_by(tables.jobs.c.name))]

    def job(self, name: str) -> Job:
        """Return a job's entry.

        Raises:
            ConfigError: there is no job of that name.
        """
        with self.transaction() as connection:
            return found_job(connection, name)

    def runs(self, job: str | None = None, limit: int = 100) -> list[Run]:
        """Return the attempts of a job, or of all jobs if none is given, newest first."""
        query = select(tables.runs).order_by(tables.runs.c.id.desc()).limit(limit)
        if job is not None:
            query = query.where(tables.runs.c.job == job)
        with self.transaction() as connection:
            return [Run(**row) for row in _rows(connection, query)]

    def run(self, job: str, run_id: str) -> Run:
        """Return the newest attempt of a run.

        Raises:
            ConfigError: the job has no such run.
        """
        query = select(tables.runs).where(tables.runs.c.job == job, tables.runs.c.run_id == run_id)
        with self.transaction() as connection:
            rows = _rows(connection, query.order_by(tables.runs.c.id.desc()).limit(1))
        if not rows:
            raise ConfigError(
                f"Job {job!r} has no run with the id {run_id!r}; `gluepot jobs runs {job}` lists the full ids."
            )
        return Run(**rows[0])

    def writes(self, run: Run) -> list[LedgerWrite]:
        """Return the writes that an attempt published."""
        commits = tables.commits
        query = select(commits.c.ctx, commits.c.target, commits.c.rows, commits.c.files).where(commits.c.run == run.id)
        with self.transaction() as connection:
            return [LedgerWrite(**row) for row in _rows(connection, query.order_by(commits.c.id))]

    def contexts(self, job: str, at: int) -> list[str]:
        """Return every `transformation_ctx` that has a bookmark at state `at` of the job, sorted."""
        marks = tables.bookmarks
        query = select(marks.c.ctx).where(marks.c.job == job, marks.c.state <= at).distinct()
        with self.transaction() as connection:
            return sorted(connection.execute(query).scalars())

    def state(self, job: str, ctx: str, at: int) -> list[str]:
        """Return the bodies that make up a bookmark as it was at state `at` of the job, oldest first.

        Args:
            job: name of the job.
            ctx: `transformation_ctx`.
            at: number of a state; later changes are ignored.
        """
        marks = tables.bookmarks
        of_ctx = (marks.c.job == job) & (marks.c.ctx == ctx) & (marks.c.state <= at)
        with self.transaction() as connection:
            parents = dict(connection.execute(select(marks.c.state, marks.c.parent).where(of_ctx)).all())
            line = _line(parents)
            if not line:
                return []
            query = select(marks.c.state, marks.c.body).where(of_ctx, marks.c.state >= line[0])
            bodies = dict(connection.execute(query).all())
        return [bodies[state] for state in line if bodies[state]]

    def history(self, job: str, ctx: str) -> list[StateChange]:
        """Return every version of a bookmark, newest first."""
        marks = tables.bookmarks
        columns = [column for column in marks.c if column.name != "job"]
        query = select(*columns).where(marks.c.job == job, marks.c.ctx == ctx).order_by(marks.c.state.desc())
        with self.transaction() as connection:
            return [StateChange(**row) for row in _rows(connection, query)]

    def audit(self, job: str) -> list[AuditEntry]:
        """Return the changes of a job's bookmarks that no run made, newest first."""
        columns = [column for column in tables.audit.c if column.name != "id"]
        query = select(*columns).where(tables.audit.c.job == job).order_by(tables.audit.c.id.desc())
        with self.transaction() as connection:
            return [AuditEntry(**row) for row in _rows(connection, query)]


def found_job(connection: Connection, name: str) -> Job:
    """Return a job's entry, locked until the transaction ends.

    Raises:
        ConfigError: there is no job of that name.
    """
    rows = _rows(connection, select(tables.jobs).where(tables.jobs.c.name == name).with_for_update())
    if not rows:
        raise ConfigError(f"The ledger has no job {name!r}; `gluepot bookmarks list` shows those it has.")
    return Job(**rows[0])


def make_job(connection: Connection, name: str, uid: str) -> bool:
    """Create the entry of a new job; return False if the job already exists."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    row = {"name": name, "uid": uid, "version": 0, "run": 1, "attempt": 0, "state": 0, "paused": False}
    made = dialect.insert(tables.jobs).values(row).on_conflict_do_nothing().returning(tables.jobs.c.name)
    return connection.execute(made).scalar() is not None


def head_before(connection: Connection, job: str, ctx: str, at: int) -> int | None:
    """Return the number of the newest version of a bookmark up to state `at` of the job."""
    marks = tables.bookmarks
    query = select(func.max(marks.c.state)).where(marks.c.job == job, marks.c.ctx == ctx, marks.c.state <= at)
    head: int | None = connection.execute(query).scalar()
    return head


def add_version(connection: Connection, job: str, change: StateChange) -> None:
    """Add a version of a bookmark."""
    row = {name: getattr(change, name) for name in StateChange.__slots__}
    connection.execute(insert(tables.bookmarks).values(job=job, **row))


def _locked_job(connection: Connection, name: str) -> Job:
    make_job(connection, name, uuid4().hex)
    return found_job(connection, name)


def _own_job(connection: Connection, run: BegunRun) -> Job:
    """Return the entry of a run's job, locked; VersionMismatch if the run has lost its lease."""
    job = _locked_job(connection, run.job.name)
    current = _held(connection, job.name)
    if current is None or current.token != run.token:
        raise _mismatch(run, job)
    return job


def _held(connection: Connection, job: str) -> Held | None:
    rows = _rows(connection, select(tables.leases).where(tables.leases.c.job == job, tables.leases.c.held))
    if not rows:
        return None
    row = rows[0]
    return Held(row["token"], row["beat"], row["run_id"], Owner(row["host"], row["pid"]))


def _end_left_over(connection: Connection, job: Job, now_ms: int) -> Job:
    """Mark attempts as failed whose process died without ending them."""
    runs = tables.runs
    open_ones = update(runs).where(runs.c.job == job.name, runs.c.status == RUNNING)
    ended = connection.execute(open_ones.values(status=FAILED, ended_ms=now_ms, error="the process ended")).rowcount
    return _update_job(connection, job, attempt=job.attempt + ended) if ended else job


def _status(connection: Connection, run: BegunRun) -> str | None:
    status: str | None = connection.execute(select(tables.runs.c.status).where(tables.runs.c.id == run.id)).scalar()
    return status


def _update_job(connection: Connection, job: Job, **values: int) -> Job:
    connection.execute(update(tables.jobs).where(tables.jobs.c.name == job.name).values(values))
    return found_job(connection, job.name)


def _thin(connection: Connection, job: str, ctx: str, now_ms: int) -> None:
    """Remove old notes of a stream's positions, except those that another version of its bookmark extends."""
    marks = tables.bookmarks
    of_ctx = (marks.c.job == job) & (marks.c.ctx == ctx)
    used = set(connection.execute(select(marks.c.parent).where(of_ctx, marks.c.parent.is_not(None))).scalars())
    notes = connection.execute(select(marks.c.state, marks.c.at_ms).where(of_ctx, marks.c.cause == STREAM))
    gone = [state for state in superfluous(((state, at_ms) for state, at_ms in notes), now_ms) if state not in used]
    if gone:
        one = delete(marks).where(of_ctx, marks.c.state == bindparam("gone"))
        connection.execute(one, [{"gone": state} for state in gone[-_MOST_THINNED:]])


def _line(parents: Mapping[int, int | None]) -> list[int]:
    """Return the newest version and all versions that it extends, oldest first."""
    line: list[int] = []
    state = max(parents, default=None)
    while state is not None:
        line.append(state)
        state = parents[state]
    return line[::-1]


def _lease_held(job: str, current: Held) -> LeaseHeld:
    """Return the error for a run that finds another one running."""
    return LeaseHeld(
        f"job {job!r} is already running: run {current.run_id}, process {current.owner.pid} on {current.owner.host};"
        " only one run of a job with bookmarks may run at a time, so start it again when that run has ended",
    )


def _mismatch(run: BegunRun, job: Job) -> VersionMismatch:
    # The first sentence is Glue's own, which scripts and dashboards look for (docs/glue 4.3).
    return VersionMismatch(
        "Continuation update failed due to version mismatch."
        f" Expected version {run.job.version} but found version {job.version}."
        f" Another run or a reset changed job {job.name!r} meanwhile; run it again.",
    )


def _rows(connection: Connection, query: Any) -> Sequence[RowMapping]:
    return connection.execute(query).mappings().all()
