"""Runs, triggers, workflows and definitions as people read them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from gluepot.core.masking import mask, mask_text
from gluepot.service.console.graph import HEIGHT, WIDTH, Layout, Place, layout
from gluepot.service.decisions.definitions import capacity
from gluepot.service.decisions.states import OPEN, Run, State, effective_arguments, first_id
from gluepot.service.decisions.triggers import EVENT, ON_DEMAND, SCHEDULED, Trigger, TriggerState
from gluepot.service.decisions.workflows import Status
from gluepot.service.errors import invalid
from gluepot.web import figures

ROOT = "/console/"
ID_CHARS = 11
"""So much of a run's id tells it from all others in practice."""
_MOODS = {
    "SUCCEEDED": "good",
    "COMPLETED": "good",
    "ACTIVATED": "good",
    "FAILED": "bad",
    "TIMEOUT": "bad",
    "ERROR": "bad",
    "EXPIRED": "warn",
    "STOPPED": "warn",
    "CANCELLED": "warn",
    "CANCELLING": "busy",
    "STARTING": "busy",
    "RUNNING": "busy",
    "STOPPING": "busy",
}
_KINDS = {"glueetl": "Spark", "gluestreaming": "Spark Streaming", "pythonshell": "Python shell"}
TRIGGER_TYPES = {SCHEDULED: "Schedule", "CONDITIONAL": "Conditional", ON_DEMAND: "On demand", EVENT: "Event"}
RUN_FILTERS: Mapping[str, Sequence[State]] = {
    "all": (),
    "active": OPEN,
    "failed": (State.FAILED, State.TIMEOUT, State.ERROR),
    "succeeded": (State.SUCCEEDED,),
    "stopped": (State.STOPPED, State.EXPIRED),
}
"""Which runs the list of all runs shows, by the word in its address."""
_LABEL_CHARS = 19
# A timeline is drawn this wide and scaled by the browser.
_SCALE = 1000


def url(page: str, /, **query: object) -> str:
    """Return the address of a page. Members without a value are left out."""
    given = {name: value for name, value in query.items() if value not in {None, ""}}
    return ROOT + page + (f"?{urlencode(given)}" if given else "")


@dataclass(frozen=True, slots=True)
class StateWord:
    """A state.

    Args:
        word: for people.
        mood: `good`, `bad`, `warn`, `busy` or `quiet`; it decides the colour.
    """

    word: str
    mood: str


