"""Exports a job's part of the ledger as one JSON document and imports it: entry, bookmarks, runs and audit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table, insert, select, update
from sqlalchemy.exc import CompileError, DataError, IntegrityError

from gluepot.bookmarks.ledger import tables
from gluepot.bookmarks.ledger.edit import Edited, note
from gluepot.bookmarks.ledger.ledger import Ledger, found_job, make_job
from gluepot.bookmarks.ledger.values import RUNNING
from gluepot.core.errors import ConfigError

_FORMAT = 1


def export_job(ledger: Ledger, job: str) -> str:
    """Return a job as JSON text.

    Raises:
        ConfigError: no such job.
    """
    with ledger.transaction() as connection:
        entry = found_job(connection, job)

        def rows(table: Table) -> list[dict[str, Any]]:
            found = connection.execute(select(table).where(table.c.job == job).order_by(*table.primary_key))
            return [{name: value for name, value in row.items() if name != "job"} for row in found.mappings()]

        runs = [row for row in rows(tables.runs) if row["status"] != RUNNING]
        ids = [row["id"] for row in runs]
        commits = select(tables.commits).where(tables.commits.c.run.in_(ids)).order_by(tables.commits.c.id)
        plain = {
            "format": _FORMAT,
            "job": {name: getattr(entry, name) for name in entry.__slots__},
            "runs": runs,
            "commits": [dict(row) for row in connection.execute(commits).mappings()],
            "bookmarks": rows(tables.bookmarks),
            "audit": rows(tables.audit),
        }
    return json.dumps(plain, indent=1, ensure_ascii=False)


def import_job(ledger: Ledger, text: str, actor: str, *, keep: bool = True) -> Edited:
    """Import the text that `export_job` returned; the job's next run continues from its bookmarks.

    Args:
        ledger: a ledger without a job of that name.
        text: the JSON text.
        actor: user and host, for the audit.
        keep: False only checks the text.

    Raises:
        ConfigError: the text is not an export, or the job already exists.
    """
    try:
        plain = json.loads(text)
        if plain["format"] != _FORMAT:
            raise ConfigError(
                f"The export has format {plain['format']}, this Gluepot knows {_FORMAT}; use a newer one."
            )
        with ledger.transaction(keep=keep) as connection:
            return _import(connection, plain, ledger.now_ms(), actor)
    except (ValueError, KeyError, TypeError, AttributeError, CompileError, DataError, IntegrityError) as error:
        raise ConfigError(
            "The text is not an export of a job; make one with `gluepot bookmarks export JOB`."
        ) from error


def _import(connection: Connection, plain: Mapping[str, Any], now_ms: int, actor: str) -> Edited:
    job = plain["job"]
    name, state = str(job["name"]), int(job["state"])
    if not make_job(connection, name, job["uid"]):
        raise ConfigError(f"The ledger has a job {name!r} already; import it into another ledger.")
    connection.execute(update(tables.jobs).where(tables.jobs.c.name == name).values(job))
    new_ids = {}
    for run in plain["runs"]:
        row = {column: value for column, value in run.items() if column != "id"}
        done = connection.execute(insert(tables.runs).values(job=name, **row).returning(tables.runs.c.id))
        new_ids[run["id"]] = done.scalar_one()
    for commit in plain["commits"]:
        row = {column: value for column, value in commit.items() if column not in {"id", "run"}}
        connection.execute(insert(tables.commits).values(run=new_ids[commit["run"]], **row))
    for mark in plain["bookmarks"]:
        connection.execute(insert(tables.bookmarks).values(job=name, **mark))
    for line in plain["audit"]:
        row = {column: value for column, value in line.items() if column != "id"}
        connection.execute(insert(tables.audit).values(job=name, **row))
    note(connection, now_ms, actor, name, "import", f"at state {state}", 0, state)
    return Edited(name, 0, state)
