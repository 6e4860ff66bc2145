"""CloudWatch's alarms: which state data puts them in, what they say, and where changes are sent."""

import json
from unittest.mock import Mock

import pytest

from gluepot.core.errors import ConfigError
from gluepot.service.alarms.decisions import ALARM, INSUFFICIENT_DATA, OK, Alarm, judged, next_evaluation_ms, range_of
from gluepot.service.controllers import alarms
from gluepot.service.controllers.alarms import Alarms
from gluepot.service.controllers.deliveries import Deliveries
from gluepot.service.errors import ServiceError
from gluepot.service.events.topics import topics_of
from tests.unit.service.test_metrics import CLOUDWATCH, MINUTE, SHOP, put
from tests.unit.service.test_retention import retention

TOPIC = "arn:aws:sns:us-east-1:000000000000:alerts"
HOOK = "https://chat.example.com/hooks/42"
RULE = {
    "EvaluationPeriods": 1,
    "Threshold": 3,
    "ComparisonOperator": "GreaterThanThreshold",
    "AlarmActions": [TOPIC],
    "OKActions": [HOOK],
}
FAILURES = {"Namespace": "Shop", "MetricName": "failed", "Dimensions": SHOP, "Period": MINUTE, "Statistic": "Sum"}
COUNTED = {
    "Id": "a",
    "MetricStat": {"Metric": {"Namespace": "Shop", "MetricName": "a"}, "Period": MINUTE, "Stat": "Sum"},
}
LONG = {"Id": "long", "Expression": "+".join("a" * 1023)}
B, G = 5, 0  # a value that breaches the threshold, and a good one


def alarm(state=OK, **definition):
    return Alarm("a", {**FAILURES, **RULE, **definition}, 0, state, "", "", 0, 0, 0)


def state_of(values, state="before", **definition):
    """Return the state after some values, the newest last; None stands for no data."""
    one = alarm(state, EvaluationPeriods=3, **definition)
    within = range_of(one, 10**12)
    known = {within.begin_ms + at * MINUTE * 1000: value for at, value in enumerate(values) if value is not None}
    return judged(one, within, known).state


# The two tables of AWS's guide "Configuring how CloudWatch alarms treat missing data".
@pytest.mark.parametrize(
    ("values", "needed", "states"),
    [
        ((G, None, B, None, B), 3, (OK, OK, OK, OK)),
        ((G, None, None, None, None), 3, (OK, OK, OK, OK)),
        ((None,) * 5, 3, (INSUFFICIENT_DATA, "before", ALARM, OK)),
        ((G, B, B, None, B), 3, (ALARM, ALARM, ALARM, ALARM)),
        ((None, None, B, None, None), 3, (ALARM, "before", ALARM, OK)),
        ((G, None, B, None, B), 2, (ALARM, ALARM, ALARM, ALARM)),
        ((G, G, B, G, B), 2, (ALARM, ALARM, ALARM, ALARM)),
        ((G, None, B, None, None), 2, (OK, OK, ALARM, OK)),
        ((None, None, None, None, G), 2, (OK, OK, ALARM, OK)),
        ((None, None, None, B, None), 2, (ALARM, "before", ALARM, OK)),
    ],
)
def test_missing_data_counts_as_in_the_guide(values, needed, states):
    ways = ("missing", "ignore", "breaching", "notBreaching")
    found = tuple(state_of(values, DatapointsToAlarm=needed, TreatMissingData=way) for way in ways)
    assert found == states


def test_one_new_value_that_breaches_raises_no_alarm_that_needs_three():
    assert state_of((None, None, None, None, B), DatapointsToAlarm=3) == "before"


def test_data_of_a_minute_has_some_seconds_to_arrive():
    at_ms = 10 * MINUTE * 1000
    assert range_of(alarm(), at_ms + 5_000).end_ms == at_ms - MINUTE * 1000
    assert range_of(alarm(), at_ms + 10_000).end_ms == at_ms
    assert next_evaluation_ms(at_ms + 10_000) == at_ms + MINUTE * 1000 + 10_000


