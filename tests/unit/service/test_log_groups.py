"""Log groups of clients, and what they write there."""

import pytest

from gluepot.service.controllers.retention import Retention
from gluepot.service.errors import ServiceError
from gluepot.service.launch.processes import Processes
from tests.unit.service.world import NOON

NOON_MS = round(NOON * 1000)
STREAM = {"logGroupName": "/app", "logStreamName": "one"}


@pytest.fixture
def logs(world):
    def call(operation, **request):
        return world.call(operation, of="Logs_20140328", **request)

    call("CreateLogGroup", logGroupName="/app", tags={"team": "data"})
    call("CreateLogStream", **STREAM)
    return call


def put(logs, *messages, at_ms=NOON_MS):
    events = [{"timestamp": at_ms + n, "message": message} for n, message in enumerate(messages)]
    return logs("PutLogEvents", **STREAM, logEvents=events)


def got(answer):
    return [(event["timestamp"] - NOON_MS, event["message"]) for event in answer["events"]]


def test_what_is_put_is_read_by_both_operations(logs):
    put(logs, "first\nof two lines", "{é}")
    put(logs, "third")
    expected = [(0, "first\nof two lines"), (1, "{é}"), (0, "third")]
    assert got(logs("GetLogEvents", **STREAM, startFromHead=True)) == expected
    assert got(logs("FilterLogEvents", logGroupName="/app")) == expected
    assert got(logs("FilterLogEvents", logGroupName="/app", filterPattern="third")) == [(0, "third")]
    assert got(logs("FilterLogEvents", logGroupName="/app", startTime=NOON_MS + 1)) == [(1, "{é}")]


def test_pages_go_through_many_puts(logs):
    for number in range(30):
        put(logs, f"{number}a", f"{number}b")
    found, token = [], None
    while True:
        more = {"nextToken": token} if token else {}
        answer = logs("FilterLogEvents", logGroupName="/app", limit=7, **more)
        found += [message for _, message in got(answer)]
        if (token := answer.get("nextToken")) is None:
            break
    assert found == [f"{number}{letter}" for number in range(30) for letter in "ab"]
    newest = logs("GetLogEvents", **STREAM, limit=3)
    assert [message for _, message in got(newest)] == ["28b", "29a", "29b"]
    before = logs("GetLogEvents", **STREAM, limit=2, nextToken=newest["nextBackwardToken"])
    assert [message for _, message in got(before)] == ["27b", "28a"]


def test_what_is_too_old_is_left_out_and_told(logs):
    answer = put(logs, "x", at_ms=NOON_MS - 15 * 24 * 3_600_000)
    assert answer["rejectedLogEventsInfo"] == {"tooOldLogEventEndIndex": 1}
    assert got(logs("FilterLogEvents", logGroupName="/app")) == []


@pytest.mark.parametrize(
    ("operation", "request_", "code"),
    [
        ("CreateLogGroup", {"logGroupName": "/app"}, "ResourceAlreadyExistsException"),
        ("CreateLogGroup", {"logGroupName": "/aws-glue/jobs/error"}, "ResourceAlreadyExistsException"),
        ("CreateLogStream", STREAM, "ResourceAlreadyExistsException"),
        ("CreateLogStream", {**STREAM, "logGroupName": "/other"}, "ResourceNotFoundException"),
        ("CreateLogStream", {**STREAM, "logGroupName": "/aws-glue/crawlers"}, "InvalidParameterException"),
        ("DeleteLogGroup", {"logGroupName": "/other"}, "ResourceNotFoundException"),
        ("DeleteLogGroup", {"logGroupName": "/aws-glue/jobs/logs-v2"}, "InvalidParameterException"),
        ("DeleteLogStream", {**STREAM, "logStreamName": "two"}, "ResourceNotFoundException"),
        ("GetLogEvents", {**STREAM, "logStreamName": "two"}, "ResourceNotFoundException"),
        ("FilterLogEvents", {"logGroupName": "/other"}, "ResourceNotFoundException"),
        ("PutRetentionPolicy", {"logGroupName": "/app", "retentionInDays": 2}, "InvalidParameterException"),
        ("DescribeLogGroups", {"nextToken": "A"}, "InvalidParameterException"),
    ],
)
def test_what_is_refused(logs, operation, request_, code):
    with pytest.raises(ServiceError) as refused:
        logs(operation, **request_)
    assert refused.value.code == code


