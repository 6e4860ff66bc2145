"""What each page of the console shows.

Pages call the operations of the API, so that a page knows what a client knows, and read from the database what no
operation tells. No page reads more rows than it shows. Values that may be secret are masked here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from gluepot.core.masking import mask, mask_text
from gluepot.core.option_values import is_true
from gluepot.servers.state import running_server
from gluepot.service.console.log_lines import LogPiece, first_lines, newest_lines
from gluepot.service.console.values import (
    RUN_FILTERS,
    Facts,
    arguments_of,
    definition_facts,
    drawing,
    job_kind,
    pretty,
    run_row,
    short_id,
    state_word,
    timeline,
    trigger_row,
    url,
    workflow_run_row,
)
from gluepot.service.context import Service
from gluepot.service.decisions.definitions import is_crawl
from gluepot.service.decisions.prices import dpu_secs, usd_on_glue
from gluepot.service.decisions.states import ACTIVE, OPEN, Run, State, effective_arguments, first_id
from gluepot.service.errors import MISSING, ServiceError, not_found
from gluepot.service.launch.processes import ERROR, OUTPUT
from gluepot.service.log_events import read_events, tail_offset
from gluepot.service.operations.jobs import job_of
from gluepot.service.operations.runs import log_group, run_of
from gluepot.service.operations.triggers import trigger_of
from gluepot.service.paging import cut, number_of, position_of
from gluepot.service.wire.app import Answer, call

STREAMS = {"error": ERROR, "output": OUTPUT}
_PAGE, _FEW = 50, 10
_MOST_ATTEMPTS = 10
# What a page shows of a log at first, and of what has been added since the last look.
_SHOWN_LINES, _SHOWN_BYTES = 300, 100_000
_LINES_OF_PAGE = 1000
# A bookmark may name a million files.
_MOST_CHARS = 20_000
# No file is larger.
_MOST_DIGITS = 18

Query: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows.

    Args:
        template: its template.
        title: its title.
        section: the entry of the menu that it belongs to.
        values: what the template shows.
        polls: whether it renews itself, because something on it changes by itself.
        path: links to the pages above it, each with its title.
    """

    template: str
    title: str
    section: str
    values: Mapping[str, Any] = field(default_factory=dict)
    polls: bool = False
    path: Sequence[tuple[str, str]] = ()


class Reader:
    """Reads what pages show.

    Args:
        service: the service.
        operations: what answers each operation, by its target, such as `AWSGlue.GetJob`.
    """

    def __init__(self, service: Service, operations: Mapping[str, Answer]) -> None:
        self.service = service
        self._operations = operations

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        """Call an operation as a client does. Members that are None are left out.

        Raises:
            ServiceError: it is refused.
        """
        given = {name: value for name, value in request.items() if value is not None}
        return call(self._operations, f"AWSGlue.{operation}", given)

    @property
    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return self.service.now_ms()


def overview(reader: Reader, _: Query) -> Page:
    """Return what runs, what failed lately, and what fires next."""
    with reader.service.store.changes() as changes:
        counts = changes.count_all(OPEN)
        active = changes.newest_runs(OPEN, most=_FEW)
        failed = changes.newest_runs(RUN_FILTERS["failed"], most=_FEW)
        triggers = changes.triggers.next_ones(_FEW)
        workflows = changes.workflows.unfinished()[:_FEW]
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
        found, rest = cut(changes.jobs(position_of(query.get("page")), _PAGE + 1, part), _PAGE, lambda one: one.name)
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
    values = {"jobs": rows, "find": part, "more": _more("jobs", rest, query, find=part)}
    return Page("jobs.html", "Jobs", "jobs", values, polls=polls)


