"""Runs of jobs (docs/glue 11.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.core.failpoints import reach
from gluepot.service.context import Service, new_id, secs
from gluepot.service.decisions.definitions import capacity, chosen_for_run, for_run, is_of_job
from gluepot.service.decisions.log_streams import group_prefix
from gluepot.service.decisions.prices import dpu_secs, execution_secs
from gluepot.service.decisions.states import ACTIVE, OPEN, Run, State, asked_to_stop, for_job_limit, most_concurrent
from gluepot.service.errors import ServiceError, not_found
from gluepot.service.operations.jobs import job_of
from gluepot.service.paging import cut, number_of, size_of
from gluepot.service.store.database import Changes

_PAGE = 100
_SHOWN = (
    "JobMode",
    "JobRunQueuingEnabled",
    "Timeout",
    "GlueVersion",
    "ExecutionClass",
    "SecurityConfiguration",
    "NotificationProperty",
    "MaintenanceWindow",
    "ExecutionRoleSessionPolicy",
)


def start_job_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for a run. Beyond the limit of the job it waits, if the job or the request allows a queue."""
    name, now_ms = request["JobName"], service.now_ms()
    with service.store.changes() as changes:
        changes.alone()
        job = job_of(changes, name)
        definition = for_run(job.definition, chosen_for_run(request))
        previous = request.get("JobRunId", "")
        repeated = run_of(changes, name, previous) if previous else None
        run = Run(
            0,
            new_id("jr_"),
            name,
            State.STARTING,
            definition,
            request.get("Arguments") or (repeated.arguments if repeated else {}),
            previous_id=previous,
            started_ms=now_ms,
            modified_ms=now_ms,
        )
        if changes.count(name, ACTIVE) >= most_concurrent(definition):
            if not definition["JobRunQueuingEnabled"]:
                raise ServiceError("ConcurrentRunsExceededException", f"Concurrent runs exceeded for {name}")
            run = for_job_limit(run)
        changes.add_run(run)
        reach("service.adding_run")
    reach("service.run_added")
    service.wake()
    return {"JobRunId": run.id}


def get_job_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one run."""
    with service.store.changes() as changes:
        return {"JobRun": answer_of(run_of(changes, request["JobName"], request["RunId"]), service.now_ms())}


def get_job_runs(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the runs of a job, the newest first."""
    most = size_of(request, _PAGE)
    before = number_of(request.get("NextToken"))
    with service.store.changes() as changes:
        found = changes.runs(request["JobName"], before, most + 1)
        if not found and before is None:
            job_of(changes, request["JobName"])
    runs, rest = cut(found, most, lambda one: str(one.number))
    return {"JobRuns": [answer_of(run, service.now_ms()) for run in runs], **rest}


def batch_stop_job_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for runs to stop. Each that cannot be stopped is told with its reason, and the others are stopped."""
    name = request["JobName"]
    stopped, errors = [], []
    with service.store.changes() as changes:
        for run_id in request["JobRunIds"]:
            try:
                _stop(changes, run_of(changes, name, run_id), service.now_ms())
                stopped.append({"JobName": name, "JobRunId": run_id})
            except ServiceError as refused:
                detail = {"ErrorCode": refused.code, "ErrorMessage": refused.message}
                errors.append({"JobName": name, "JobRunId": run_id, "ErrorDetail": detail})
    service.wake()
    return {"SuccessfulSubmissions": stopped, "Errors": errors}


def run_of(changes: Changes, job: str, run_id: str) -> Run:
    """Return a run of a job.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    found = changes.run(run_id)
    if found is None or found.job != job or not is_of_job(found.definition):
        raise not_found(f"Job run {run_id} not found.")
    return found


def _stop(changes: Changes, run: Run, now_ms: int) -> None:
    if run.state not in OPEN:
        raise ServiceError(
            "JobRunInTerminalStateException",
            f"Job run {run.id} has ended with {run.state.value} and cannot be stopped.",
        )
    changes.change_run(asked_to_stop(run, now_ms))


def answer_of(run: Run, now_ms: int) -> dict[str, Any]:
    """Return a run as `JobRun` of the API."""
    answer: dict[str, Any] = {
        "Id": run.id,
        "Attempt": run.attempt,
        "JobName": run.job,
        "JobRunState": run.state.value,
        "StartedOn": secs(run.started_ms),
        "LastModifiedOn": secs(run.modified_ms),
        "PredecessorRuns": list(run.predecessors),
        "ExecutionTime": execution_secs(run, now_ms),
        "DPUSeconds": dpu_secs(run, now_ms),
        "LogGroupName": group_prefix(run),
        **{name: run.definition[name] for name in _SHOWN if name in run.definition},
        **capacity(run.definition),
    }
    if run.completed_ms:
        answer["CompletedOn"] = secs(run.completed_ms)
    optional = {
        "PreviousRunId": run.previous_id,
        "TriggerName": run.trigger,
        "Arguments": dict(run.arguments),
        "ErrorMessage": run.error,
        "StateDetail": run.waits_for,
    }
    return answer | {name: value for name, value in optional.items() if value}
