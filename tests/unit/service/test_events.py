"""Events: what runs tell, what clients and buckets send, and what events start."""

import json

import pytest

from gluepot.crawl.queues import Message
from gluepot.service.controllers.deliveries import Deliveries
from gluepot.service.controllers.queued_events import QueuedEvents
from gluepot.service.errors import ServiceError
from gluepot.service.events.delivery import Delivery, claimed, next_attempt
from gluepot.service.operations.events import receive

EVENTS = "AWSEvents"
WORKFLOW_ARN = "arn:aws:glue:us-east-1:000000000000:workflow/nightly"
HOOK = "https://hooks.example/glue?secret=1"
DAY_MS = 24 * 3600 * 1000


def rule(world, pattern, *arns, name="rule"):
    world.call("PutRule", of=EVENTS, Name=name, EventPattern=json.dumps(pattern))
    targets = [{"Id": str(number), "Arn": arn} for number, arn in enumerate(arns)]
    assert world.call("PutTargets", of=EVENTS, Rule=name, Targets=targets)["FailedEntryCount"] == 0


def put(world, source="shop", **detail):
    entry = {"Source": source, "DetailType": "Order", "Detail": json.dumps(detail)}
    answer = world.call("PutEvents", of=EVENTS, Entries=[entry])
    assert answer["FailedEntryCount"] == 0
    return answer["Entries"][0]["EventId"]


def on_their_way(world):
    """Return where which events go, the oldest first."""
    with world.store.changes() as changes:
        return [(one.url, json.loads(one.body)) for one in changes.events.due(10**15, 100)]


def workflow(world, **condition):
    world.job("load")
    world.call("CreateWorkflow", Name="nightly")
    world.call(
        "CreateTrigger",
        Name="arrivals",
        Type="EVENT",
        WorkflowName="nightly",
        Actions=[{"JobName": "load"}],
        **({"EventBatchingCondition": condition} if condition else {}),
    )
    rule(world, {"source": ["shop"]}, WORKFLOW_ARN)


def workflow_runs(world):
    return world.call("GetWorkflowRuns", Name="nightly")["Runs"][::-1]


def test_the_end_of_each_attempt_of_a_run_is_told_once(world):
    rule(world, {"source": ["aws.glue"], "detail": {"state": ["FAILED"]}}, HOOK)
    world.job("daily", MaxRetries=1)
    world.call("StartJobRun", JobName="daily")
    world.steps()
    world.end("daily", 1)
    world.end("daily", 3)
    world.steps()
    (url, first), (_, second) = on_their_way(world)
    run_ids = [run["Id"] for run in world.runs("daily")]
    assert url == HOOK
    assert first.pop("id") != second.pop("id")
    assert first == {
        "version": "0",
        "detail-type": "Glue Job State Change",
        "source": "aws.glue",
        "account": "000000000000",
        "time": "2026-03-02T12:00:00Z",
        "region": "us-east-1",
        "resources": [],
        "detail": {
            "jobName": "daily",
            "severity": "ERROR",
            "state": "FAILED",
            "jobRunId": run_ids[0],
            "message": "Command failed with exit code 1",
        },
    }
    assert second["detail"]["jobRunId"] == run_ids[1]


@pytest.mark.parametrize("code", [0, 5])
def test_runs_that_succeed_fail_or_are_stopped_are_told(world, code):
    rule(world, {"detail-type": ["Glue Job State Change"]}, HOOK)
    world.job("daily")
    world.call("StartJobRun", JobName="daily")
    world.steps()
    world.end("daily", code)
    stopped = world.call("StartJobRun", JobName="daily")["JobRunId"]
    world.steps()
    world.call("BatchStopJobRun", JobName="daily", JobRunIds=[stopped])
    world.steps()
    told = [(event["detail"]["state"], event["detail"]["message"]) for _, event in on_their_way(world)]
    assert told == [
        ("FAILED", "Command failed with exit code 5") if code else ("SUCCEEDED", "Job run succeeded"),
        ("STOPPED", "Job run stopped"),
    ]


def test_a_run_that_takes_long_is_told_once(world):
    rule(world, {"detail-type": ["Glue Job Run Status"]}, HOOK)
    world.job("daily", NotificationProperty={"NotifyDelayAfter": 3})
    run_id = world.call("StartJobRun", JobName="daily")["JobRunId"]
    world.steps()
    world.steps(180)
    assert on_their_way(world) == []
    world.steps(1)
    world.steps(300)
    [(_, event)] = on_their_way(world)
    assert event["detail"] == {
        "jobName": "daily",
        "severity": "INFO",
        "notificationCondition": {"NotifyDelayAfter": 3.0},
        "state": "RUNNING",
        "jobRunId": run_id,
        "message": "Job is in RUNNING state",
        "startedOn": "2026-03-02T12:00:00Z",
    }