def job(reader: Reader, query: Query) -> Page:
    """Return a job with its definition and a page of its runs."""
    name = query.get("name", "")
    with reader.service.store.changes() as changes:
        found = job_of(changes, name)
        newest = changes.runs(name, number_of(query.get("page")), _PAGE + 1)
        tags = changes.tags(reader.service.arn("job", name))
    runs, rest = cut(newest, _PAGE, lambda run: str(run.number))
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
        "more": _more("job", rest, query, name=name),
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
        found = changes.newest_runs(states, number_of(query.get("page")), _PAGE + 1)
    shown, rest = cut(found, _PAGE, lambda run: str(run.number))
    now_ms = reader.now_ms
    values = {
        "runs": [run_row(run, now_ms) for run in shown],
        "filters": [(word, url("runs", state=word), word == chosen) for word in RUN_FILTERS],
        "more": _more("runs", rest, query, state=chosen),
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
        "spark_ui": _spark_ui(reader, found),
        # Another service of the same database has the logs of the runs that it started.
        "has_logs": goes_on or reader.service.run_folder(found.id).exists(),
        "log_group": log_group(found),
        "logs": [(stream, _tail(reader, found, stream), goes_on) for stream in STREAMS],
    }
    return Page("run.html", short_id(found.id), "runs", values, goes_on, [_JOBS, (name, url("job", name=name))])


def _spark_ui(reader: Reader, run: Run) -> str:
    """Return the address of the history server if it runs and the run has an event log for it, otherwise nothing."""
    if not is_true(effective_arguments(run).get("--enable-spark-ui")):
        return ""
    history = running_server(reader.service.environ, "history")
    return "" if history is None else history.address


def log(reader: Reader, query: Query) -> Page:
    """Return what a stream of a run has had since the last look, for the page of the run."""
    found, stream, begin = _stream(reader, query)
    path = _path(reader, found, stream)
    with reader.service.store.changes() as changes:
        goes_on = run_of(changes, found.job, found.id).state in OPEN
    piece = newest_lines(list(read_events(path, begin, found.started_ms)), begin, _SHOWN_LINES)
    return Page("log_piece.html", "", "", {"run": found, "stream": stream, "piece": piece, "goes_on": goes_on})


def whole_log(reader: Reader, query: Query) -> Page:
    """Return a part of a stream of a run."""
    found, stream, begin = _stream(reader, query)
    path = _path(reader, found, stream)
    piece = first_lines(list(read_events(path, begin, found.started_ms)), begin, _LINES_OF_PAGE)
    here = {"job": found.job, "id": found.id, "stream": stream}
    run_link = url("run", job=found.job, id=found.id)
    values = {
        "piece": piece,
        "begin": begin,
        "group": f"{log_group(found)}/{stream}",
        "first": url("whole-log", **here) if begin else "",
        "following": url("whole-log", **here, at=piece.end) if piece.lines else "",
        "last": url("whole-log", **here, at=tail_offset(path, _SHOWN_BYTES)),
    }
    title = f"{stream.capitalize()} log"
    above = [_JOBS, (found.job, url("job", name=found.job)), (short_id(found.id), run_link)]
    return Page("whole_log.html", title, "runs", values, path=above)


def triggers(reader: Reader, query: Query) -> Page:
    """Return a page of the triggers."""
    with reader.service.store.changes() as changes:
        found = changes.triggers.some(position_of(query.get("page")), _PAGE + 1)
    shown, rest = cut(found, _PAGE, lambda one: one.name)
    values = {"triggers": [trigger_row(one) for one in shown], "more": _more("triggers", rest, query)}
    return Page("triggers.html", "Triggers", "triggers", values, polls=True)


