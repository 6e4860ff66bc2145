"""Reads what services left behind, and tells what went wrong. Nothing of the product is used.

It reads the database by SQLite itself, and the files that each process of a run made when it began.
"""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field

GRACE_MS = 60_000
FINAL = {"SUCCEEDED", "FAILED", "STOPPED"}
SCRIPT = """
set -C
true > "{journal}/$1" 2> /dev/null || echo "$1" >> "{journal}.twice"
case "$1" in
  jr_?????[0-7]*) sleep 0.3 ;;
esac
case "$1" in
  jr_[0-3][0-7]*_attempt_1) exit 0 ;;
  jr_[0-3]*) exit 1 ;;
esac
"""


def fails(run_id):
    """Whether the script above fails."""
    return run_id[3] in "0123" and not (run_id[4] in "01234567" and run_id.endswith("_attempt_1"))


@dataclass
class Asked:
    """What a client asked for, by numbers: True if the answer came, False if nobody knows what became of it."""

    runs: dict = field(default_factory=dict)
    workflow_runs: dict = field(default_factory=dict)
    firings: dict = field(default_factory=dict)
    events: dict = field(default_factory=dict)
    stops: dict = field(default_factory=dict)
    """By ids of runs."""


@dataclass
class Rules:
    """What was defined.

    Args:
        periods: minutes between the times of schedules, and the first of these minutes, by trigger.
        begins: jobs that triggers start which nothing has to end for, by trigger.
        conditions: triggers with workflow, AND or ANY, conditions and jobs, by trigger.
        workflows: the trigger that starts it, by workflow.
        schedules_end_ms: when schedules were stopped: the moments before and after that.
    """

    periods: dict
    begins: dict
    conditions: dict
    workflows: dict
    schedules_end_ms: tuple = (0, 0)


def read(database, query):
    with closing(sqlite3.connect(database)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query)]


def detailed(rows):
    return [{**json.loads(row["details"]), **row} for row in rows]


def is_quiet(database):
    """Whether nothing is left to do."""
    return not (
        read(database, "SELECT 1 FROM service_runs WHERE NOT followed OR state IN ('WAITING', 'STARTING', 'RUNNING')")
        or read(database, "SELECT 1 FROM service_runs WHERE state = 'STOPPING'")
        or read(database, "SELECT 1 FROM service_workflow_runs WHERE status IN ('RUNNING', 'STOPPING')")
        or read(database, "SELECT 1 FROM service_waiting_events")
    )


def problems(database, journal, rules, asked):
    """Return sentences about all that is not as it should be."""
    runs = detailed(read(database, "SELECT * FROM service_runs ORDER BY number"))
    workflow_runs = detailed(read(database, "SELECT * FROM service_workflow_runs ORDER BY number"))
    triggers = {row["name"]: row for row in read(database, "SELECT * FROM service_triggers")}
    firings = Counter((row["trigger"], row["occasion"]) for row in read(database, "SELECT * FROM service_firings"))
    chains = {}
    for run in runs:
        chains.setdefault(run["chain"], []).append(run)
    return [
        *([] if is_quiet(database) else ["something is stuck"]),
        *_of_processes(runs, journal),
        *_of_attempts(runs),
        *_of_schedules(rules, triggers, firings, runs, workflow_runs),
        *_of_conditions(rules, chains, workflow_runs),
        *_of_calls(asked, runs, workflow_runs, rules),
        *_of_events(asked, workflow_runs),
    ]


def _of_processes(runs, journal):
    begun = {path.name for path in journal.iterdir()}
    ids = {run["id"] for run in runs}
    if (twice := journal.with_name(f"{journal.name}.twice")).exists():
        yield f"started twice: {twice.read_text().split()}"
    if begun - ids:
        yield f"processes of no run: {begun - ids}"
    for run in runs:
        if run["state"] not in FINAL:
            yield f"{run['id']} is {run['state']}"
        elif run["state"] != "STOPPED" and run["id"] not in begun:
            yield f"{run['id']} is {run['state']} and had no process"
        elif run["state"] != "STOPPED" and (run["state"] == "FAILED") != fails(run["id"]):
            yield f"{run['id']} is {run['state']}: {run['error']}"


