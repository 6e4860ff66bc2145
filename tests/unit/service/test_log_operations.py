"""CloudWatch Logs over the log files of runs."""

import pytest

from gluepot.service.launch.processes import OUTPUT
from gluepot.service.operations import LOG_OPERATIONS

GROUP = "/aws-glue/jobs/output"


@pytest.fixture
def log(world):
    """The log file of a run, which has the name of its stream."""
    world.call(
        "CreateJob",
        Name="daily",
        Role="any",
        Command={"Name": "glueetl", "ScriptLocation": str(world.script)},
        ExecutionProperty={"MaxConcurrentRuns": 2},
    )
    run_id = world.call("StartJobRun", JobName="daily")["JobRunId"]
    world.service.run_folder(run_id).mkdir()
    return world.service.run_folder(run_id) / OUTPUT


def filtered(world, **request):
    answer = LOG_OPERATIONS["FilterLogEvents"](world.service, {"logGroupName": GROUP, **request})
    return [event["message"] for event in answer["events"]], answer.get("nextToken")


def test_a_client_that_follows_a_log_sees_each_event_once(world, log):
    streams = {"logStreamNames": [log.parent.name]}
    assert filtered(world, **streams) == ([], None)
    log.write_text("one\ntwo\n")
    events, token = filtered(world, **streams)
    assert events == ["one", "two"]
    assert filtered(world, **streams, nextToken=token) == ([], None)
    with log.open("a") as opened:
        opened.write("three\n")
    events, later = filtered(world, **streams, nextToken=token)
    assert events == ["three"]
    assert filtered(world, **streams, nextToken=later) == ([], None)


def test_pages_end_although_nothing_matches(world, log):
    log.write_text("one\ntwo\n")
    assert filtered(world, filterPattern="three") == ([], None)
    assert filtered(world, logStreamNamePrefix="jr_", limit=1)[0] == ["one"]
