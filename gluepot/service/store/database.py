"""Connects to the service's database, and keeps jobs, runs and tags in it; its neighbours keep the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, delete, func, insert, select, text, update

from gluepot.core.database import Part, open_engine, transaction
from gluepot.core.statedir import state_root
from gluepot.service.decisions.definitions import NOT_OF_JOBS
from gluepot.service.decisions.log_streams import FILES
from gluepot.service.decisions.states import OPEN, Run, State
from gluepot.service.store.alarms import AlarmRows
from gluepot.service.store.costs import CostRows
from gluepot.service.store.crawlers import CrawlerRows
from gluepot.service.store.definitions import DefinitionRows
from gluepot.service.store.events import EventRows
from gluepot.service.store.log_chunks import LogChunkRows
from gluepot.service.store.logs import LogRows
from gluepot.service.store.metrics import MetricRows
from gluepot.service.store.places import PlaceRows
from gluepot.service.store.rows import save_named
from gluepot.service.store.schemas import SchemaVersionRows
from gluepot.service.store.tables import jobs, places, runs, tags
from gluepot.service.store.triggers import TriggerRows
from gluepot.service.store.workflows import WorkflowRows

NAME = "service's database"
VARIABLE = "GLUEPOT_SERVICE"
VERSION_TABLE = "service_alembic_version"
HEAD = "0008"
"""The newest migration; a test compares it with the scripts."""

_DECISIONS_LOCK = 7_305_002  # an arbitrary number; every service must request the same one from PostgreSQL
_OPEN = [one.value for one in OPEN]
_OF_JOBS = runs.c.command.not_in(NOT_OF_JOBS)
_PART = Part(NAME, VARIABLE, HEAD, Path(__file__).parent / "migrations", VERSION_TABLE)


@dataclass(frozen=True, slots=True)
class Job:
    """A job.

    Args:
        name: its name.
        definition: as the API takes it, without name and tags.
        created_ms: milliseconds since 1970.
        modified_ms: milliseconds since 1970.
    """

    name: str
    definition: Mapping[str, Any]
    created_ms: int
    modified_ms: int


class Changes:
    """What can be read and written in one transaction.

    Args:
        connection: of the transaction.

    Attributes:
        triggers: triggers and their firings.
        workflows: workflows and their runs.
        crawlers: crawlers; their crawls are runs.
        events: rules, and events on their way.
        metrics: metrics and their data.
        alarms: alarms and their history.
        costs: what runs cost.
        logs: the index of log streams.
        log_chunks: text of log streams.
        places: where services work.
        definitions: what is only kept and returned.
        schema_versions: the versions of schemas.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.triggers = TriggerRows(connection)
        self.workflows = WorkflowRows(connection)
        self.crawlers = CrawlerRows(connection)
        self.events = EventRows(connection)
        self.metrics = MetricRows(connection)
        self.alarms = AlarmRows(connection)
        self.costs = CostRows(connection)
        self.logs = LogRows(connection)
        self.log_chunks = LogChunkRows(connection)
        self.places = PlaceRows(connection)
        self.definitions = DefinitionRows(connection)
        self.schema_versions = SchemaVersionRows(connection)

    def alone(self) -> None:
        """Let no other service decide anything until the end of this transaction.

        Whoever counts runs and then adds one, or does what has to be done once, has to be alone.
        """
        if self._connection.dialect.name == "postgresql":  # SQLite has one writer anyway
            self._connection.execute(text(f"SELECT pg_advisory_xact_lock({_DECISIONS_LOCK})"))

    @property
    def is_shared(self) -> bool:
        """Whether services on other machines may use the database."""
        return self._connection.dialect.name == "postgresql"

    def job(self, name: str) -> Job | None:
        """Return a job; None if there is none of this name."""
        row = self._connection.execute(select(jobs).where(jobs.c.name == name)).mappings().first()
        return None if row is None else _job(row)

    def jobs(self, after: str = "", most: int = 100, part: str = "") -> list[Job]:
        """Return jobs in the order of their names.

        Args:
            after: the name that comes before the first one.
            most: the largest number of jobs.
            part: only jobs whose names contain it.
        """
        query = select(jobs).where(jobs.c.name > after).order_by(jobs.c.name).limit(most)
        if part:
            query = query.where(jobs.c.name.contains(part, autoescape=True))
        return [_job(row) for row in self._connection.execute(query).mappings()]

    def save_job(self, job: Job) -> None:
        """Save a job, in the place of one of the same name."""
        row = {
            "definition": json.dumps(job.definition),
            "created_ms": job.created_ms,
            "modified_ms": job.modified_ms,
        }
        save_named(self._connection, jobs, job.name, row)

    def delete_job(self, name: str) -> None:
        """Delete a job. Its runs stay."""
        self._connection.execute(delete(jobs).where(jobs.c.name == name))

    def run(self, run_id: str) -> Run | None:
        """Return a run; None if there is none of this id."""
        # The lock keeps what others change meanwhile from being lost on PostgreSQL.
        query = select(runs).where(runs.c.id == run_id).with_for_update()
        row = self._connection.execute(query).mappings().first()
        return None if row is None else _run(row)

    def runs(self, job: str, before: int | None = None, most: int = 100) -> list[Run]:
        """Return the runs of a job, the newest first.

        Args:
            job: the job's name.
            before: only runs with smaller numbers.
            most: the largest number of runs.
        """
        query = select(runs).where(runs.c.job == job).order_by(runs.c.number.desc()).limit(most)
        if before is not None:
            query = query.where(runs.c.number < before)
        return [_run(row) for row in self._connection.execute(query).mappings()]

    def runs_to_log(self, place: str, most: int, before: int | None = None, ids: Sequence[str] = ()) -> list[Run]:
        """Return runs whose log files may have text that the index of log streams has not, the newest first.

        Args:
            place: where the files are; runs that no place has are among them.
            most: the largest number of runs.
            before: only runs with smaller numbers; None for all.
            ids: only these runs; empty for any.
        """
        query = select(runs).where(~runs.c.logged, runs.c.place.in_(["", place]), runs.c.state != State.WAITING.value)
        if before is not None:
            query = query.where(runs.c.number < before)
        if ids:
            query = query.where(runs.c.id.in_(ids))
        query = query.order_by(runs.c.number.desc()).limit(most)
        return [_run(row) for row in self._connection.execute(query).mappings()]

    def run_numbers(self, ids: Sequence[str]) -> set[int]:
        """Return the numbers of runs; those that are not there have none."""
        return set(self._connection.execute(select(runs.c.number).where(runs.c.id.in_(ids))).scalars())

    def mark_logged(self, ids: Sequence[str]) -> None:
        """Note that the index of log streams has all text of some runs."""
        self._connection.execute(update(runs).where(runs.c.id.in_(ids)).values(logged=True))

    def runs_in(self, states: Sequence[State]) -> list[Run]:
        """Return all runs in some states, the oldest first."""
        # One state after the other: SQLite knows only how many runs a state has on average. For several states it would
        # read all runs, of which nearly all are in other states.
        queries = (select(runs).where(runs.c.state == one.value).order_by(runs.c.number) for one in states)
        found = [_run(row) for query in queries for row in self._connection.execute(query).mappings()]
        return sorted(found, key=lambda run: run.number)

    def newest_runs(self, states: Sequence[State], before: int | None = None, most: int = 100) -> list[Run]:
        """Return runs of all jobs, the newest first.

        Args:
            states: only runs in one of these; all runs if it is empty.
            before: only runs with smaller numbers.
            most: the largest number of runs.
        """
        query = select(runs).where(_OF_JOBS).order_by(runs.c.number.desc()).limit(most)
        if before is not None:
            query = query.where(runs.c.number < before)
        # For each state by itself, because an index holds the runs of one state in their order.
        queries = [query.where(runs.c.state == one.value) for one in states] or [query]
        found = [_run(row) for one in queries for row in self._connection.execute(one).mappings()]
        return sorted(found, key=lambda run: -run.number)[:most]

    def last_runs(self, names: Sequence[str]) -> dict[str, Run]:
        """Return the newest run of each job of some names, by the names of the jobs that have one."""
        newest = select(func.max(runs.c.number)).where(runs.c.job == jobs.c.name).scalar_subquery()
        query = select(runs).where(runs.c.number.in_(select(newest).where(jobs.c.name.in_(names))))
        return {row["job"]: _run(row) for row in self._connection.execute(query).mappings()}

    def attempts(self, first_id: str, most: int) -> list[Run]:
        """Return the newest attempts and restarts of a run, the oldest first.

        Args:
            first_id: the id that all of them begin with.
            most: the largest number of runs.
        """
        # By comparison, because the index of the ids serves no LIKE; what follows the first id begins with `_`.
        among = runs.c.id >= first_id, runs.c.id < f"{first_id}`"
        query = select(runs).where(*among).order_by(runs.c.number.desc()).limit(most)
        return [_run(row) for row in self._connection.execute(query).mappings()][::-1]

    def count_all(self, states: Sequence[State]) -> dict[State, int]:
        """Return how many runs of all jobs are in each of some states."""
        counted = select(func.count()).select_from(runs).where(_OF_JOBS)
        return {one: self._connection.execute(counted.where(runs.c.state == one.value)).scalar_one() for one in states}

    def count(self, job: str, states: Sequence[State]) -> int:
        """Return how many runs of a job are in some states."""
        query = (
            select(func.count())
            .select_from(runs)
            .where(runs.c.job == job, runs.c.state.in_([one.value for one in states]))
        )
        found: int = self._connection.execute(query).scalar_one()
        return found

    def add_run(self, run: Run) -> None:
        """Add a run; its number is given by the database."""
        command = run.definition.get("Command", {}).get("Name", "")
        fixed = {"id": run.id, "job": run.job, "command": command, "chain": run.chain}
        row = {**fixed, "followed": False, **_columns(run)}
        self._connection.execute(insert(runs).values(row))

    def change_run(self, run: Run) -> None:
        """Save what has changed in a run."""
        self._connection.execute(update(runs).where(runs.c.id == run.id).values(_columns(run)))

    def take_run(self, run_id: str, place: str) -> bool:
        """Note that a place starts the process of a run; return False if another one does, or if it must not start."""
        there = runs.c.place.in_(["", place]), runs.c.state == State.STARTING.value
        return (
            self._connection.execute(update(runs).where(runs.c.id == run_id, *there).values(place=place)).rowcount > 0
        )

    def old_runs(self, place: str, before_ms: int, most: int) -> list[str]:
        """Return the ids of runs that have ended before a moment, the oldest first.

        Args:
            place: where they were; those that no place had, or a place that is lost, are among them.
            before_ms: milliseconds since 1970.
            most: the largest number of runs.
        """
        others = select(places.c.name).where(places.c.name != place)
        over = runs.c.state.not_in(_OPEN), runs.c.followed, runs.c.chain.not_in(self.chains_that_go_on())
        query = select(runs).where(*over, runs.c.place.not_in(others))
        found = [_run(row) for row in self._connection.execute(query.order_by(runs.c.number).limit(most)).mappings()]
        return [run.id for run in found if run.completed_ms < before_ms]

    def delete_runs(self, ids: Sequence[str]) -> None:
        """Delete runs of jobs."""
        numbers = self.run_numbers(ids)
        self.logs.forget_runs(numbers)
        self.log_chunks.forget(list(FILES), numbers)
        self._connection.execute(delete(runs).where(runs.c.id.in_(ids)))
        self.metrics.forget_reports(ids)

    def runs_of_chain(self, chain: str) -> list[Run]:
        """Return the runs that descend from one firing, the oldest first."""
        query = select(runs).where(runs.c.chain == chain).order_by(runs.c.number)
        return [_run(row) for row in self._connection.execute(query).mappings()]

    def runs_to_follow(self) -> list[Run]:
        """Return the runs that have ended, and for whose end nothing was done yet, the oldest first."""
        query = select(runs).where(~runs.c.followed, runs.c.state.not_in(_OPEN)).order_by(runs.c.number)
        return [_run(row) for row in self._connection.execute(query).mappings()]

    def mark_followed(self, run_id: str) -> None:
        """Note that triggers were asked about the end of a run, and that it was told."""
        self._connection.execute(update(runs).where(runs.c.id == run_id).values(followed=True))

    def chain_goes_on(self, chain: str) -> bool:
        """Return whether a run of a chain is not yet at its end, or may still fire triggers."""
        query = select(runs.c.state, runs.c.followed).where(runs.c.chain == chain)
        return any(state in _OPEN or not followed for state, followed in self._connection.execute(query))

    def chains_that_go_on(self) -> set[str]:
        """Return the chains that have a run which is not yet at its end."""
        return {run.chain for run in self.runs_in(OPEN) if run.chain}

    def tags(self, arn: str) -> dict[str, str]:
        """Return the tags of a thing."""
        query = select(tags.c.key, tags.c.value).where(tags.c.arn == arn).order_by(tags.c.key)
        return {key: value for key, value in self._connection.execute(query)}  # noqa: C416  rows are no pairs to mypy

    def tag(self, arn: str, added: Mapping[str, str], removed: Sequence[str] = ()) -> None:
        """Add tags, or give them other values, and remove others."""
        gone = [*removed, *added]
        self._connection.execute(delete(tags).where(tags.c.arn == arn, tags.c.key.in_(gone)))
        if added:
            self._connection.execute(
                insert(tags), [{"arn": arn, "key": key, "value": value} for key, value in added.items()]
            )

    def untag(self, arn: str) -> None:
        """Remove all tags of a thing."""
        self._connection.execute(delete(tags).where(tags.c.arn == arn))


