"""Job bookmarks: those of the ledger that the runs themselves use (docs/glue 4.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from gluepot.bookmarks.ledger import edit
from gluepot.bookmarks.ledger.connect import ledger_url, open_ledger
from gluepot.bookmarks.ledger.ledger import Ledger
from gluepot.core.errors import ConfigError
from gluepot.service.context import Service
from gluepot.service.errors import not_found

_ACTOR = "ResetJobBookmark"


def get_job_bookmark(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job's bookmark, as it is or as a run left it."""
    name = request["JobName"]
    ledger = open_ledger(ledger_url(service.environ), service.clock)
    try:
        return {"JobBookmarkEntry": _entry(ledger, name, _state(ledger, name, request.get("RunId")))}
    except ConfigError:
        raise not_found(f"Continuation for job {name} not found") from None
    finally:
        ledger.close()


def reset_job_bookmark(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Forget what a job has read or, with `RunId`, what it has read since this run."""
    name = request["JobName"]
    ledger = open_ledger(ledger_url(service.environ), service.clock)
    try:
        state = _state(ledger, name, request.get("RunId"))
        if state is None:
            edit.reset(ledger, name, _ACTOR)
        else:
            edit.rewind(ledger, name, _ACTOR, state)
        return {"JobBookmarkEntry": _entry(ledger, name, None)}
    except ConfigError:
        raise not_found(f"Continuation for job {name} not found") from None
    finally:
        ledger.close()


def forget_deleted(service: Service, job: str) -> None:
    """Reset the bookmark of a job that is being deleted (docs/glue 4.2); `gluepot bookmarks rewind` restores it."""
    ledger = open_ledger(ledger_url(service.environ), service.clock)
    try:
        with suppress(ConfigError):  # the job has never run
            edit.reset(ledger, job, "DeleteJob")
    finally:
        ledger.close()


def _state(ledger: Ledger, job: str, run_id: str | None) -> int | None:
    """Return the number of the state that a run left, or found if it left none; None without a run."""
    if not run_id:
        ledger.job(job)
        return None
    run = ledger.run(job, run_id)
    return run.base if run.state is None else run.state


def _entry(ledger: Ledger, name: str, state: int | None) -> dict[str, Any]:
    job = ledger.job(name)
    at = job.state if state is None else state
    runs = ledger.runs(name, 2)
    marks = {ctx: bodies for ctx in ledger.contexts(name, at) if (bodies := ledger.state(name, ctx, at))}
    entry: dict[str, Any] = {
        "JobName": name,
        "Version": job.version,
        "Run": job.run,
        "Attempt": job.attempt,
        "JobBookmark": json.dumps({ctx: [json.loads(body) for body in bodies] for ctx, bodies in marks.items()}),
    }
    for member, run in zip(("RunId", "PreviousRunId"), runs, strict=False):
        entry[member] = run.run_id
    return entry