def put_alarm(world, name="failures", **definition):
    world.call("PutMetricAlarm", of=CLOUDWATCH, AlarmName=name, **{**FAILURES, **RULE, **definition})


def controller(world):
    return Alarms(world.store, world.service.origin, world.service.alarm_arn, world.clock)


def minute(world, value=None):
    """Let a minute pass, in which a value is reported."""
    if value is not None:
        put(world, "failed", world.clock.now, Value=value)
    world.clock.now += MINUTE
    controller(world).step()


def described(world, **wanted):
    return world.call("DescribeAlarms", of=CLOUDWATCH, **wanted)["MetricAlarms"]


def on_their_way(world):
    with world.store.changes() as changes:
        return [(one.url, json.loads(one.body)) for one in changes.events.due(10**15, 100)]


def test_an_alarm_follows_its_metric_and_says_why(world):
    put_alarm(world)
    [new] = described(world)
    assert (new["StateValue"], new["StateReason"]) == (INSUFFICIENT_DATA, "Unchecked: Initial alarm creation")
    minute(world, 4)
    minute(world)
    [raised] = described(world)
    assert raised["StateValue"] == ALARM
    assert raised["StateReason"] == (
        "Threshold Crossed: 1 out of the last 1 datapoint [4.0 (02/03/26 12:00:00)] was greater than the threshold"
        " (3.0) (minimum 1 datapoint for OK -> ALARM transition)."
    )
    assert json.loads(raised["StateReasonData"])["recentDatapoints"] == [4.0]
    minute(world, 1)
    minute(world)
    assert described(world)[0]["StateValue"] == OK
    assert [place for place, _ in on_their_way(world)] == [TOPIC, HOOK]
    items = world.call("DescribeAlarmHistory", of=CLOUDWATCH, AlarmName="failures")["AlarmHistoryItems"]
    assert [one["HistorySummary"] for one in items] == [
        "Alarm updated from ALARM to OK",
        "Alarm updated from INSUFFICIENT_DATA to ALARM",
        'Alarm "failures" created',
    ]


def test_a_change_is_an_event_and_a_message_as_aws_sends_them(world):
    pattern = json.dumps({"source": ["aws.cloudwatch"], "detail": {"state": {"value": ["ALARM"]}}})
    world.call("PutRule", of="AWSEvents", Name="alarms", EventPattern=pattern)
    targets = [{"Id": "1", "Arn": "https://events.example.com/"}, {"Id": "2", "Arn": TOPIC + "2"}]
    assert world.call("PutTargets", of="AWSEvents", Rule="alarms", Targets=targets)["FailedEntryCount"] == 0
    put_alarm(world, AlarmDescription="too many")
    minute(world, 4)
    minute(world)
    sent = dict(on_their_way(world))
    event, message = sent["https://events.example.com/"], json.loads(sent[TOPIC]["Message"])
    assert json.loads(sent[TOPIC + "2"]["Message"]) == event
    assert event["detail-type"] == "CloudWatch Alarm State Change"
    assert event["detail"]["previousState"]["value"] == INSUFFICIENT_DATA
    assert event["detail"]["configuration"] == {
        "description": "too many",
        "metrics": [
            {
                "id": "m1",
                "returnData": True,
                "metricStat": {
                    "metric": {"namespace": "Shop", "name": "failed", "dimensions": {"Shop": "north"}},
                    "period": 60,
                    "stat": "Sum",
                },
            }
        ],
    }
    assert sent[TOPIC]["Subject"] == 'ALARM: "failures" in us-east-1'
    assert (message["NewStateValue"], message["OldStateValue"]) == (ALARM, INSUFFICIENT_DATA)
    assert message["Trigger"]["Statistic"] == "SUM"