def test_each_event_starts_the_workflow_of_a_rule(world):
    workflow(world)
    event_id = put(world, order=1)
    put(world, source="other", order=2)
    world.steps()
    [run] = workflow_runs(world)
    assert run["StartingEventBatchCondition"] == {"BatchSize": 1}
    assert run["WorkflowRunProperties"]["aws:eventIds"] == f"[{event_id}]"
    [event] = json.loads(run["WorkflowRunProperties"]["gluepot:events"])
    assert (event["id"], event["detail-type"], event["detail"]) == (event_id, "Order", {"order": 1})
    assert world.states("load") == ["RUNNING"]


def test_events_wait_until_there_are_enough_of_them(world):
    workflow(world, BatchSize=2, BatchWindow=60)
    ids = [put(world, order=1)]
    world.steps()
    assert workflow_runs(world) == []
    ids += [put(world, order=2), put(world, order=3)]
    world.steps()
    [run] = workflow_runs(world)
    assert run["StartingEventBatchCondition"] == {"BatchSize": 2}
    assert run["WorkflowRunProperties"]["aws:eventIds"] == f"[{ids[0]}, {ids[1]}]"
    world.end("load")
    world.steps(59)
    assert len(workflow_runs(world)) == 1
    world.steps(1)
    late = workflow_runs(world)[1]
    assert late["StartingEventBatchCondition"] == {"BatchWindow": 60}
    assert late["WorkflowRunProperties"]["aws:eventIds"] == f"[{ids[2]}]"


def test_a_window_of_15_minutes_is_the_default(world):
    workflow(world, BatchSize=2)
    put(world, order=1)
    world.steps(899)
    assert workflow_runs(world) == []
    world.steps(1)
    assert len(workflow_runs(world)) == 1


def test_events_beyond_the_limit_of_a_workflow_make_runs_in_error_that_have_them(world):
    workflow(world)
    world.call("UpdateWorkflow", Name="nightly", MaxConcurrentRuns=1)
    ids = [put(world, order=1), put(world, order=2)]
    world.steps()
    first, second = workflow_runs(world)
    assert (first["Status"], second["Status"]) == ("RUNNING", "ERROR")
    assert second["ErrorMessage"] == "Concurrent runs exceeded for workflow: nightly."
    assert second["WorkflowRunProperties"]["aws:eventIds"] == f"[{ids[1]}]"


def test_a_trigger_that_is_stopped_takes_no_events(world):
    workflow(world)
    world.call("StopTrigger", Name="arrivals")
    put(world, order=1)
    world.steps()
    assert workflow_runs(world) == []
    world.call("StartTrigger", Name="arrivals")
    put(world, order=2)
    world.steps()
    assert len(workflow_runs(world)) == 1


def test_rules_that_are_disabled_or_without_targets_send_nothing(world):
    workflow(world)
    world.call("DisableRule", of=EVENTS, Name="rule")
    put(world, order=1)
    world.call("EnableRule", of=EVENTS, Name="rule")
    world.call("RemoveTargets", of=EVENTS, Rule="rule", Ids=["0"])
    put(world, order=2)
    world.steps()
    assert workflow_runs(world) == []


def test_events_of_a_workflow_that_was_deleted_are_dropped(world):
    workflow(world)
    put(world, order=1)
    world.call("DeleteWorkflow", Name="nightly")
    world.steps()
    with world.store.changes() as changes:
        assert changes.events.waiting() == {}


def test_an_event_goes_to_each_target_once_although_several_rules_name_it(world):
    rule(world, {"source": ["shop"]}, HOOK, "http://localhost:1/")
    rule(world, {"detail": {"order": [1]}}, HOOK, name="other")
    put(world, order=1)
    assert sorted(url for url, _ in on_their_way(world)) == ["http://localhost:1/", HOOK]


