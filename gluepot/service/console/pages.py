"""What the console shows of jobs, triggers and workflows, and which pages it has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from gluepot.core.job_parameters import is_on
from gluepot.core.masking import mask, mask_text
from gluepot.servers.state import running_server
from gluepot.service.console import catalog_pages, cost_pages, crawler_pages, quality_pages
from gluepot.service.console.log_pages import STREAMS, log, tail, whole_log
from gluepot.service.console.page import FEW_ROWS, ROWS, Page, Query, Reader, more
from gluepot.service.console.run_metrics import NAMES, measured, metrics_of
from gluepot.service.console.values import (
    RUN_FILTERS,
    arguments_of,
    definition_facts,
    drawing,
    job_kind,
    pretty,
    run_row,
    short_id,
    state_word,
    subject_link,
    timeline,
    trigger_row,
    url,
    workflow_run_row,
)
from gluepot.service.decisions.definitions import is_crawl
from gluepot.service.decisions.log_streams import group_prefix, text_of
from gluepot.service.decisions.prices import dpu_secs, usd_on_glue
from gluepot.service.decisions.states import ACTIVE, OPEN, Run, State, effective_arguments, first_id
from gluepot.service.decisions.workflows import warning_about
from gluepot.service.errors import MISSING, ServiceError
from gluepot.service.operations.jobs import job_of
from gluepot.service.operations.runs import run_of
from gluepot.service.operations.triggers import trigger_of
from gluepot.service.paging import cut, number_of, position_of

_MOST_ATTEMPTS = 10
# A bookmark may name a million files.
_MOST_CHARS = 20_000


def overview(reader: Reader, _: Query) -> Page:
    """Return what runs, what failed lately, and what fires next."""
    with reader.service.store.changes() as changes:
        counts = changes.count_all(OPEN)
        active = changes.newest_runs(OPEN, most=FEW_ROWS)
        failed = changes.newest_runs(RUN_FILTERS["failed"], most=FEW_ROWS)
        triggers = changes.triggers.next_ones(FEW_ROWS)
        workflows = changes.workflows.unfinished()[:FEW_ROWS]
    now_ms = reader.now_ms
    runs = [reader.call("GetWorkflowRun", Name=one.workflow, RunId=one.id)["Run"] for one in workflows]
    values = {
        "running": sum(counts[state] for state in ACTIVE),
        "waiting": counts[State.WAITING],
        "active": [run_row(run, now_ms) for run in active],
        "failed": [run_row(run, now_ms) for run in failed],
        "triggers": [trigger_row(one) for one in triggers],
        "workflows": [workflow_run_row(run, now_ms) for run in runs],
    }
    return Page("overview.html", "Overview", "", values, polls=True)


def jobs(reader: Reader, query: Query) -> Page:
    """Return a page of the jobs, each with its last run."""
    part = query.get("find", "").strip()
    with reader.service.store.changes() as changes:
        found, rest = cut(changes.jobs(position_of(query.get("page")), ROWS + 1, part), ROWS, lambda one: one.name)
        last = changes.last_runs([job.name for job in found])
    now_ms = reader.now_ms
    rows: list[dict[str, Any]] = [
        {
            "name": job.name,
            "link": url("job", name=job.name),
            "kind": job_kind(job.definition),
            "modified_ms": job.modified_ms,
            "last": run_row(last[job.name], now_ms) if job.name in last else None,
        }
        for job in found
    ]
    polls = any(row["last"] and row["last"].goes_on for row in rows)
    values = {"jobs": rows, "find": part, "more": more("jobs", rest, query, find=part)}
    return Page("jobs.html", "Jobs", "jobs", values, polls=polls)


def job(reader: Reader, query: Query) -> Page:
    """Return a job with its definition and a page of its runs."""
    name = query.get("name", "")
    with reader.service.store.changes() as changes:
        found = job_of(changes, name)
        newest = changes.runs(name, number_of(query.get("page")), ROWS + 1)
        tags = changes.tags(reader.service.arn("job", name))
    runs, rest = cut(newest, ROWS, lambda run: str(run.number))
    now_ms = reader.now_ms
    definition = mask(found.definition)
    values = {
        "name": name,
        "facts": definition_facts(definition),
        "defaults": sorted(definition.get("DefaultArguments", {}).items()),
        "fixed": sorted(definition.get("NonOverridableArguments", {}).items()),
        "tags": mask(tags),
        "times": [("Created", found.created_ms), ("Last modified", found.modified_ms)],
        "json": pretty(found.definition),
        "runs": [run_row(run, now_ms) for run in runs],
        "measured": measured(reader, runs[:FEW_ROWS], now_ms),
        "metric_labels": [shown.label for shown in NAMES],
        "more": more("job", rest, query, name=name),
    }
    return Page("job.html", name, "jobs", values, any(run.state in OPEN for run in runs), [_JOBS])


def bookmark(reader: Reader, query: Query) -> Page:
    """Return the bookmark of a job."""
    name = query.get("job", "")
    reader.call("GetJob", JobName=name)
    try:
        found = reader.call("GetJobBookmark", JobName=name)["JobBookmarkEntry"]
    except ServiceError as refused:
        if refused.code != MISSING:
            raise
        found = None
    values: dict[str, Any] = {"job": name, "found": found is not None, "facts": [], "json": "", "left_out": 0}
    if found is not None:
        values["facts"] = [("Version", found["Version"]), ("Run", found["Run"]), ("Attempt", found["Attempt"])]
        if (last := found.get("RunId")) is not None:
            values["facts"].append(("Last run", last))
        text = pretty(json.loads(found["JobBookmark"]))
        values["json"], values["left_out"] = text[:_MOST_CHARS], max(0, len(text) - _MOST_CHARS)
    return Page("bookmark.html", "Bookmark", "jobs", values, path=[_JOBS, (name, url("job", name=name))])


def runs(reader: Reader, query: Query) -> Page:
    """Return a page of the runs of all jobs."""
    chosen = query.get("state", "all")
    states = RUN_FILTERS.get(chosen, ())
    with reader.service.store.changes() as changes:
        found = changes.newest_runs(states, number_of(query.get("page")), ROWS + 1)
    shown, rest = cut(found, ROWS, lambda run: str(run.number))
    now_ms = reader.now_ms
    values = {
        "runs": [run_row(run, now_ms) for run in shown],
        "filters": [(word, url("runs", state=word), word == chosen) for word in RUN_FILTERS],
        "more": more("runs", rest, query, state=chosen),
    }
    return Page("runs.html", "Job runs", "runs", values, polls="page" not in query)


def run(reader: Reader, query: Query) -> Page:
    """Return a run with its attempts, arguments and logs."""
    name, run_id = query.get("job", ""), query.get("id", "")
    with reader.service.store.changes() as changes:
        found = run_of(changes, name, run_id)
        attempts = changes.attempts(first_id(run_id), _MOST_ATTEMPTS + 1)
        chain = changes.workflows.run(found.chain) if found.workflow else None
    now_ms = reader.now_ms
    goes_on = found.state in OPEN
    # A run of a job that was deleted before it could start has no definition.
    facts = definition_facts(mask(found.definition)) if found.definition else []
    values = {
        "row": run_row(found, now_ms),
        "job_link": url("job", name=name),
        "trigger_link": url("trigger", name=found.trigger) if found.trigger else "",
        "workflow_link": url("workflow-run", name=found.workflow, id=found.chain) if chain else "",
        "predecessors": [
            (one["JobName"], url("run", job=one["JobName"], id=one["RunId"])) for one in found.predecessors
        ],
        "bars": timeline(attempts, now_ms),
        "arguments": arguments_of(found),
        "facts": facts,
        "previous": None if found.previous_id in {"", *(one.id for one in attempts)} else found.previous_id,
        "cost": f"{dpu_secs(found, now_ms):,.0f} DPU seconds, ${usd_on_glue(found, now_ms):,.2f} on AWS Glue",
        "stopping": found.state is State.STOPPING,
        "has_bookmark": found.state is State.SUCCEEDED and _keeps_bookmark(found),
        "metrics": metrics_of(reader, [found])[0],
        "spark_ui": _spark_ui(reader, found),
        "has_logs": goes_on or any(reader.service.logs.has(text_of(found, file)) for file in STREAMS.values()),
        "of": {"job": name, "id": found.id},
        "log_group": group_prefix(found),
        "logs": [(stream, tail(reader, found, stream), goes_on) for stream in STREAMS],
    }
    return Page("run.html", short_id(found.id), "runs", values, goes_on, [_JOBS, (name, url("job", name=name))])


def _keeps_bookmark(run: Run) -> bool:
    return effective_arguments(run).get("--job-bookmark-option") == "job-bookmark-enable"


def _spark_ui(reader: Reader, run: Run) -> str:
    """Return the address of the history server if it runs and the run has an event log for it, otherwise nothing."""
    if not is_on(effective_arguments(run).get("--enable-spark-ui")):
        return ""
    history = running_server(reader.service.environ, "history")
    return "" if history is None else history.address


def triggers(reader: Reader, query: Query) -> Page:
    """Return a page of the triggers."""
    with reader.service.store.changes() as changes:
        found = changes.triggers.some(position_of(query.get("page")), ROWS + 1)
    shown, rest = cut(found, ROWS, lambda one: one.name)
    values = {"triggers": [trigger_row(one) for one in shown], "more": more("triggers", rest, query)}
    return Page("triggers.html", "Triggers", "triggers", values, polls=True)


def trigger(reader: Reader, query: Query) -> Page:
    """Return a trigger."""
    name = query.get("name", "")
    with reader.service.store.changes() as changes:
        found = trigger_of(changes, name)
    actions = [
        (
            *subject_link(one),
            sorted(mask(one.get("Arguments", {})).items()),
        )
        for one in found.actions
    ]
    conditions = [
        (*subject_link(one), state_word(one.get("State") or one["CrawlState"]))
        for one in found.conditions
        if "JobName" in one or "CrawlerName" in one
    ]
    values = {
        "row": trigger_row(found),
        "actions": actions,
        "conditions": conditions,
        "any": found.definition.get("Predicate", {}).get("Logical") == "ANY",
        "description": mask_text(found.definition.get("Description", "")),
        "workflow_link": url("workflow", name=found.workflow) if found.workflow else "",
        "times": [("Created", found.created_ms), ("Last modified", found.modified_ms)],
        "json": pretty(found.definition),
    }
    return Page("trigger.html", name, "triggers", values, polls=True, path=[("Triggers", url("triggers"))])


def workflows(reader: Reader, query: Query) -> Page:
    """Return a page of the workflows, each with its last run."""
    listed = reader.call("ListWorkflows", MaxResults=25, NextToken=query.get("page"))
    names = listed["Workflows"]
    found = reader.call("BatchGetWorkflows", Names=names)["Workflows"] if names else []
    now_ms = reader.now_ms
    rows = [
        {
            "name": one["Name"],
            "link": url("workflow", name=one["Name"]),
            "description": mask_text(one.get("Description", "")),
            "last": workflow_run_row(one["LastRun"], now_ms) if "LastRun" in one else None,
        }
        for one in found
    ]
    polls = any(row["last"] and row["last"].goes_on for row in rows)
    values = {"workflows": rows, "more": more("workflows", listed, query)}
    return Page("workflows.html", "Workflows", "workflows", values, polls=polls)


def workflow(reader: Reader, query: Query) -> Page:
    """Return a workflow with its graph and a page of its runs."""
    name = query.get("name", "")
    found = reader.call("GetWorkflow", Name=name, IncludeGraph=True)["Workflow"]
    listed = reader.call("GetWorkflowRuns", Name=name, MaxResults=FEW_ROWS, NextToken=query.get("page"))
    with reader.service.store.changes() as changes:
        parts = changes.triggers.of_workflow(name)
    now_ms = reader.now_ms
    rows = [workflow_run_row(run, now_ms) for run in listed["Runs"]]
    values = {
        "name": name,
        "description": mask_text(found.get("Description", "")),
        "most": found.get("MaxConcurrentRuns"),
        "properties": sorted(mask(found.get("DefaultRunProperties", {})).items()),
        "drawing": drawing(found["Graph"], of_run=False),
        "triggers": [trigger_row(one) for one in parts],
        "warning": warning_about(parts),
        "runs": rows,
        "more": more("workflow", listed, query, name=name),
    }
    above = [("Workflows", url("workflows"))]
    return Page("workflow.html", name, "workflows", values, any(row.goes_on for row in rows), above)


def workflow_run(reader: Reader, query: Query) -> Page:
    """Return a run of a workflow: its graph, and the runs of its jobs."""
    name, run_id = query.get("name", ""), query.get("id", "")
    found = reader.call("GetWorkflowRun", Name=name, RunId=run_id, IncludeGraph=True)["Run"]
    with reader.service.store.changes() as changes:
        job_runs = [one for one in changes.runs_of_chain(run_id) if not is_crawl(one.definition)]
    now_ms = reader.now_ms
    row = workflow_run_row(found, now_ms)
    previous = found.get("PreviousRunId")
    values = {
        "row": row,
        "drawing": drawing(found["Graph"], of_run=True),
        "runs": [run_row(one, now_ms) for one in job_runs],
        "properties": sorted(mask(found["WorkflowRunProperties"]).items()),
        "previous": (short_id(previous), url("workflow-run", name=name, id=previous)) if previous else None,
    }
    above = [("Workflows", url("workflows")), (name, url("workflow", name=name))]
    polls = found["Status"] in {"RUNNING", "STOPPING"}
    return Page("workflow_run.html", row.short, "workflows", values, polls, above)


PAGES: Mapping[str, Callable[[Reader, Query], Page]] = {
    "": overview,
    "jobs": jobs,
    "job": job,
    "bookmark": bookmark,
    "runs": runs,
    "run": run,
    "log": log,
    "whole-log": whole_log,
    "triggers": triggers,
    "trigger": trigger,
    "workflows": workflows,
    "workflow": workflow,
    "workflow-run": workflow_run,
    "crawlers": crawler_pages.crawlers,
    "crawler": crawler_pages.crawler,
    "crawl": crawler_pages.crawl,
    "costs": cost_pages.costs,
    "quality": quality_pages.quality,
    "quality-result": quality_pages.quality_result,
    "databases": catalog_pages.databases,
    "database": catalog_pages.database,
    "table": catalog_pages.table,
    "rows": catalog_pages.rows,
    "connections": catalog_pages.connections,
    "connection": catalog_pages.connection,
}
"""The pages by their paths below `/console/`."""

MENU = (
    ("", "Overview"),
    ("jobs", "Jobs"),
    ("runs", "Job runs"),
    ("triggers", "Triggers"),
    ("workflows", "Workflows"),
    ("crawlers", "Crawlers"),
    ("quality", "Data quality"),
    ("costs", "Costs"),
    ("databases", "Data Catalog"),
    ("connections", "Connections"),
)
_JOBS = ("Jobs", url("jobs"))
