"""Keeps workflows and their runs in the service's database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update

from gluepot.service.decisions.triggers import Trigger, TriggerState
from gluepot.service.decisions.workflows import UNFINISHED, Status, Workflow, WorkflowRun
from gluepot.service.store.rows import save_named
from gluepot.service.store.tables import workflow_runs, workflows

_COLUMNS = ("number", "id", "workflow", "status", "triggers")
_AT_ONCE = 500
_UNFINISHED = [one.value for one in UNFINISHED]


class WorkflowRows:
    """Workflows and their runs, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> Workflow | None:
        """Return a workflow; None if there is none of this name."""
        row = self._connection.execute(select(workflows).where(workflows.c.name == name)).mappings().first()
        return None if row is None else _workflow(row)

    def all(self) -> list[Workflow]:
        """Return all workflows in the order of their names."""
        query = select(workflows).order_by(workflows.c.name)
        return [_workflow(row) for row in self._connection.execute(query).mappings()]

    def save(self, workflow: Workflow) -> None:
        """Save a workflow, in the place of one of the same name."""
        row = {
            "definition": json.dumps(workflow.definition),
            "created_ms": workflow.created_ms,
            "modified_ms": workflow.modified_ms,
        }
        save_named(self._connection, workflows, workflow.name, row)

    def delete(self, name: str) -> None:
        """Delete a workflow. Its triggers and runs stay."""
        self._connection.execute(delete(workflows).where(workflows.c.name == name))

    def run(self, run_id: str) -> WorkflowRun | None:
        """Return a run of a workflow; None if there is none of this id."""
        # Jobs that put properties at the same time must not lose any; SQLite, which has one writer, ignores the lock.
        query = select(workflow_runs).where(workflow_runs.c.id == run_id).with_for_update()
        row = self._connection.execute(query).mappings().first()
        return None if row is None else _run(row)

    def runs(self, workflow: str, before: int | None = None, most: int = 1) -> list[WorkflowRun]:
        """Return the runs of a workflow, the newest first.

        Args:
            workflow: the workflow's name.
            before: only runs with smaller numbers.
            most: the largest number of runs.
        """
        query = select(workflow_runs).where(workflow_runs.c.workflow == workflow)
        if before is not None:
            query = query.where(workflow_runs.c.number < before)
        query = query.order_by(workflow_runs.c.number.desc()).limit(most)
        return [_run(row) for row in self._connection.execute(query).mappings()]

    def unfinished(self) -> list[WorkflowRun]:
        """Return all runs of workflows that have not ended, the oldest first."""
        query = select(workflow_runs).where(workflow_runs.c.status.in_(_UNFINISHED)).order_by(workflow_runs.c.number)
        return [_run(row) for row in self._connection.execute(query).mappings()]

    def count_unfinished(self, workflow: str) -> int:
        """Return how many runs of a workflow have not ended."""
        query = (
            select(func.count())
            .select_from(workflow_runs)
            .where(workflow_runs.c.workflow == workflow, workflow_runs.c.status.in_(_UNFINISHED))
        )
        found: int = self._connection.execute(query).scalar_one()
        return found

    def delete_old_runs(self, before_ms: int) -> None:
        """Delete runs of workflows that have ended before a moment, in milliseconds since 1970."""
        query = select(workflow_runs).where(workflow_runs.c.status.not_in(_UNFINISHED))
        found = [
            _run(row)
            for row in self._connection.execute(query.order_by(workflow_runs.c.number).limit(_AT_ONCE)).mappings()
        ]
        old = [run.id for run in found if run.completed_ms < before_ms]
        self._connection.execute(delete(workflow_runs).where(workflow_runs.c.id.in_(old)))

    def add_run(self, run: WorkflowRun) -> None:
        """Add a run of a workflow; its number is given by the database."""
        self._connection.execute(insert(workflow_runs).values(id=run.id, workflow=run.workflow, **_columns(run)))

    def change_run(self, run: WorkflowRun) -> None:
        """Save what has changed in a run of a workflow."""
        self._connection.execute(update(workflow_runs).where(workflow_runs.c.id == run.id).values(_columns(run)))


def _workflow(row: RowMapping) -> Workflow:
    return Workflow(row["name"], json.loads(row["definition"]), row["created_ms"], row["modified_ms"])


def _run(row: RowMapping) -> WorkflowRun:
    details = json.loads(row["details"])
    triggers = [_trigger(one) for one in details.pop("triggers")]
    return WorkflowRun(row["number"], row["id"], row["workflow"], Status(row["status"]), triggers, **details)


def _columns(run: WorkflowRun) -> dict[str, Any]:
    details = {name: value for name, value in asdict(run).items() if name not in _COLUMNS}
    triggers = [{**asdict(one), "state": one.state.value} for one in run.triggers]
    return {"status": run.status.value, "details": json.dumps({**details, "triggers": triggers})}


def _trigger(details: Mapping[str, Any]) -> Trigger:
    return Trigger(**{**details, "state": TriggerState(details["state"])})
