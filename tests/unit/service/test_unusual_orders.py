"""Things that happen in an unusual order, one by one. Random orders of all of them are in test_chains_model.py.

Some are elsewhere. test_run_states.py and test_triggers.py: a run is stopped while it waits, or when its process has
just ended. test_workflows.py: a resumed run is resumed; a condition is met while the run of the workflow is being
stopped; a trigger is deleted after it fired. test_events.py: events come beyond a limit, or for a workflow that was
deleted meanwhile.
"""

import os
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gluepot.service.decisions.cron import next_time
from gluepot.service.decisions.states import Run, State, asked_to_stop
from gluepot.service.decisions.triggers import Trigger, TriggerState
from gluepot.service.decisions.workflows import Status, WorkflowRun, node_id, resumption
from tests.unit.service.test_events import put, workflow, workflow_runs
from tests.unit.service.test_triggers import MINUTES, on_demand, on_schedule, when


@pytest.fixture
def world(quick_world):
    return quick_world


@pytest.fixture
def nightly(world):
    """A workflow: a and b side by side, then c if one of them succeeds."""
    for name in "abc":
        world.job(name)
    world.call("CreateWorkflow", Name="nightly")
    on_demand(world, "begin", "a", "b", WorkflowName="nightly")
    when(world, "then", {"a": "SUCCEEDED", "b": "SUCCEEDED"}, "c", WorkflowName="nightly", logical="ANY")
    world.call("StartWorkflowRun", Name="nightly")
    world.steps()
    return world


def status(world):
    return [run["Status"] for run in world.call("GetWorkflowRuns", Name="nightly")["Runs"]][::-1]


def test_a_clock_that_is_set_back_fires_no_time_twice_and_skips_none(world):
    world.job("load", ExecutionProperty={"MaxConcurrentRuns": 9})
    on_schedule(world, schedule="cron(0/15 * * * ? *)")
    world.steps(15 * MINUTES)
    world.steps(-10 * MINUTES)
    world.call("StopTrigger", Name="at-a-quarter")
    world.call("StartTrigger", Name="at-a-quarter")  # it plans 12:15 again
    world.steps(10 * MINUTES)
    assert len(world.runs("load")) == 1
    world.steps(15 * MINUTES)
    assert len(world.runs("load")) == 2


@pytest.fixture
def berlin():
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Europe/Berlin"
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize("day", [29, 30])
def test_schedules_know_no_summer_time(day):
    # Germany's clocks go from 2:00 to 3:00 on 29 March 2026.
    midnight = datetime(2026, 3, day, tzinfo=UTC)
    hours, at = [], midnight
    while (at := next_time("cron(30 * * * ? *)", at)).day == day:
        hours.append(at.hour)
    assert hours == list(range(24))


@pytest.mark.parametrize(("queue", "second"), [(False, "FAILED"), (True, "WAITING")])
def test_two_triggers_of_a_job_at_the_same_instant(world, queue, second):
    world.job("load", JobRunQueuingEnabled=queue)
    on_schedule(world, "one")
    on_schedule(world, "other")
    world.steps(15 * MINUTES)
    assert [(run["TriggerName"], run["JobRunState"]) for run in world.runs("load")] == [
        ("one", "RUNNING"),
        ("other", second),
    ]


def test_a_workflow_that_is_deleted_while_it_runs_goes_on_to_its_end(nightly):
    nightly.call("DeleteWorkflow", Name="nightly")
    nightly.end("a")
    nightly.end("b")
    nightly.end("c")
    nightly.call("CreateWorkflow", Name="nightly")
    assert (nightly.states("c"), status(nightly)) == (["SUCCEEDED"], ["COMPLETED"])


def test_a_trigger_that_is_stopped_between_its_time_and_its_firing_does_not_fire(world):
    world.job("load")
    on_schedule(world)
    world.clock.now += 15 * MINUTES
    world.call("StopTrigger", Name="at-a-quarter")
    world.steps()
    assert world.states("load") == []


def test_a_trigger_that_is_stopped_fires_in_the_runs_that_began_before(nightly):
    nightly.call("StopTrigger", Name="then")
    nightly.end("a")
    assert nightly.states("c") == ["RUNNING"]


def test_changing_a_trigger_does_not_skip_a_time_that_is_due(world):
    world.job("load")
    on_schedule(world)
    world.clock.now += 15 * MINUTES
    same = {"Schedule": "cron(15 12 * * ? *)", "Actions": [{"JobName": "load"}], "Description": "another"}
    world.call("UpdateTrigger", Name="at-a-quarter", TriggerUpdate=same)
    world.steps()
    assert world.states("load") == ["RUNNING"]


def test_an_attempt_takes_the_place_of_the_one_before_and_lets_none_pass_that_waits(world):
    world.job("load", JobRunQueuingEnabled=True, MaxRetries=1)
    for _ in range(2):
        world.call("StartJobRun", JobName="load")
    world.steps()
    world.ended(world.runs("load")[0]["Id"], 1)
    world.steps()
    assert world.states("load") == ["FAILED", "WAITING", "RUNNING"]
    world.end("load")
    assert world.states("load") == ["FAILED", "RUNNING", "SUCCEEDED"]


def test_a_run_that_waits_starts_although_its_job_was_deleted(world):
    world.job("load", JobRunQueuingEnabled=True)
    for _ in range(2):
        world.call("StartJobRun", JobName="load")
    world.steps()
    with world.store.changes() as changes:
        changes.delete_job("load")
    world.ended(world.runs("load")[0]["Id"])
    world.steps()
    assert world.states("load") == ["SUCCEEDED", "RUNNING"]