def state_word(state: str) -> StateWord:
    """Return a state of the API as people read it."""
    return StateWord(state.replace("_", " ").capitalize(), _MOODS.get(state, "quiet"))


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list.

    Args:
        id: the whole id.
        short: the begin of its id, with its attempt.
        job: the job's name.
        job_link: to the job's page.
        state: where it is.
        link: to its page.
        started_ms: when it was asked for.
        ended_ms: when it ended; None before.
        took_secs: how long it has run; None if it has not begun.
        started_by: its trigger; empty for a caller.
        workflow: of which it is a part; empty for none.
        error: why it failed.
        goes_on: whether it can be stopped.
    """

    id: str
    short: str
    job: str
    job_link: str
    state: StateWord
    link: str
    started_ms: int
    ended_ms: int | None
    took_secs: float | None
    started_by: str
    workflow: str
    error: str
    goes_on: bool


def run_row(run: Run, now_ms: int) -> RunRow:
    """Return a run as a list shows it."""
    return RunRow(
        run.id,
        short_id(run.id),
        run.job,
        url("job", name=run.job),
        state_word(run.state.value),
        url("run", job=run.job, id=run.id),
        run.started_ms,
        run.completed_ms or None,
        ((run.completed_ms or now_ms) - run.running_ms) / 1000 if run.running_ms else None,
        run.trigger,
        run.workflow,
        mask_text(run.error or run.waits_for),
        run.state in OPEN,
    )


def short_id(run_id: str) -> str:
    """Return the begin of an id, with the attempt and the restart that it names."""
    first = first_id(run_id)
    return f"{first[:ID_CHARS]}…{run_id.removeprefix(first).replace('_', ' ')}"


@dataclass(frozen=True, slots=True)
class Bar:
    """An attempt in the timeline of a run, of which a browser draws 1,000 units.

    Args:
        row: the attempt.
        name: what it is, such as `Retry 1`.
        waits_from: where the time before its process began starts.
        waits: how long that is.
        runs_from: where its process began.
        runs: how long it ran.
    """

    row: RunRow
    name: str
    waits_from: float
    waits: float
    runs_from: float
    runs: float


def _attempt_name(run: Run) -> str:
    later = run.id.removeprefix(first_id(run.id)).replace("attempt", "retry").replace("_", " ").strip()
    return later.capitalize() or "First attempt"


def timeline(attempts: Sequence[Run], now_ms: int) -> list[Bar]:
    """Return the attempts of a run, the first one first, on one axis of time."""
    if not attempts:
        return []
    begin = min(run.started_ms for run in attempts)
    end = max(run.completed_ms or now_ms for run in attempts)
    scale = _SCALE / max(1, end - begin)
    bars = []
    for run in attempts:
        ended_ms = run.completed_ms or now_ms
        began_ms = min(run.running_ms or ended_ms, ended_ms)
        bars.append(
            Bar(
                run_row(run, now_ms),
                _attempt_name(run),
                round((run.started_ms - begin) * scale, 1),
                round((began_ms - run.started_ms) * scale, 1),
                round((began_ms - begin) * scale, 1),
                # The last unit shows that there was something, however short it was.
                round(max(_SCALE / 250, (ended_ms - began_ms) * scale), 1) if run.running_ms else 0,
            )
        )
    return bars


def arguments_of(run: Run) -> list[tuple[str, str, str]]:
    """Return the arguments of a run without secrets: name, value, and where the value comes from."""
    fixed, defaults = run.definition.get("NonOverridableArguments", {}), run.definition.get("DefaultArguments", {})

    def origin(name: str) -> str:
        if name in fixed:
            return "the job, not overridable"
        if name in run.arguments:
            return f"trigger {run.trigger}" if run.trigger else "this run"
        return "the job" if name in defaults else ""

    return [(name, value, origin(name)) for name, value in sorted(mask(effective_arguments(run)).items())]


def given_arguments(text: str) -> dict[str, str]:
    """Return the arguments of a form: a line for each, the name and its value.

    Raises:
        ServiceError: `InvalidInputException`, because a line is no argument.
    """
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, value = line.partition(" ")
        if "=" in name:
            name, _, value = line.partition("=")
        if not name.startswith("--"):
            raise invalid(f"The line {line!r} is no argument; write a name that begins with --, a space, and a value.")
        found[name] = value.strip()
    return found


Facts = list[tuple[str, Any]]


def facts(*pairs: tuple[str, Any]) -> Facts:
    """Return the pairs that have a value."""
    return [(name, value) for name, value in pairs if value not in {None, ""}]


def definition_facts(definition: Mapping[str, Any]) -> Facts:
    """Return what a definition of a job says, in words of Glue's console."""
    command, size = definition.get("Command", {}), capacity(definition)
    workers = f"{size['NumberOfWorkers']} of {size['WorkerType']}" if "NumberOfWorkers" in size else None
    minutes = definition.get("Timeout")
    return facts(
        ("Type", job_kind(definition)),
        ("Script", command.get("ScriptLocation")),
        ("Glue version", definition.get("GlueVersion")),
        ("Workers", workers),
        ("Capacity", f"{size['MaxCapacity']:g} DPU"),
        ("Timeout", "none" if minutes is None else f"{minutes} minutes"),
        ("Retries", definition.get("MaxRetries", 0)),
        ("Concurrent runs", definition.get("ExecutionProperty", {}).get("MaxConcurrentRuns", 1)),
        ("Beyond that limit", "runs wait" if definition.get("JobRunQueuingEnabled") else "runs are refused"),
        ("Execution class", str(definition.get("ExecutionClass") or "standard").capitalize()),
        ("Maintenance window", definition.get("MaintenanceWindow")),
        ("Connections", ", ".join(definition.get("Connections", {}).get("Connections", ()))),
        ("Role", definition.get("Role")),
        ("Description", definition.get("Description")),
    )


