"""CloudWatch Logs over the log files of runs."""

import os

import pytest

from gluepot.service.decisions.log_pages import Limits
from gluepot.service.decisions.log_streams import OUTPUT
from gluepot.service.decisions.states import Run, State
from gluepot.service.errors import ServiceError
from gluepot.service.operations import LOG_OPERATIONS, logs
from gluepot.service.run_logs import RunLogs
from gluepot.service.store.tables import log_streams, runs
from tests.unit.service.world import NOON

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
        with pytest.raises(ServiceError, match="use a token from an earlier response"):
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
    with pytest.raises(ServiceError, match="cannot be combined"):
        described(orderBy="LastEventTime", logStreamNamePrefix="jr_")


DAY_MS = 24 * 3600 * 1000


@pytest.fixture
def history(world, monkeypatch):
    """Thirty runs, one a day, and the streams that calls read."""
    ids = [f"jr_{n}" for n in range(30)]
    with world.store.changes() as changes:
        for n, run_id in enumerate(ids):
            at_ms = round(NOON * 1000) + n * DAY_MS
            changes.add_run(Run(0, run_id, "daily", State.SUCCEEDED, {}, started_ms=at_ms, completed_ms=at_ms))
            folder = world.service.run_folder(run_id)
            folder.mkdir()
            (folder / OUTPUT).write_text(f"day {n + 1}\n")
    assert world.service.logs.catch_up() is None
    read, events = [], RunLogs.events

    def noted(logs, text, offset, carried_ms):
        read.append(text.run)
        return events(logs, text, offset, carried_ms)

    monkeypatch.setattr(RunLogs, "events", noted)
    return ids, read


def test_a_time_range_opens_only_the_streams_that_have_it(world, history):
    ids, read = history
    noon_ms = round(NOON * 1000)
    found = filtered(world, startTime=noon_ms + 9 * DAY_MS, endTime=noon_ms + 11 * DAY_MS)[0]
    assert found == ["day 10", "day 11"]
    assert set(read) == set(ids[9:11])


def test_a_call_opens_a_bounded_number_of_streams_and_the_next_one_goes_on(world, history, monkeypatch):
    _, read = history
    monkeypatch.setattr(logs, "_LIMITS", Limits(streams=10))
    events, token = filtered(world, filterPattern="30")
    assert (events, len(set(read))) == ([], 10)
    calls = 1
    while token:
        more, token = filtered(world, filterPattern="30", nextToken=token)
        events, calls = events + more, calls + 1
    assert (events, calls) == (["day 30"], 5)


def test_what_is_in_the_index_is_not_looked_at_again(world, history, monkeypatch):
    monkeypatch.setattr("gluepot.service.run_logs.read_text", None)
    assert world.service.logs.catch_up() is None


def test_a_run_that_retention_removes_leaves_the_index(world, history):
    ids, _ = history
    with world.store.changes() as changes:
        changes.delete_runs(ids[:29])
    assert filtered(world)[0] == ["day 30"]


def test_runs_from_before_the_index_are_added_a_few_at_a_time(world, history):
    with world.store.changes() as changes:
        changes._connection.execute(log_streams.delete())
        changes._connection.execute(runs.update().values(logged=False))
    steps, before = 0, None
    while steps == 0 or before is not None:
        before = world.service.logs.catch_up(before=before, most=7)
        steps += 1
    assert steps == 5
    assert filtered(world)[0] == [f"day {n + 1}" for n in range(30)]


def test_the_last_line_of_a_run_that_has_ended_needs_no_line_break(world, log):
    log.write_text("one\ntwo")
    assert filtered(world)[0] == ["one"]
    world.steps()
    world.end("daily")
    assert filtered(world)[0] == ["one", "two"]


def got(world, log, **request):
    answer = LOG_OPERATIONS["GetLogEvents"](
        world.service, {"logGroupName": GROUP, "logStreamName": log.parent.name, **request}
    )
    return "".join(event["message"] for event in answer["events"]), answer


def test_pages_of_a_stream_go_backward_from_its_end_and_forward_again(world, log):
    log.write_text("".join(f"{letter}\n" for letter in "abcdefg"))
    text, last = got(world, log, limit=3)
    assert text == "efg"
    text, middle = got(world, log, limit=3, nextToken=last["nextBackwardToken"])
    assert text == "bcd"
    text, first = got(world, log, limit=3, nextToken=middle["nextBackwardToken"])
    assert text == "a"
    text, begin = got(world, log, limit=3, nextToken=first["nextBackwardToken"])
    assert (text, begin["nextBackwardToken"]) == ("", first["nextBackwardToken"])
    assert got(world, log, nextToken=first["nextForwardToken"])[0] == "bcdefg"
    assert got(world, log, nextToken=last["nextForwardToken"])[0] == ""


def test_a_time_range_finds_events_behind_a_page_without_any(world, log, monkeypatch):
    monkeypatch.setattr(logs, "_LIMITS", Limits(read_bytes=50))
    line = '{"ts": "2026-03-0%dT00:00:00Z", "msg": "x"}\n'
    log.write_text("".join(line % day for day in range(1, 9)))
    begin_ms, token, found = 1_772_841_600_000, None, ""
    for _ in range(20):
        more = {"nextToken": token} if token else {"startFromHead": True}
        text, answer = got(world, log, startTime=begin_ms, **more)
        found += text
        if answer["nextForwardToken"] == token:
            break
        token = answer["nextForwardToken"]
    assert found == (line % 7 + line % 8).replace("\n", "")


def test_lines_that_tell_no_possible_time_have_that_of_the_line_before(world, log):
    deep = '{"ts": ' + "[" * 100_000
    log.write_text(f'{{"ts": "0001-01-01T00:00:00"}}\n{{"ts": "0001-01-01T00:00:00+23:00"}}\n{deep}\n')
    answer = LOG_OPERATIONS["FilterLogEvents"](world.service, {"logGroupName": GROUP})
    assert {event["timestamp"] for event in answer["events"]} == {round(NOON * 1000)}


def test_many_runs_do_not_keep_an_older_one_that_goes_on_from_the_index(world, log, history):
    log.write_text("older\n")
    with world.store.changes() as changes:
        changes._connection.execute(runs.update().values(logged=False, state="RUNNING"))
    before, steps = None, 0
    while steps == 0 or before is not None:
        before, steps = world.service.logs.catch_up(before=before, most=7), steps + 1
    with world.store.changes() as changes:
        assert changes.logs.stream(GROUP, log.parent.name).size == len("older\n")


def test_runs_that_wait_are_not_looked_at(world, history):
    with world.store.changes() as changes:
        changes._connection.execute(runs.update().values(logged=False, state="WAITING"))
        assert changes.runs_to_log("here", 10) == []