def test_groups_are_described_with_those_of_runs(logs):
    put(logs, "abc")
    own = logs("DescribeLogGroups", logGroupNamePrefix="/app")["logGroups"]
    assert [(one["logGroupName"], one["storedBytes"], one["creationTime"]) for one in own] == [("/app", 3, NOON_MS)]
    names, token = [], {}
    while True:
        answer = logs("DescribeLogGroups", limit=2, **token)
        names += [one["logGroupName"] for one in answer["logGroups"]]
        if "nextToken" not in answer:
            break
        token = {"nextToken": answer["nextToken"]}
    assert names == sorted(names)
    assert {"/app", "/aws-glue/jobs/logs-v2", "/aws-glue/crawlers"} < set(names)
    assert [one["storedBytes"] for one in logs("DescribeLogStreams", logGroupName="/app")["logStreams"]] == [3]


def test_a_group_that_is_deleted_and_made_again_is_empty(logs):
    put(logs, "x")
    logs("DeleteLogGroup", logGroupName="/app")
    logs("CreateLogGroup", logGroupName="/app", tags={"of": "another"})
    arn = logs("DescribeLogGroups", logGroupNamePrefix="/app")["logGroups"][0]["logGroupArn"]
    assert logs("ListTagsForResource", resourceArn=arn)["tags"] == {"of": "another"}
    assert logs("DescribeLogStreams", logGroupName="/app")["logStreams"] == []
    logs("CreateLogStream", **STREAM)
    assert got(logs("FilterLogEvents", logGroupName="/app")) == []


def test_tags_of_groups(logs):
    arn = logs("DescribeLogGroups", logGroupNamePrefix="/app")["logGroups"][0]["logGroupArn"]
    logs("TagResource", resourceArn=arn, tags={"cost": "7"})
    logs("UntagResource", resourceArn=arn, tagKeys=["team"])
    assert logs("ListTagsForResource", resourceArn=arn)["tags"] == {"cost": "7"}
    logs("UntagResource", resourceArn=arn, tagKeys=["cost"])
    assert logs("ListTagsForResource", resourceArn=arn) == {}  # in AWS's model, tags are at least one


def test_events_go_when_the_group_no_longer_keeps_them_and_tokens_go_on(logs, world):
    logs("PutRetentionPolicy", logGroupName="/app", retentionInDays=3)
    put(logs, "old")
    token = logs("GetLogEvents", **STREAM, startFromHead=True)["nextForwardToken"]
    world.clock.now += 4 * 24 * 3600
    Retention(world.store, Processes(world.script.parent), "here", world.clock, 90).step()
    put(logs, "new", at_ms=round(world.clock.now * 1000))
    assert [one["message"] for one in logs("FilterLogEvents", logGroupName="/app")["events"]] == ["new"]
    assert [one["message"] for one in logs("GetLogEvents", **STREAM, nextToken=token)["events"]] == ["new"]


def test_tokens_of_a_stream_that_was_deleted_skip_nothing_of_the_next_one(logs, world):
    put(logs, "old", "older")
    tokens = [logs("GetLogEvents", **STREAM, startFromHead=True)["nextForwardToken"]]
    tokens.append(logs("FilterLogEvents", logGroupName="/app", limit=1)["nextToken"])
    logs("DeleteLogStream", **STREAM)
    world.clock.now += 0.01
    logs("CreateLogStream", **STREAM)
    put(logs, "new", "newer")
    assert [text for _, text in got(logs("GetLogEvents", **STREAM, nextToken=tokens[0]))] == ["new", "newer"]
    assert [text for _, text in got(logs("FilterLogEvents", logGroupName="/app", nextToken=tokens[1]))] == [
        "new",
        "newer",
    ]