def trigger(reader: Reader, query: Query) -> Page:
    """Return a trigger."""
    name = query.get("name", "")
    with reader.service.store.changes() as changes:
        found = trigger_of(changes, name)
    actions = [
        (
            str(one.get("JobName") or one.get("CrawlerName")),
            url("job", name=one["JobName"]) if "JobName" in one else "",
            sorted(mask(one.get("Arguments", {})).items()),
        )
        for one in found.actions
    ]
    conditions = [
        (one["JobName"], url("job", name=one["JobName"]), state_word(one["State"]))
        for one in found.conditions
        if "JobName" in one
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
    values = {"workflows": rows, "more": _more("workflows", listed, query)}
    return Page("workflows.html", "Workflows", "workflows", values, polls=polls)


def workflow(reader: Reader, query: Query) -> Page:
    """Return a workflow with its graph and a page of its runs."""
    name = query.get("name", "")
    found = reader.call("GetWorkflow", Name=name, IncludeGraph=True)["Workflow"]
    listed = reader.call("GetWorkflowRuns", Name=name, MaxResults=_FEW, NextToken=query.get("page"))
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
        "runs": rows,
        "more": _more("workflow", listed, query, name=name),
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


def databases(reader: Reader, query: Query) -> Page:
    """Return a page of the databases of the Data Catalog."""
    found = reader.call("GetDatabases", MaxResults=_PAGE, NextToken=query.get("page"))
    rows = [
        {
            "name": one["Name"],
            "link": url("database", name=one["Name"]),
            "description": mask_text(one.get("Description", "")),
            "location": mask_text(one.get("LocationUri", "")),
            "created_ms": one["CreateTime"] * 1000,
        }
        for one in found["DatabaseList"]
    ]
    values = {"databases": rows, "more": _more("databases", found, query)}
    return Page("databases.html", "Databases", "databases", values)


def database(reader: Reader, query: Query) -> Page:
    """Return a database with a page of its tables."""
    name = query.get("name", "")
    of = mask(reader.call("GetDatabase", Name=name)["Database"])
    found = reader.call("GetTables", DatabaseName=name, MaxResults=_PAGE, NextToken=query.get("page"))
    rows = [
        {
            "name": one["Name"],
            "link": url("table", database=name, name=one["Name"]),
            "format": one.get("Parameters", {}).get("classification", ""),
            "columns": len(one.get("StorageDescriptor", {}).get("Columns", ())),
            "keys": ", ".join(key["Name"] for key in one["PartitionKeys"]),
            "location": mask_text(one.get("StorageDescriptor", {}).get("Location", "")),
            "updated_ms": one["UpdateTime"] * 1000,
        }
        for one in found["TableList"]
    ]
    values = {
        "description": of.get("Description", ""),
        "location": of.get("LocationUri", ""),
        "parameters": sorted(of.get("Parameters", {}).items()),
        "tables": rows,
        "more": _more("database", found, query, name=name),
    }
    return Page("database.html", name, "databases", values, path=[_DATABASES])


def table(reader: Reader, query: Query) -> Page:
    """Return a table with its columns, and pages of its versions and partitions."""
    where, name, version = query.get("database", ""), query.get("name", ""), query.get("version")
    newest = reader.call("GetTable", DatabaseName=where, Name=name)["Table"]
    plain = newest
    if version is not None:
        plain = reader.call("GetTableVersion", DatabaseName=where, TableName=name, VersionId=version)
        plain = plain["TableVersion"]["Table"]
    listed = reader.call(
        "GetTableVersions", DatabaseName=where, TableName=name, MaxResults=_FEW, NextToken=query.get("versions")
    )
    keys = [key["Name"] for key in newest["PartitionKeys"]]
    parts: dict[str, Any] = {"Partitions": []}
    if keys:
        parts = reader.call(
            "GetPartitions",
            DatabaseName=where,
            TableName=name,
            MaxResults=_PAGE,
            NextToken=query.get("page"),
            ExcludeColumnSchema=True,
        )
    of = mask(plain)
    storage = of.get("StorageDescriptor", {})
    here = {"database": where, "name": name}
    values = {
        "facts": _table_facts(of, storage),
        "columns": [(one, False) for one in storage.get("Columns", ())] + [(one, True) for one in of["PartitionKeys"]],
        "parameters": sorted({**storage.get("Parameters", {}), **of.get("Parameters", {})}.items()),
        "version": version,
        "versions": [
            (one["VersionId"], url("table", **here, version=one["VersionId"]), one["Table"]["UpdateTime"] * 1000)
            for one in listed["TableVersions"]
        ],
        "more_versions": url("table", **here, versions=listed["NextToken"]) if "NextToken" in listed else "",
        "keys": keys,
        "partitions": [
            (one["Values"], mask_text(one.get("StorageDescriptor", {}).get("Location", "")), one["CreationTime"] * 1000)
            for one in parts["Partitions"]
        ],
        "more": _more("table", parts, query, **here),
        "json": pretty(plain),
    }
    title = name if version is None else f"{name}, version {version}"
    above = [_DATABASES, (where, url("database", name=where))]
    return Page("table.html", title, "databases", values, path=above)


def connections(reader: Reader, query: Query) -> Page:
    """Return a page of the connections."""
    found = reader.call("GetConnections", HidePassword=True, MaxResults=_PAGE, NextToken=query.get("page"))
    rows = [
        {
            "name": one["Name"],
            "link": url("connection", name=one["Name"]),
            "kind": one["ConnectionType"],
            "description": mask_text(one.get("Description", "")),
            "updated_ms": one["LastUpdatedTime"] * 1000,
        }
        for one in found["ConnectionList"]
    ]
    values = {"connections": rows, "more": _more("connections", found, query)}
    return Page("connections.html", "Connections", "connections", values)


def connection(reader: Reader, query: Query) -> Page:
    """Return a connection without what is secret in it."""
    name = query.get("name", "")
    found = mask(reader.call("GetConnection", Name=name, HidePassword=True)["Connection"])
    values = {
        "kind": found["ConnectionType"],
        "description": found.get("Description", ""),
        "properties": sorted(found.get("ConnectionProperties", {}).items()),
        "times": [("Created", found["CreationTime"] * 1000), ("Last modified", found["LastUpdatedTime"] * 1000)],
        "json": pretty(found),
    }
    return Page("connection.html", name, "connections", values, path=[("Connections", url("connections"))])


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
    "databases": databases,
    "database": database,
    "table": table,
    "connections": connections,
    "connection": connection,
}
"""The pages by their paths below `/console/`."""