def test_entries_that_are_no_events_are_told_and_the_others_are_taken(world):
    rule(world, {"source": ["shop"]}, HOOK)
    good = {"Source": "shop", "DetailType": "Order", "Detail": "{}", "Time": 1_000, "Resources": ["a"]}
    answer = world.call(
        "PutEvents", of=EVENTS, Entries=[{**good, "Detail": "[]"}, good, {"Source": "shop", "Detail": "{}"}]
    )
    assert answer["FailedEntryCount"] == 2
    assert answer["Entries"][0] == {"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}
    assert answer["Entries"][2]["ErrorCode"] == "InvalidArgument"
    [(_, event)] = on_their_way(world)
    assert event["id"] == answer["Entries"][1]["EventId"]
    assert (event["time"], event["resources"]) == ("1970-01-01T00:16:40Z", ["a"])


def test_notifications_of_a_bucket_become_events_as_eventbridge_has_them(world):
    rule(world, {"source": ["aws.s3"], "detail": {"bucket": {"name": ["in"]}}}, HOOK)
    records = [
        {
            "eventName": name,
            "s3": {"bucket": {"name": "in"}, "object": {"key": key, "size": 5, "eTag": "e", "sequencer": "1"}},
        }
        for name, key in (
            ("ObjectCreated:Put", "a+b/%C3%BC.csv"),  # as AWS sends it
            ("s3:ObjectRemoved:Delete", "gone.csv"),  # as MinIO sends it
            ("s3:ObjectAccessed:Get", "read.csv"),
        )
    ]
    assert receive(world.service, {"EventName": "s3:ObjectCreated:Put", "Key": "in/a", "Records": records}) == 2
    (_, created), (_, removed) = on_their_way(world)
    assert (created["detail-type"], removed["detail-type"]) == ("Object Created", "Object Deleted")
    assert created["detail"]["object"] == {"key": "a b/ü.csv", "size": 5, "etag": "e", "sequencer": "1"}
    assert (created["resources"], created["detail"]["reason"]) == (["arn:aws:s3:::in"], "Put")


def test_events_in_the_form_of_eventbridge_keep_what_they_say(world):
    rule(world, {"source": ["shop"]}, HOOK)
    event = {"source": "shop", "detail-type": "Order", "detail": {}, "id": "mine", "account": "123456789012"}
    assert receive(world.service, [event, {**event, "id": "other"}]) == 2
    assert [(one["id"], one["account"]) for _, one in on_their_way(world)] == [
        ("mine", "123456789012"),
        ("other", "123456789012"),
    ]


@pytest.mark.parametrize(
    "body", [{}, "x", [5], {"source": "shop", "detail-type": "t", "detail": []}, {"Records": [{"s3": {}}]}]
)
def test_what_is_no_event_is_refused_and_nothing_is_taken(world, body):
    rule(world, {"source": [{"anything-but": "x"}]}, HOOK)
    good = {"source": "shop", "detail-type": "t", "detail": {}}
    with pytest.raises(ServiceError):
        receive(world.service, [good, *body] if isinstance(body, list) else body)
    assert on_their_way(world) == []


def test_a_rule_is_kept_listed_changed_and_deleted(world):
    rule(world, {"source": ["shop"]}, HOOK, WORKFLOW_ARN)
    arn = world.call("PutRule", of=EVENTS, Name="rule", EventPattern='{"source": ["b"]}', State="DISABLED")["RuleArn"]
    found = world.call("DescribeRule", of=EVENTS, Name="rule")
    assert (found["Arn"], found["State"], found["EventPattern"]) == (arn, "DISABLED", '{"source": ["b"]}')
    rule(world, {"source": ["c"]}, "http://other.example/", name="second")
    page = world.call("ListRules", of=EVENTS, Limit=1)
    assert [one["Name"] for one in page["Rules"]] == ["rule"]
    rest = world.call("ListRules", of=EVENTS, Limit=1, NextToken=page["NextToken"])
    assert ([one["Name"] for one in rest["Rules"]], "NextToken" in rest) == (["second"], False)
    targets = world.call("ListTargetsByRule", of=EVENTS, Rule="rule")["Targets"]
    assert [one["Arn"] for one in targets] == [HOOK, WORKFLOW_ARN]
    assert world.call("ListRuleNamesByTarget", of=EVENTS, TargetArn=HOOK)["RuleNames"] == ["rule"]
    with pytest.raises(ServiceError, match="has targets"):
        world.call("DeleteRule", of=EVENTS, Name="rule")
    world.call("RemoveTargets", of=EVENTS, Rule="rule", Ids=["0", "1"])
    world.call("DeleteRule", of=EVENTS, Name="rule")
    with pytest.raises(ServiceError, match="does not exist"):
        world.call("DescribeRule", of=EVENTS, Name="rule")


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"EventPattern": "{}"}, "InvalidEventPatternException"),
        ({"ScheduleExpression": "rate(5 minutes)"}, "ValidationException"),
        ({}, "ValidationException"),
        ({"EventPattern": '{"a": [1]}', "EventBusName": "other"}, "ResourceNotFoundException"),
    ],
)
def test_a_rule_that_could_never_match_is_refused(world, request_, code):
    with pytest.raises(ServiceError) as raised:
        world.call("PutRule", of=EVENTS, Name="rule", **request_)
    assert raised.value.code == code