def test_runs_that_wait_start_when_the_limit_of_their_job_is_raised(world):
    world.job("load", JobRunQueuingEnabled=True)
    for _ in range(3):
        world.call("StartJobRun", JobName="load")
    world.steps()
    assert world.states("load") == ["RUNNING", "WAITING", "WAITING"]
    _limit(world, "load", 2)
    world.steps()
    assert world.states("load") == ["RUNNING", "RUNNING", "WAITING"]


def test_a_workflow_that_is_stopped_between_two_attempts_makes_no_third_one(world):
    world.job("a", MaxRetries=5)
    world.call("CreateWorkflow", Name="nightly")
    on_demand(world, "begin", "a", WorkflowName="nightly")
    run_id = world.call("StartWorkflowRun", Name="nightly")["RunId"]
    world.steps()
    world.end("a", 1)
    world.call("StopWorkflowRun", Name="nightly", RunId=run_id)
    world.steps()
    assert (world.states("a"), status(world)) == (["FAILED", "STOPPED"], ["STOPPED"])


def test_a_run_that_is_resumed_twice_makes_two_runs_that_do_not_know_each_other(nightly):
    nightly.end("b")
    nightly.end("a", 1)
    nightly.end("c", 1)
    first = nightly.call("GetWorkflowRuns", Name="nightly")["Runs"][0]["WorkflowRunId"]
    _limit(nightly, "c", 2)
    again = {"Name": "nightly", "RunId": first, "NodeIds": [node_id("nightly", "JOB", "c")]}
    runs = {nightly.call("ResumeWorkflowRun", **again)["RunId"] for _ in range(2)}
    nightly.steps()
    assert (len(runs), nightly.states("c")) == (2, ["FAILED", "RUNNING", "RUNNING"])
    nightly.end("c")
    assert sorted(status(nightly)) == ["COMPLETED", "COMPLETED", "RUNNING"]


def _limit(world, job, most):
    command = {"Name": "glueetl", "ScriptLocation": str(world.script)}
    update = {"Role": "any", "Command": command, "ExecutionProperty": {"MaxConcurrentRuns": most}}
    world.call("UpdateJob", JobName=job, JobUpdate=update)


def test_events_that_come_one_after_the_other_each_start_the_workflow(world):
    # SQLite, and the store in memory as well, give the number of an event that was removed to the next one.
    workflow(world)
    for number in range(3):
        put(world, order=number)
        world.steps()
        world.end("load")
    assert [run["Status"] for run in workflow_runs(world)] == ["COMPLETED"] * 3


def test_a_trigger_that_is_stopped_loses_the_events_that_wait_for_it(world):
    workflow(world, BatchSize=2, BatchWindow=60)
    put(world, order=1)
    world.steps()
    world.call("StopTrigger", Name="arrivals")
    world.steps(61)
    world.call("StartTrigger", Name="arrivals")
    world.steps(61)
    assert workflow_runs(world) == []


def test_stopping_a_run_again_does_not_put_off_its_end():
    stopping = asked_to_stop(Run(1, "jr_1", "load", State.RUNNING, {}), 5)
    assert asked_to_stop(stopping, 50_000).modified_ms == 5


def circle(*jobs):
    """Triggers that start each job after the one before it, and the first one after the last."""
    pairs = zip(jobs, (*jobs[1:], jobs[0]), strict=True)
    return [
        Trigger(
            f"{before}-{after}",
            "nightly",
            TriggerState.ACTIVATED,
            {
                "Type": "CONDITIONAL",
                "Predicate": {"Conditions": [{"JobName": before, "State": "SUCCEEDED"}]},
                "Actions": [{"JobName": after}],
            },
        )
        for before, after in pairs
    ]


def test_resuming_starts_what_was_named_in_a_circle_and_beside_it():
    run = WorkflowRun(1, "wr_1", "nightly", Status.COMPLETED, circle("a", "b"))
    done = Run(1, "jr_1", "", State.FAILED, {}, trigger="begin", chain="wr_1", workflow="nightly")
    ran = [replace(done, id=f"jr_{job}", job=job) for job in "abx"]
    wanted = resumption(run, ran, [node_id("nightly", "JOB", job) for job in "abx"])
    assert (wanted.restarted, wanted.carried) == (["x", "a"], [])


def test_a_trigger_whose_job_was_resumed_has_fired_in_the_new_run(world):
    for name in "ab":
        world.job(name)
    world.call("CreateWorkflow", Name="nightly")
    on_demand(world, "begin", "a", WorkflowName="nightly")
    when(world, "b-after-a", {"a": "SUCCEEDED"}, "b", WorkflowName="nightly")
    when(world, "a-after-b", {"b": "SUCCEEDED"}, "a", WorkflowName="nightly")
    run_id = world.call("StartWorkflowRun", Name="nightly")["RunId"]
    world.steps()
    for job in "aba":
        world.end(job)
    assert status(world) == ["COMPLETED"]
    world.call("ResumeWorkflowRun", Name="nightly", RunId=run_id, NodeIds=[node_id("nightly", "JOB", "b")])
    world.steps()
    for job in "ba":
        world.end(job)
    assert (len(world.runs("b")), status(world)) == (2, ["COMPLETED"] * 2)
