"""CloudWatch Logs over the log files of runs."""

import os

import pytest

from gluepot.service.errors import ServiceError
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


def test_a_run_that_starts_meanwhile_moves_no_page(world, log):
    log.write_text("one\ntwo\n")
    events, token = filtered(world, limit=1)
    newer = world.service.run_folder(world.call("StartJobRun", JobName="daily")["JobRunId"]) / OUTPUT
    newer.parent.mkdir()
    newer.write_text("three\n")
    rest, end = filtered(world, nextToken=token)
    assert (events, rest) == (["one"], ["two", "three"])
    assert filtered(world, nextToken=end) == ([], None)
    for wrong in ("0/0", f"{log.parent.name}/x", ""):
        with pytest.raises(ServiceError, match="which no answer had"):
            filtered(world, nextToken=wrong)


def test_pages_end_although_nothing_matches(world, log):
    log.write_text("one\ntwo\n")
    assert filtered(world, filterPattern="three") == ([], None)
    assert filtered(world, logStreamNamePrefix="jr_", limit=1)[0] == ["one"]


def test_the_stream_that_was_written_last_comes_first_where_a_client_asks_for_it(world, log):
    log.write_text("one\n")
    newer = world.service.run_folder(world.call("StartJobRun", JobName="daily")["JobRunId"]) / OUTPUT
    newer.parent.mkdir()
    newer.write_text("two\n")
    os.utime(log, (100, 100))

    def described(**request):
        answer = LOG_OPERATIONS["DescribeLogStreams"](world.service, {"logGroupName": GROUP, **request})
        return [(one["logStreamName"], one["lastEventTimestamp"]) for one in answer["logStreams"]]

    assert described(orderBy="LastEventTime", limit=1) == [(log.parent.name, 100_000)]
    ((name, _),) = described(orderBy="LastEventTime", descending=True, limit=1)
    assert name == newer.parent.name
    names = sorted([log.parent.name, newer.parent.name])
    assert [name for name, _ in described()] == names
    assert [name for name, _ in described(descending=True)] == names[::-1]
    with pytest.raises(ServiceError, match="exclude each other"):
        described(orderBy="LastEventTime", logStreamNamePrefix="jr_")