def job_kind(definition: Mapping[str, Any]) -> str:
    """Return the type of a job."""
    name = str(definition.get("Command", {}).get("Name", ""))
    return _KINDS.get(name, name)


def pretty(value: Any) -> str:
    """Return a definition as JSON for people, without secrets."""
    return json.dumps(mask(value), indent=2, ensure_ascii=False, default=str)


@dataclass(frozen=True, slots=True)
class TriggerRow:
    """A trigger in a list.

    Args:
        name: its name.
        link: to its page.
        kind: its type.
        state: where it is.
        when: its schedule, or what it waits for.
        starts: what it starts.
        workflow: of which it is a part; empty for none.
        next_ms: when it fires next; None if it is not known.
        on_demand: whether a start fires it at once.
        active: whether it fires by itself.
    """

    name: str
    link: str
    kind: str
    state: StateWord
    when: str
    starts: Sequence[str]
    workflow: str
    next_ms: int | None
    on_demand: bool
    active: bool


def trigger_row(trigger: Trigger) -> TriggerRow:
    """Return a trigger as a list shows it."""
    on_demand = trigger.type == ON_DEMAND
    return TriggerRow(
        trigger.name,
        url("trigger", name=trigger.name),
        TRIGGER_TYPES.get(trigger.type, trigger.type),
        state_word(trigger.state.value),
        _when(trigger),
        [str(one.get("JobName") or one.get("CrawlerName")) for one in trigger.actions],
        trigger.workflow,
        trigger.next_ms,
        on_demand,
        trigger.state is TriggerState.ACTIVATED,
    )