class Store:
    """The service's database.

    Args:
        engine: of the database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def changes(self) -> Iterator[Changes]:
        """Yield a transaction; an exception undoes what was changed in it.

        Raises:
            TransientError: the database does not answer.
        """
        with transaction(self._engine, NAME) as connection:
            yield Changes(connection)


def store_url(environ: Mapping[str, str]) -> str:
    """Return the URL of the database: `GLUEPOT_SERVICE`, or a SQLite file in the state folder."""
    return environ.get(VARIABLE) or f"sqlite:///{state_root(environ) / 'service.db'}"


def open_store(url: str) -> Store:
    """Connect and bring the tables up to date.

    Raises:
        ConfigError: the URL is of another kind, or its driver is not installed.
        TransientError: the database cannot be reached.
        CheckpointError: a newer Gluepot wrote it.
    """
    return Store(open_engine(url, _PART))


def _job(row: RowMapping) -> Job:
    return Job(row["name"], json.loads(row["definition"]), row["created_ms"], row["modified_ms"])


def _run(row: RowMapping) -> Run:
    details = {**json.loads(row["details"]), "place": row["place"]}
    return Run.of(row["number"], row["id"], row["job"], State(row["state"]), details)


def _columns(run: Run) -> dict[str, Any]:
    return {"state": run.state.value, "details": json.dumps(run.details())}
