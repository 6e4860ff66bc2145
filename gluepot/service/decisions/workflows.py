"""Workflows: their runs, their graph, and what can be told of a run from its parts. Pure (docs/glue 11.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from hashlib import sha256
from typing import Any

from gluepot.service.decisions.states import ACTIVE, Run, State, crawler_of, subject_of
from gluepot.service.decisions.triggers import CONDITIONAL, Trigger, never_started
from gluepot.service.errors import ServiceError, invalid

JOB, CRAWLER, TRIGGER = "JOB", "CRAWLER", "TRIGGER"
_COUNTED = {
    State.TIMEOUT: "TimeoutActions",
    State.FAILED: "FailedActions",
    State.STOPPED: "StoppedActions",
    State.SUCCEEDED: "SucceededActions",
    State.ERROR: "ErroredActions",
    State.WAITING: "WaitingActions",
    **dict.fromkeys(ACTIVE, "RunningActions"),
}


class Status(Enum):
    """The states of a run of a workflow, as the API names them."""

    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    STOPPING = "STOPPING"
    STOPPED = "STOPPED"
    ERROR = "ERROR"


UNFINISHED = (Status.RUNNING, Status.STOPPING)
"""States that a run of a workflow leaves by itself. They count towards its `MaxConcurrentRuns`."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow. Its graph is made of the triggers that name it.

    Args:
        name: its name.
        definition: `Description`, `DefaultRunProperties` and `MaxConcurrentRuns` of the API.
        created_ms: milliseconds since 1970.
        modified_ms: milliseconds since 1970.
    """

    name: str
    definition: Mapping[str, Any]
    created_ms: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run of a workflow.

    Args:
        number: its place in the order of all runs of workflows.
        id: `wr_` and 64 hexadecimal digits; the `chain` of its jobs' runs.
        workflow: the workflow's name.
        status: where it is.
        triggers: those of the workflow when the run began.
        properties: the run's own.
        started_ms: milliseconds since 1970.
        completed_ms: when it ended; 0 before.
        error: why it is in ERROR.
        previous_id: the run that it resumes.
        carried: ids of the runs of jobs that the resumed run made and this one does not repeat.
        event_condition: why events started it, as `StartingEventBatchCondition` of the API; empty if none did.
    """

    number: int
    id: str
    workflow: str
    status: Status
    triggers: Sequence[Trigger] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    started_ms: int = 0
    completed_ms: int = 0
    error: str = ""
    previous_id: str = ""
    carried: Sequence[str] = ()
    event_condition: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resumption:
    """What a resumed run does.

    Args:
        restarted: jobs that start at once.
        carried: the runs whose outcome stands.
    """

    restarted: list[str]
    carried: list[Run]


def check_workflow(given: Mapping[str, Any]) -> None:
    """Refuse a workflow that could never run.

    Raises:
        ServiceError: `InvalidInputException`.
    """
    if given.get("MaxConcurrentRuns", 1) < 1:
        raise invalid(f"MaxConcurrentRuns is {given['MaxConcurrentRuns']}; use 1 or more, or omit it.")


def first_trigger(triggers: Iterable[Trigger]) -> Trigger | None:
    """Return the trigger that begins a run; None if the workflow has none."""
    return next((one for one in triggers if one.type != CONDITIONAL), None)


def warning_about(triggers: Iterable[Trigger]) -> str:
    """Return a sentence about the conditional triggers that were never started; empty if there are none."""
    names = [one.name for one in never_started(triggers)]
    if not names:
        return ""
    if len(names) == 1:
        return f"The conditional trigger {names[0]} was never started, so it starts nothing; call StartTrigger for it."
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"The conditional triggers {listed} were never started, so they start nothing; call StartTrigger for them."


def full(workflow: Workflow, unfinished: int) -> bool:
    """Return whether a workflow can have no further run now."""
    most = workflow.definition.get("MaxConcurrentRuns")
    return most is not None and unfinished >= most


def concurrent_runs_exceeded(workflow: str) -> str:
    """Return the sentence of AWS for a run beyond the limit of a workflow."""
    return f"Concurrent runs exceeded for workflow: {workflow}."


def over(run: WorkflowRun, now_ms: int) -> WorkflowRun:
    """Return a run of which no job runs any more and no trigger can fire. Jobs that failed do not matter."""
    status = Status.STOPPED if run.status is Status.STOPPING else Status.COMPLETED
    return replace(run, status=status, completed_ms=now_ms)


def jobs_started(triggers: Iterable[Trigger]) -> list[str]:
    """Return the jobs that triggers start, each once, and the crawlers by their `crawl_subject`."""
    return list(dict.fromkeys(subject_of(action) for one in triggers for action in one.actions))


def node_of(subject: str) -> tuple[str, str]:
    """Return the kind and the name of the node of a job or a crawler."""
    crawler = crawler_of(subject)
    return (JOB, subject) if crawler is None else (CRAWLER, crawler)