def subject_link(one: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name of the job or crawler that an action or a condition is about, and the address of its page."""
    if "CrawlerName" in one:
        return one["CrawlerName"], url("crawler", name=one["CrawlerName"])
    return str(one["JobName"]), url("job", name=one["JobName"])


def _when(trigger: Trigger) -> str:
    if trigger.type == SCHEDULED:
        return str(trigger.definition.get("Schedule", ""))
    word = " or " if trigger.definition.get("Predicate", {}).get("Logical") == "ANY" else " and "
    return word.join(
        f"{one.get('JobName') or one.get('CrawlerName')} {str(one.get('State') or one.get('CrawlState')).lower()}"
        for one in trigger.conditions
    )


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of a drawing.

    Args:
        name: its name.
        label: so much of its name as has room.
        kind: `Job`, `Crawler` or `Trigger`.
        state: of the job's last run, or whether the trigger has fired.
        link: to the last run, the job, the crawler or the trigger.
        place: of its upper left corner.
    """

    name: str
    label: str
    kind: str
    state: StateWord
    link: str
    place: Place


@dataclass(frozen=True, slots=True)
class Drawing:
    """The graph of a workflow.

    Args:
        layout: its size.
        nodes: its nodes.
        paths: its edges, each with the mood of the node where it begins.
        node_width: in pixels.
        node_height: in pixels.
    """

    layout: Layout
    nodes: Sequence[GraphNode]
    paths: Sequence[tuple[str, str]]
    node_width: int = WIDTH
    node_height: int = HEIGHT


def drawing(graph: Mapping[str, Any], *, of_run: bool) -> Drawing:
    """Return the drawing of a graph.

    Args:
        graph: `WorkflowGraph` of the API.
        of_run: whether it is the graph of a run, whose nodes have states.
    """
    edges = [(one["SourceId"], one["DestinationId"]) for one in graph["Edges"]]
    found = layout([one["UniqueId"] for one in graph["Nodes"]], edges)
    fired = {
        run["TriggerName"]
        for one in graph["Nodes"]
        for run in one.get("JobDetails", {}).get("JobRuns", ())
        if "TriggerName" in run
    }
    nodes = {one["UniqueId"]: _node(one, found.places[one["UniqueId"]], fired, of_run) for one in graph["Nodes"]}
    paths = [(path, nodes[start].state.mood) for (start, _), path in found.paths.items()]
    return Drawing(found, list(nodes.values()), paths)


def _node(node: Mapping[str, Any], place: Place, fired: Iterable[str], of_run: bool) -> GraphNode:
    name = node["Name"]
    label = name if len(name) <= _LABEL_CHARS else f"{name[: _LABEL_CHARS - 1]}…"
    if node["Type"] == "JOB":
        runs = node["JobDetails"]["JobRuns"] if of_run else ()
        last = max(runs, key=lambda run: (run["StartedOn"], run.get("Attempt", 0)), default=None)
        if last is None:
            state = StateWord("Not started" if of_run else "", "quiet")
            return GraphNode(name, label, "Job", state, url("job", name=name), place)
        link = url("run", job=name, id=last["Id"])
        return GraphNode(name, label, "Job", state_word(last["JobRunState"]), link, place)
    if node["Type"] == "CRAWLER":
        crawls = node["CrawlerDetails"]["Crawls"] if of_run else ()
        newest = max(crawls, key=lambda crawl: crawl["StartedOn"], default=None)
        told = state_word(newest["State"]) if newest else StateWord("Not started" if of_run else "", "quiet")
        return GraphNode(name, label, "Crawler", told, url("crawler", name=name), place)
    trigger = node["TriggerDetails"]["Trigger"]
    if of_run:
        state = StateWord("Fired", "good") if name in fired else StateWord("Not fired", "quiet")
    else:
        state = StateWord(TRIGGER_TYPES.get(trigger["Type"], trigger["Type"]), "quiet")
    return GraphNode(name, label, "Trigger", state, url("trigger", name=name), place)


@dataclass(frozen=True, slots=True)
class WorkflowRunRow:
    """A run of a workflow in a list.

    Args:
        id: the whole id.
        short: the begin of its id.
        workflow: the workflow's name.
        workflow_link: to the workflow's page.
        link: to its page.
        state: where it is.
        started_ms: when it began.
        ended_ms: when it ended; None before.
        took_secs: how long it has taken.
        statistics: what became of its actions, in words.
        error: why it is in ERROR.
        goes_on: whether it runs and can be stopped.
    """

    id: str
    short: str
    workflow: str
    workflow_link: str
    link: str
    state: StateWord
    started_ms: int
    ended_ms: int | None
    took_secs: float
    statistics: str
    error: str
    goes_on: bool


def workflow_run_row(run: Mapping[str, Any], now_ms: int) -> WorkflowRunRow:
    """Return a run of a workflow, in the form of the API, as a list shows it."""
    started_ms, ended = round(run["StartedOn"] * 1000), run.get("CompletedOn")
    ended_ms = None if ended is None else round(ended * 1000)
    state = state_word(run["Status"])
    statistics = run.get("Statistics", {})
    if state.mood == "good" and any(statistics.get(name) for name in ("FailedActions", "TimeoutActions")):
        # AWS calls a run completed whose jobs have failed; whoever looks at a list wants to know.
        state = StateWord("Completed, with failures", "bad")
    return WorkflowRunRow(
        run["WorkflowRunId"],
        short_id(run["WorkflowRunId"]),
        run["Name"],
        url("workflow", name=run["Name"]),
        url("workflow-run", name=run["Name"], id=run["WorkflowRunId"]),
        state,
        started_ms,
        ended_ms,
        ((ended_ms or now_ms) - started_ms) / 1000,
        _statistics(statistics),
        mask_text(run.get("ErrorMessage", "")),
        run["Status"] == Status.RUNNING.value,
    )


def _statistics(counts: Mapping[str, int]) -> str:
    words = {
        "SucceededActions": "succeeded",
        "RunningActions": "running",
        "WaitingActions": "waiting",
        "FailedActions": "failed",
        "TimeoutActions": "timed out",
        "StoppedActions": "stopped",
        "ErroredActions": "in error",
    }
    told = [f"{counts[name]} {word}" for name, word in words.items() if counts.get(name)]
    return f"{', '.join(told) or '0'} of {counts.get('TotalActions', 0)}"


def moment(at_ms: float) -> str:
    """Return a time as lists show it, UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def distance(at_ms: float, now_ms: float) -> str:
    """Return how far a time is from now: `3:20 min ago`, `in 2:05 h`."""
    secs = round(abs(at_ms - now_ms) / 1000)
    return f"in {figures.span(secs)}" if at_ms > now_ms else f"{figures.span(secs)} ago"