def test_an_alarm_over_an_expression(world):
    metrics = [
        {
            "Id": name,
            "MetricStat": {
                "Metric": {"Namespace": "Shop", "MetricName": name, "Dimensions": SHOP},
                "Period": 60,
                "Stat": "Sum",
            },
            "ReturnData": False,
        }
        for name in ("failed", "orders")
    ]
    metrics.append({"Id": "rate", "Expression": "100 * failed / orders"})
    world.call("PutMetricAlarm", of=CLOUDWATCH, AlarmName="rate", Metrics=metrics, **RULE)
    put(world, "orders", world.clock.now, Value=50)
    minute(world, 2)
    minute(world)
    assert described(world)[0]["StateReason"].startswith("Threshold Crossed: 1 out of the last 1 datapoint [4.0 ")


def test_a_state_that_is_set_lasts_until_the_next_evaluation(world):
    put_alarm(world, TreatMissingData="notBreaching")
    controller(world).step()
    of = {"of": CLOUDWATCH, "AlarmName": "failures", "StateReason": "a trial"}
    world.call("SetAlarmState", **of, StateValue=ALARM)
    world.call("SetAlarmState", **of, StateValue=ALARM)
    assert described(world, StateValue=ALARM)[0]["StateReason"] == "a trial"
    assert [place for place, _ in on_their_way(world)] == [HOOK, TOPIC]  # once for each change
    minute(world)
    assert described(world, StateValue=ALARM) == []


def test_actions_can_be_turned_off(world):
    put_alarm(world)
    world.call("DisableAlarmActions", of=CLOUDWATCH, AlarmNames=["failures", "unknown"])
    minute(world, 4)
    minute(world)
    assert described(world)[0]["StateValue"] == ALARM
    assert on_their_way(world) == []


def test_two_services_tell_a_change_once(world):
    put_alarm(world)
    put(world, "failed", Value=4)
    world.clock.now += 2 * MINUTE
    for one in (controller(world), controller(world)):
        one.step()
    assert len(on_their_way(world)) == 1


def test_a_service_killed_while_it_evaluates_tells_a_change_once(world, monkeypatch):
    put_alarm(world)
    put(world, "failed", Value=4)
    world.clock.now += 2 * MINUTE
    monkeypatch.setattr(alarms, "reach", Mock(side_effect=[KeyboardInterrupt, None]))
    with pytest.raises(KeyboardInterrupt):
        controller(world).step()
    assert on_their_way(world) == []
    controller(world).step()
    assert len(on_their_way(world)) == 1


def test_an_alarm_defined_again_keeps_its_state_and_its_tags(world):
    put_alarm(world, Tags=[{"Key": "team", "Value": "shop"}])
    minute(world, 4)
    minute(world)
    put_alarm(world, Threshold=10, Tags=[{"Key": "team", "Value": "other"}])
    [again] = described(world)
    assert (again["StateValue"], again["Threshold"]) == (ALARM, 10)
    tags = {"of": CLOUDWATCH, "ResourceARN": again["AlarmArn"]}
    assert world.call("ListTagsForResource", **tags)["Tags"] == [{"Key": "team", "Value": "shop"}]
    world.call("TagResource", **tags, Tags=[{"Key": "a", "Value": "1"}])
    world.call("UntagResource", **tags, TagKeys=["team"])
    assert world.call("ListTagsForResource", **tags)["Tags"] == [{"Key": "a", "Value": "1"}]