MENU = (
    ("", "Overview"),
    ("jobs", "Jobs"),
    ("runs", "Job runs"),
    ("triggers", "Triggers"),
    ("workflows", "Workflows"),
    ("databases", "Data Catalog"),
    ("connections", "Connections"),
)
_JOBS = ("Jobs", url("jobs"))
_DATABASES = ("Databases", url("databases"))


def _more(page: str, answer: Mapping[str, Any], query: Query, **of: str) -> dict[str, str]:
    """Return the links under a list: to its first page, unless that is shown, and to its next page, if there is one."""
    token = answer.get("NextToken")
    return {
        "first": url(page, **of) if "page" in query else "",
        "next": url(page, **of, page=token) if token else "",
    }


def _table_facts(of: Mapping[str, Any], storage: Mapping[str, Any]) -> Facts:
    serde = storage.get("SerdeInfo", {}).get("SerializationLibrary", "")
    pairs = [
        ("Location", storage.get("Location", "")),
        ("Classification", of.get("Parameters", {}).get("classification", "")),
        ("Table type", of.get("TableType", "")),
        ("Input format", storage.get("InputFormat", "")),
        ("Output format", storage.get("OutputFormat", "")),
        ("Serde", serde),
        ("Description", of.get("Description", "")),
    ]
    return [(name, value) for name, value in pairs if value]


def _stream(reader: Reader, query: Query) -> tuple[Run, str, int]:
    """Return the run, the stream and the place in it that an address names."""
    stream, at = query.get("stream", ""), query.get("at", "0")
    if stream not in STREAMS:
        raise not_found(f"There is no stream {stream!r}; use one of {', '.join(STREAMS)}.")
    with reader.service.store.changes() as changes:
        found = run_of(changes, query.get("job", ""), query.get("id", ""))
    return found, stream, int(at) if at.isascii() and at.isdecimal() and len(at) <= _MOST_DIGITS else 0


def _path(reader: Reader, of: Run, stream: str) -> Path:
    return reader.service.run_folder(of.id) / STREAMS[stream]


def _tail(reader: Reader, of: Run, stream: str) -> LogPiece:
    path = _path(reader, of, stream)
    begin = tail_offset(path, _SHOWN_BYTES)
    return newest_lines(list(read_events(path, begin, of.started_ms)), begin, _SHOWN_LINES)
