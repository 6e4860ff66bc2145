"""Workflows and their runs (docs/glue 11.7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gluepot.core.failpoints import reach
from gluepot.service.context import Service, secs
from gluepot.service.controllers import firing
from gluepot.service.decisions.definitions import is_crawl
from gluepot.service.decisions.states import Run
from gluepot.service.decisions.triggers import Trigger
from gluepot.service.decisions.workflows import Workflow, WorkflowRun, check_workflow, graph, statistics, warning_about
from gluepot.service.errors import not_found, taken
from gluepot.service.operations import runs as job_runs
from gluepot.service.operations import triggers
from gluepot.service.operations.crawlers import crawl_answer
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import cut, number_of, page_by_name, size_of
from gluepot.service.store.database import Changes

_PAGE, _PAGE_OF_NAMES = 100, 25
_DEFINITION = ("Description", "DefaultRunProperties", "MaxConcurrentRuns")


def create_workflow(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Define a workflow."""
    name, now_ms = request["Name"], service.now_ms()
    definition = _definition(request)
    check_workflow(definition)
    check_tags(request.get("Tags", {}))
    with service.store.changes() as changes:
        if changes.workflows.get(name) is not None:
            raise taken(f"Workflow with name {name} already exists.")
        changes.workflows.save(Workflow(name, definition, now_ms, now_ms))
        changes.tag(service.arn("workflow", name), request.get("Tags", {}))
    return {"Name": name}


def update_workflow(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Replace what is defined of a workflow. Its triggers and runs stay."""
    definition = _definition(request)
    check_workflow(definition)
    with service.store.changes() as changes:
        there = firing.workflow_of(changes, request["Name"])
        changes.workflows.save(replace(there, definition=definition, modified_ms=service.now_ms()))
    return {"Name": there.name}


def delete_workflow(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete a workflow; one that is not there is no error. Its triggers stay and start nothing."""
    name = request["Name"]
    with service.store.changes() as changes:
        changes.workflows.delete(name)
        changes.untag(service.arn("workflow", name))
    return {"Name": name}


def get_workflow(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one workflow with its last run."""
    with service.store.changes() as changes:
        workflow = firing.workflow_of(changes, request["Name"])
        return {"Workflow": _answer(service, changes, workflow, request)}


def list_workflows(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the names of workflows."""
    with service.store.changes() as changes:
        names = [one.name for one in changes.workflows.all()]
    found, rest = page_by_name(names, str, request, _PAGE_OF_NAMES)
    return {"Workflows": found, **rest}


def batch_get_workflows(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return several workflows, and which names there are not."""
    with service.store.changes() as changes:
        found = {name: changes.workflows.get(name) for name in request["Names"]}
        return {
            "Workflows": [_answer(service, changes, one, request) for one in found.values() if one is not None],
            "MissingWorkflows": [name for name, one in found.items() if one is None],
        }


def start_workflow_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Start a run of a workflow: what its first trigger starts."""
    with service.store.changes() as changes:
        changes.alone()
        run = firing.start_workflow_run(changes, request["Name"], request.get("RunProperties", {}), service.now_ms())
        reach("service.starting_workflow")
    reach("service.workflow_started")
    service.wake()
    return {"RunId": run.id}


def stop_workflow_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Stop the jobs of a run; nothing further starts in it."""
    with service.store.changes() as changes:
        changes.alone()
        firing.stop_workflow_run(changes, workflow_run_of(changes, request), service.now_ms())
    service.wake()
    return {}


def resume_workflow_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Start a run that repeats some nodes of an earlier one, and all that follows from them."""
    with service.store.changes() as changes:
        changes.alone()
        run, nodes = firing.resume_workflow_run(
            changes, workflow_run_of(changes, request), request["NodeIds"], service.now_ms()
        )
    service.wake()
    return {"RunId": run.id, "NodeIds": nodes}


def get_workflow_run(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one run of a workflow."""
    with service.store.changes() as changes:
        return {"Run": _run_answer(service, changes, workflow_run_of(changes, request), request)}


def get_workflow_runs(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the runs of a workflow, the newest first."""
    most, before = size_of(request, _PAGE), number_of(request.get("NextToken"))
    with service.store.changes() as changes:
        found = _runs(changes, firing.workflow_of(changes, request["Name"]), before, most + 1)
        runs, rest = cut(found, most, lambda one: str(one.number))
        return {"Runs": [_run_answer(service, changes, run, request) for run in runs], **rest}


def get_workflow_run_properties(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a run, by which its jobs tell each other values."""
    with service.store.changes() as changes:
        return {"RunProperties": dict(workflow_run_of(changes, request).properties)}


def put_workflow_run_properties(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add properties to a run, or give them other values. Others stay, and so do those of the workflow."""
    with service.store.changes() as changes:
        run = workflow_run_of(changes, request)
        changes.workflows.change_run(replace(run, properties={**run.properties, **request["RunProperties"]}))
    return {}


def workflow_run_of(changes: Changes, request: Mapping[str, Any]) -> WorkflowRun:
    """Return the run that a request names.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    name, run_id = request["Name"], request["RunId"]
    found = changes.workflows.run(run_id)
    if found is None or found.workflow != name:
        raise not_found(f"Workflow run {run_id} of {name} not found.")
    return found


def _runs(changes: Changes, workflow: Workflow, before: int | None, most: int) -> list[WorkflowRun]:
    """Return runs of a workflow, the newest first, without those of an older one that had its name."""
    found = changes.workflows.runs(workflow.name, before, most)
    return [run for run in found if run.started_ms >= workflow.created_ms]


def _definition(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: request[name] for name in _DEFINITION if request.get(name) is not None}


def _answer(service: Service, changes: Changes, workflow: Workflow, request: Mapping[str, Any]) -> dict[str, Any]:
    answer = {
        "Name": workflow.name,
        **workflow.definition,
        "CreatedOn": secs(workflow.created_ms),
        "LastModifiedOn": secs(workflow.modified_ms),
    }
    if last := _runs(changes, workflow, None, 1):
        answer["LastRun"] = _run_answer(service, changes, last[0], request)
    if request.get("IncludeGraph"):
        answer["Graph"] = _graph(workflow.name, changes.triggers.of_workflow(workflow.name), [], service.now_ms())
    return answer


def _run_answer(service: Service, changes: Changes, run: WorkflowRun, request: Mapping[str, Any]) -> dict[str, Any]:
    of_jobs = firing.runs_of(changes, run)
    answer: dict[str, Any] = {
        "Name": run.workflow,
        "WorkflowRunId": run.id,
        "WorkflowRunProperties": dict(run.properties),
        "StartedOn": secs(run.started_ms),
        "Status": run.status.value,
        "Statistics": statistics(run.triggers, of_jobs),
    }
    if run.completed_ms:
        answer["CompletedOn"] = secs(run.completed_ms)
    if request.get("IncludeGraph"):
        answer["Graph"] = _graph(run.workflow, run.triggers, of_jobs, service.now_ms())
    optional = {
        "PreviousRunId": run.previous_id,
        "ErrorMessage": run.error or warning_about(run.triggers),
        "StartingEventBatchCondition": dict(run.event_condition),
    }
    return answer | {name: value for name, value in optional.items() if value}


def _graph(workflow: str, of: Sequence[Trigger], runs: Sequence[Run], now_ms: int) -> dict[str, Any]:
    by_job: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in reversed(runs):
        by_job[run.job].append(crawl_answer(run) if is_crawl(run.definition) else job_runs.answer_of(run, now_ms))
    return graph(workflow, of, {one.name: triggers.answer_of(one) for one in of}, by_job)
