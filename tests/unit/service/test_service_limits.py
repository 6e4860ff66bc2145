"""Runs beyond the limit of the service, of the class FLEX, and streams whose maintenance window opens."""

import pytest


@pytest.fixture
def small(world):
    """A service that runs two runs at a time."""
    world.most_runs = 2
    world.controller = world.another_controller()
    return world


def started(world, *jobs):
    for job in jobs:
        world.call("StartJobRun", JobName=job)
    world.steps()


def test_runs_beyond_the_limit_of_the_service_wait_and_start_in_their_order(small):
    for job in "abcd":
        small.job(job)
    started(small, *"abcd")
    assert [small.states(job) for job in "abcd"] == [["RUNNING"], ["RUNNING"], ["WAITING"], ["WAITING"]]
    [waits] = small.runs("c")
    assert waits["StateDetail"] == (
        "The limit of 2 runs of the service at a time is reached (`gluepot serve --max-runs`)."
    )
    small.end("b")
    assert [small.states(job) for job in "abcd"] == [["RUNNING"], ["SUCCEEDED"], ["RUNNING"], ["WAITING"]]
    small.end("a")
    assert small.states("d") == ["RUNNING"]
    assert "StateDetail" not in small.runs("d")[0]


def test_runs_of_the_class_flex_let_later_ones_pass(small):
    small.job("flex", ExecutionClass="FLEX")
    for job in "abc":
        small.job(job)
    started(small, "a", "b", "flex", "c")
    assert (small.states("flex"), small.states("c")) == (["WAITING"], ["WAITING"])
    small.end("a")
    assert (small.states("flex"), small.states("c")) == (["WAITING"], ["RUNNING"])
    small.steps(20 * 60 + 1)
    [run] = small.runs("flex")
    assert run["JobRunState"] == "FAILED"
    assert run["ErrorMessage"].startswith("The run waited for 20 minutes. ")


def test_a_run_that_waits_can_be_stopped(small):
    small.job("a", ExecutionProperty={"MaxConcurrentRuns": 5})
    started(small, "a", "a", "a")
    waits = small.runs("a")[-1]["Id"]
    small.call("BatchStopJobRun", JobName="a", JobRunIds=[waits])
    small.steps()
    assert small.states("a") == ["RUNNING", "RUNNING", "STOPPED"]


def test_a_stream_starts_anew_in_its_window(world):
    world.call(
        "CreateJob",
        Name="clicks",
        Role="any",
        Command={"Name": "gluestreaming", "ScriptLocation": str(world.script)},
        MaintenanceWindow="Mon:14",
    )
    started(world, "clicks")
    world.steps(2 * 3600 - 1)
    assert world.states("clicks") == ["RUNNING"]
    first = world.runs("clicks")[0]["Id"]
    world.steps(1)
    world.steps()
    runs = world.runs("clicks")
    assert [(run["Id"], run["JobRunState"]) for run in runs] == [(first, "EXPIRED"), (f"{first}_restart_1", "RUNNING")]
    world.steps(3600)
    assert world.states("clicks") == ["EXPIRED", "RUNNING"]