def statistics(triggers: Iterable[Trigger], runs: Iterable[Run]) -> dict[str, int]:
    """Return `Statistics` of the API: how many actions there are, and where the last attempt of each is.

    Args:
        triggers: of the run of the workflow.
        runs: of its jobs, the oldest first.
    """
    last = {run.job: run for run in runs}
    counts = Counter(name for run in last.values() if (name := _COUNTED.get(run.state)) is not None)
    return {
        "TotalActions": len(jobs_started(triggers)),
        **{name: counts[name] for name in dict.fromkeys(_COUNTED.values())},
    }


def node_id(workflow: str, kind: str, name: str) -> str:
    """Return the id of a node. It is the same in all runs of the workflow."""
    return f"wnode_{sha256(f'{kind} {name} {workflow}'.encode()).hexdigest()}"


def graph(
    workflow: str,
    triggers: Sequence[Trigger],
    trigger_details: Mapping[str, Mapping[str, Any]],
    job_runs: Mapping[str, Sequence[Mapping[str, Any]]],
) -> dict[str, Any]:
    """Return `WorkflowGraph` of the API.

    An edge leads from a trigger to each job that it starts, and from each job that a trigger watches to the trigger.

    Args:
        workflow: the workflow's name.
        triggers: of the workflow.
        trigger_details: by the triggers' names, as `Trigger` of the API.
        job_runs: by the jobs' names, as `JobRun` of the API; of crawlers, as `Crawl`.
    """
    edges = [
        edge
        for one in triggers
        for edge in (
            *((node_of(job), (TRIGGER, one.name)) for job in _watched(one)),
            *(((TRIGGER, one.name), node_of(job)) for job in jobs_started([one])),
        )
    ]
    jobs = dict.fromkeys(job for one in triggers for job in (*_watched(one), *jobs_started([one])))
    nodes = [
        *(
            _node(workflow, TRIGGER, one.name, {"TriggerDetails": {"Trigger": trigger_details[one.name]}})
            for one in triggers
        ),
        *(_node(workflow, *node_of(job), _details(job, list(job_runs.get(job, ())))) for job in jobs),
    ]
    return {
        "Nodes": nodes,
        "Edges": [
            {"SourceId": node_id(workflow, *source), "DestinationId": node_id(workflow, *target)}
            for source, target in edges
        ],
    }


def _details(subject: str, runs: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {"JobDetails": {"JobRuns": runs}} if crawler_of(subject) is None else {"CrawlerDetails": {"Crawls": runs}}


def _node(workflow: str, kind: str, name: str, details: Mapping[str, Any]) -> dict[str, Any]:
    return {"Type": kind, "Name": name, "UniqueId": node_id(workflow, kind, name), **details}


def _watched(trigger: Trigger) -> list[str]:
    return list(dict.fromkeys(map(subject_of, trigger.conditions)))


def downstream(triggers: Sequence[Trigger], jobs: Collection[str]) -> set[str]:
    """Return the jobs that start, directly or later, because some jobs have ended."""
    found: set[str] = set()
    edge = set(jobs)
    while edge:
        edge = {job for one in triggers if edge.intersection(_watched(one)) for job in jobs_started([one])} - found
        found |= edge
    return found


def resumption(run: WorkflowRun, runs: Sequence[Run], node_ids: Collection[str]) -> Resumption:
    """Return what a run does that resumes another one.

    Args:
        run: the one to resume.
        runs: of its jobs, the oldest first.
        node_ids: of the jobs to start again, with all that follows from them.

    Raises:
        ServiceError: `IllegalWorkflowStateException` unless the run is COMPLETED; `InvalidInputException` for a node
            that is no job which the run has tried to run.
    """
    if run.status is not Status.COMPLETED:
        raise ServiceError(
            "IllegalWorkflowStateException",
            f"The run {run.id} is {run.status.value}; only a run that is COMPLETED can be resumed.",
        )
    by_id = {node_id(run.workflow, *node_of(one.job)): one.job for one in runs}
    if unknown := [one for one in node_ids if one not in by_id]:
        raise invalid(f"The run {run.id} has run no job with the node {unknown[0]}; name nodes of jobs that it ran.")
    if not node_ids:
        raise invalid("NodeIds is empty; name at least one node to start again.")
    selected = list(dict.fromkeys(by_id[one] for one in node_ids))
    repeated = downstream(run.triggers, selected) | set(selected)
    first = [
        job for job in selected if job not in downstream(run.triggers, [other for other in selected if other != job])
    ]
    # Jobs that follow from each other in a circle are started from where the caller named the first one.
    for job in selected:
        if job not in first and job not in downstream(run.triggers, first):
            first.append(job)
    return Resumption(first, [one for one in runs if one.job not in repeated])