@pytest.mark.parametrize(
    "target",
    [{"Arn": "arn:aws:sqs:us-east-1:0:queue"}, {"Arn": "ftp://a/b"}, {"Arn": "http://"}, {"Arn": HOOK, "Input": "{}"}],
)
def test_a_target_to_which_nothing_can_be_sent_is_told(world, target):
    world.call("PutRule", of=EVENTS, Name="rule", EventPattern='{"a": [1]}')
    answer = world.call("PutTargets", of=EVENTS, Rule="rule", Targets=[{"Id": "1", **target}])
    assert answer["FailedEntries"][0]["ErrorCode"] == "ValidationException"


def test_patterns_can_be_tried(world):
    event = json.dumps({"source": "shop"})
    assert world.call("TestEventPattern", of=EVENTS, EventPattern='{"source": ["shop"]}', Event=event)["Result"]
    with pytest.raises(ServiceError, match="not a JSON object"):
        world.call("TestEventPattern", of=EVENTS, EventPattern='{"source": ["shop"]}', Event="[]")


FIRST = Delivery(1, HOOK, "{}", since_ms=0, next_ms=0, attempts=0)


def test_a_delivery_is_put_off_for_longer_and_longer_and_given_up_after_a_day():
    one, waits_secs = FIRST, []
    now_ms = 0
    while (again := next_attempt(claimed(one, now_ms), None, now_ms)) is not None:
        waits_secs.append((again.next_ms - now_ms) / 1000)
        one, now_ms = again, again.next_ms
    assert waits_secs[:9] == [2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert DAY_MS <= now_ms < DAY_MS + 300_000


@pytest.mark.parametrize(("status", "again"), [(500, True), (429, True), (408, True), (404, False), (302, True)])
def test_what_the_other_side_refuses_is_not_sent_again(status, again):
    assert (next_attempt(claimed(FIRST, 0), status, 0) is not None) is again


def test_places_that_are_away_do_not_hold_up_others(world, monkeypatch):
    rule(world, {"source": ["shop"]}, "http://away.example/", "http://there.example/")
    for order in range(3):
        put(world, order=order)
    tried = []

    def sent(_, delivery):
        tried.append(delivery.url)
        return None if "away" in delivery.url else 200

    monkeypatch.setattr(Deliveries, "_sent", sent)
    deliveries = Deliveries(world.store, world.clock)
    assert deliveries.step() is False
    assert (tried.count("http://away.example/"), tried.count("http://there.example/")) == (1, 3)
    tried.clear()
    world.clock.now += 2
    deliveries.step()
    assert tried == ["http://away.example/"]
    assert len(on_their_way(world)) == 3


def test_an_event_that_takes_too_long_to_compare_is_refused_and_others_are_taken(world):
    rule(world, {"source": ["shop"], "detail": {"keys": [{"prefix": f"w{number}"} for number in range(200)]}}, HOOK)
    rule(world, {"source": ["shop"]}, HOOK, name="all")
    large = {"keys": ["v"] * 2_000}
    entries = [{"Source": "shop", "DetailType": "Order", "Detail": json.dumps(one)} for one in (large, {})]
    answer = world.call("PutEvents", of=EVENTS, Entries=entries)
    assert [one.get("ErrorCode") for one in answer["Entries"]] == ["InvalidArgument", None]
    good, bad = ({"source": "shop", "detail-type": "Order", "detail": one} for one in ({}, large))
    with pytest.raises(ServiceError, match="too many values"):
        receive(world.service, [good, bad])
    assert len(on_their_way(world)) == 1
    queue = QueuedEvents("arn:aws:sqs:us-east-1:000000000000:q", world.store, world.service.origin, world.clock, [])
    messages = [Message(str(number), str(number), json.dumps(one)) for number, one in enumerate((good, bad, good))]
    assert [one.number for one in queue._take(messages)] == ["0", "2"]
    assert len(on_their_way(world)) == 3