def test_alarms_are_found_by_prefix_action_metric_and_page(world):
    for name in ("a1", "a2", "b1"):
        put_alarm(world, name)
    put_alarm(world, "b2", Statistic="Maximum", AlarmActions=[])
    names = [one["AlarmName"] for one in described(world, AlarmNamePrefix="a", ActionPrefix="arn:aws:sns")]
    assert names == ["a1", "a2"]
    assert described(world, AlarmNamePrefix="A") == []
    first = world.call("DescribeAlarms", of=CLOUDWATCH, MaxRecords=3)
    rest = world.call("DescribeAlarms", of=CLOUDWATCH, MaxRecords=3, NextToken=first["NextToken"])
    assert [one["AlarmName"] for one in (*first["MetricAlarms"], *rest["MetricAlarms"])] == ["a1", "a2", "b1", "b2"]
    about = {"Namespace": "Shop", "MetricName": "failed", "Dimensions": SHOP, "Statistic": "Maximum"}
    found = world.call("DescribeAlarmsForMetric", of=CLOUDWATCH, **about)["MetricAlarms"]
    assert [one["AlarmName"] for one in found] == ["b2"]
    world.call("DeleteAlarms", of=CLOUDWATCH, AlarmNames=["a1", "a2", "b1", "unknown"])
    assert [one["AlarmName"] for one in described(world)] == ["b2"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"AlarmActions": ["arn:aws:lambda:us-east-1:000000000000:function:f"]}, "ARN of an SNS topic"),
        ({"AlarmActions": ["http://["]}, "ARN of an SNS topic"),
        ({"ComparisonOperator": "GreaterThanUpperThreshold"}, "is not available here"),
        ({"DatapointsToAlarm": 2}, "at most as many datapoints as periods"),
        ({"Period": 10}, "data is kept by the minute"),
        ({"Period": 90}, "multiple of 60"),
        ({"EvaluationPeriods": 1441}, "the longest time"),
        ({"Statistic": None}, "either Statistic or ExtendedStatistic"),
        ({"TreatMissingData": "never"}, "TreatMissingData is 'never'"),
        ({"Metrics": [{"Id": "m", "Expression": "1 + 1"}]}, "cannot be combined"),
        ({"Dimensions": [*SHOP, *SHOP]}, "repeat a name"),
        ({**dict.fromkeys(FAILURES), "Metrics": [LONG, {**COUNTED, "ReturnData": False}]}, "is not supported"),
        ({"ThresholdMetricId": "m1"}, "ThresholdMetricId is not available here"),
    ],
)
def test_an_alarm_that_could_not_be_evaluated_is_refused(world, wrong, said):
    definition = {name: value for name, value in {**FAILURES, **RULE, **wrong}.items() if value is not None}
    with pytest.raises(ServiceError, match=said):
        world.call("PutMetricAlarm", of=CLOUDWATCH, AlarmName="wrong", **definition)
    assert described(world) == []


def test_an_alarm_that_fails_keeps_no_other_from_being_evaluated(world, monkeypatch):
    put_alarm(world, "broken")
    put_alarm(world)

    def evaluated(changes, alarm, now_ms, rightly=alarms.evaluated):
        if alarm.name == "broken":
            raise OverflowError("int too large to convert to float")
        return rightly(changes, alarm, now_ms)

    monkeypatch.setattr(alarms, "evaluated", evaluated)
    minute(world, 4)
    minute(world)
    assert [one["AlarmName"] for one in described(world, StateValue=ALARM)] == ["failures"]


def test_history_is_forgotten_with_the_runs_of_its_time(world):
    put_alarm(world)
    world.clock.now += 91 * 24 * 3600
    retention(world).step()
    assert world.call("DescribeAlarmHistory", of=CLOUDWATCH)["AlarmHistoryItems"] == []


def test_a_topic_with_a_url_gets_the_envelope_of_sns(world, monkeypatch):
    posted = []
    sender = Deliveries(world.store, world.clock, topics_of([f"{TOPIC}={HOOK}"]))
    monkeypatch.setattr(sender, "_posted", lambda url, body: posted.append((url, json.loads(body))) or 200)
    put_alarm(world)
    minute(world, 4)
    minute(world)
    sender.step()
    [(url, body)] = posted
    assert (url, body["Type"], body["TopicArn"]) == (HOOK, "Notification", TOPIC)
    assert json.loads(body["Message"])["AlarmName"] == "failures"
    assert on_their_way(world) == []


@pytest.mark.parametrize("option", ["alerts=https://a.example/", TOPIC, f"{TOPIC}=ftp://a/", f"{TOPIC}={TOPIC}"])
def test_a_topic_without_a_url_is_refused(option):
    with pytest.raises(ConfigError, match="use ARN=URL"):
        topics_of([option])