def _of_attempts(runs):
    ids = {run["id"] for run in runs}
    failed = {run["id"] for run in runs if run["state"] == "FAILED"}
    for run in runs:
        again = run["id"].partition("_attempt_")[0] + f"_attempt_{run['attempt'] + 1}"
        wanted = run["state"] == "FAILED" and run["attempt"] < run["definition"]["MaxRetries"]
        if (again in ids) != wanted:
            yield f"{run['id']} is {run['state']}, and {again} is {'there' if again in ids else 'not there'}"
        if run["attempt"] and run["previous_id"] not in failed:
            yield f"{run['id']} repeats a run that has not failed"


def _of_schedules(rules, triggers, firings, runs, workflow_runs):
    before_ms, after_ms = rules.schedules_end_ms
    of_trigger = {name: workflow for workflow, name in rules.workflows.items()}
    for name, (minutes, first) in rules.periods.items():
        every_ms, first_ms = minutes * 60_000, first * 60_000
        since_ms = triggers[name]["created_ms"]
        times = range(since_ms - (since_ms - first_ms) % every_ms + every_ms, after_ms + 1, every_ms)
        found = {int(occasion) for trigger, occasion in firings if trigger == name and occasion.isdecimal()}
        if lost := {at for at in times if at <= before_ms - GRACE_MS} - found:
            yield f"{name} did not fire at {sorted(lost)}"
        if found - set(times):
            yield f"{name} fired at {sorted(found - set(times))}"
        if name in of_trigger:
            begun = [run["started_ms"] for run in workflow_runs if run["workflow"] == of_trigger[name]]
        else:
            begun = list(
                {
                    run["chain"]: run["started_ms"] for run in runs if run["trigger"] == name and not run["attempt"]
                }.values()
            )
        if (at := Counter(one - (one - first_ms) % every_ms for one in begun)) != Counter(found):
            yield f"{name} fired at {sorted(found)}, and its runs began at {sorted(at.elements())}"


def _of_conditions(rules, chains, workflow_runs):
    known = {run["id"] for run in workflow_runs}
    if without := known - set(chains):
        yield f"runs of workflows without jobs: {without}"
    if lost := {chain for chain, runs in chains.items() if runs[0]["workflow"]} - known:
        yield f"jobs of runs of workflows that are not there: {lost}"
    for chain, runs in chains.items():
        if not chain:
            continue
        workflow = runs[0]["workflow"]
        repeated = {run["previous_id"] for run in runs}
        reached = {(run["job"], run["state"]) for run in runs if run["id"] not in repeated}
        started = Counter((run["trigger"], run["job"]) for run in runs if not run["attempt"])
        root = rules.workflows[workflow] if workflow else runs[0]["trigger"]
        wanted = {(root, job) for job in rules.begins[root]}
        for name, (of, logical, conditions, jobs) in rules.conditions.items():
            met = all if logical == "AND" else any
            if of == workflow and met(one in reached for one in conditions):
                wanted |= {(name, job) for job in jobs}
        if started != Counter(wanted):
            yield f"the chain {chain} has {dict(started)} and not {wanted}: {reached}"


def _once(kind, asked, found):
    for number, answered in asked.items():
        if found[number] > 1 or (answered and not found[number]):
            yield f"{kind} {number} was {'answered' if answered else 'asked for'}, and is there {found[number]} times"
    if set(found) - set(asked):
        yield f"nobody asked for {kind} {set(found) - set(asked)}"


def _of_calls(asked, runs, workflow_runs, rules):
    first = [run for run in runs if not run["attempt"]]
    yield from _once("run", asked.runs, Counter(int(run["arguments"]["--call"]) for run in first if not run["chain"]))
    by_call = Counter(int(run["properties"]["call"]) for run in workflow_runs if "call" in run["properties"])
    yield from _once("workflow run", asked.workflow_runs, by_call)
    fired = len({run["chain"] for run in runs if run["trigger"] == "by-hand"})
    if not sum(asked.firings.values()) <= fired <= len(asked.firings):
        yield f"by-hand fired {fired} times for {asked.firings}"
    states = {run["id"]: run["state"] for run in runs}
    for run_id, answered in asked.stops.items():
        if answered and states[run_id] != "STOPPED":
            yield f"{run_id} was to stop, and is {states[run_id]}"


def _of_events(asked, workflow_runs):
    found = Counter()
    for run in workflow_runs:
        events = [one["detail"]["n"] for one in json.loads(run["properties"].get("gluepot:events", "[]"))]
        found.update(events)
        size = run["event_condition"].get("BatchSize")
        if size is not None and size != len(events):
            yield f"{run['id']} has {len(events)} events and not {size}"
    yield from _once("event", asked.events, found)
