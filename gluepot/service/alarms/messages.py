"""What an alarm says when its state changes: its reason, an event, a message to topics, its history. Pure.

The forms are those that AWS's guides show: "Alarm events and EventBridge" and the messages that SNS delivers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gluepot.service.alarms.decisions import ALARM, BREACHING, INSUFFICIENT_DATA, Alarm, Judgement, Range
from gluepot.service.events.envelopes import News, Origin

_SOURCE = "aws.cloudwatch"
_CHANGE = "CloudWatch Alarm State Change"
_LONGEST_SUBJECT = 100  # SNS's own limit


def reason_of(alarm: Alarm, judgement: Judgement) -> str:
    """Return why an alarm gets a state.

    Args:
        alarm: with the state that it had.
        judgement: what data says.
    """
    if judgement.state == INSUFFICIENT_DATA:
        return f"Insufficient Data: {_counted(alarm.periods, 'datapoint')} {_be(alarm.periods)} unknown."
    words = alarm.comparison.words
    crossed = judgement.state == ALARM
    if not judgement.evaluated:
        filled = "Breaching" if alarm.missing == BREACHING else "NonBreaching"
        return (
            f"Threshold Crossed: no datapoints were received for {_counted(alarm.periods, 'period')} and"
            f" {_counted(judgement.missing, 'missing datapoint')} {_be(judgement.missing)} treated as [{filled}]."
        )
    breaches = alarm.comparison.breaches
    told = [(at_ms, value) for at_ms, value in judgement.evaluated if breaches(value, alarm.threshold) == crossed]
    shown = ", ".join(f"{value} ({_moment(at_ms):%d/%m/%y %H:%M:%S})" for at_ms, value in told)
    least = alarm.needed if crossed else alarm.periods - alarm.needed + 1
    change = "OK -> ALARM" if crossed else "ALARM -> OK"
    return (
        f"Threshold Crossed: {len(told)} out of the last {_counted(alarm.periods, 'datapoint')} [{shown}]"
        f" {_be(len(told))} {'' if crossed else 'not '}{words} the threshold ({alarm.threshold}) (minimum"
        f" {_counted(least, 'datapoint')} for {change} transition)."
    )


def reason_data_of(alarm: Alarm, judgement: Judgement, within: Range, now_ms: int) -> str:
    """Return why an alarm gets a state, as JSON for programs."""
    oldest_first = list(reversed(judgement.evaluated))
    statistic = alarm.definition.get("Statistic") or alarm.definition.get("ExtendedStatistic")
    data = {
        "version": "1.0",
        "queryDate": _stamp(now_ms),
        "startDate": _stamp(oldest_first[0][0] if oldest_first else within.begin_ms),
        **({"statistic": statistic} if statistic else {}),
        "period": alarm.period_secs,
        "recentDatapoints": [value for _, value in oldest_first],
        "threshold": alarm.threshold,
        "evaluatedDatapoints": [{"timestamp": _stamp(at_ms), "value": value} for at_ms, value in judgement.evaluated],
    }
    return json.dumps(data)


def news_of_change(alarm: Alarm, before: Alarm, arn: str) -> News:
    """Return the event of a change.

    Args:
        alarm: with its new state.
        before: as it was.
        arn: of the alarm.
    """
    detail = {
        "alarmName": alarm.name,
        "state": _state(alarm),
        "previousState": _state(before),
        "configuration": {
            "description": alarm.definition.get("AlarmDescription", ""),
            "metrics": [_plain_query(query) for query in alarm.queries],
        },
    }
    return News(_CHANGE, detail, _SOURCE, [arn], alarm.state_ms)


def message_of_change(alarm: Alarm, before: Alarm, arn: str, origin: Origin) -> tuple[dict[str, Any], str]:
    """Return what topics and URLs get, and its subject.

    Args:
        alarm: with its new state.
        before: as it was.
        arn: of the alarm.
        origin: account and region.
    """
    given = alarm.definition
    message = {
        "AlarmName": alarm.name,
        "AlarmDescription": given.get("AlarmDescription"),
        "AWSAccountId": origin.account,
        "AlarmConfigurationUpdatedTimestamp": _stamp(alarm.configured_ms),
        "NewStateValue": alarm.state,
        "NewStateReason": alarm.reason,
        "StateChangeTime": _stamp(alarm.state_ms),
        "Region": origin.region,
        "AlarmArn": arn,
        "OldStateValue": before.state,
        **{member: given.get(member, []) for member in ("OKActions", "AlarmActions", "InsufficientDataActions")},
        "Trigger": _trigger(alarm),
    }
    return message, f'{alarm.state}: "{alarm.name}" in {origin.region}'[:_LONGEST_SUBJECT]


def history_of_change(alarm: Alarm, before: Alarm) -> tuple[str, str]:
    """Return summary and data of an item of history."""
    data = {
        "version": "1.0",
        "oldState": {"stateValue": before.state, "stateReason": before.reason},
        "newState": {"stateValue": alarm.state, "stateReason": alarm.reason},
    }
    return f"Alarm updated from {before.state} to {alarm.state}", json.dumps(data)


def history_of_definition(alarm: Alarm, *, is_new: bool) -> tuple[str, str]:
    """Return summary and data of an item of history."""
    data = {"version": "1.0", "type": "Create" if is_new else "Update", "updatedAlarm": dict(alarm.definition)}
    return f'Alarm "{alarm.name}" {"created" if is_new else "updated"}', json.dumps(data)


def _state(alarm: Alarm) -> dict[str, str]:
    data = {"reasonData": alarm.reason_data} if alarm.reason_data else {}
    return {"value": alarm.state, "reason": alarm.reason, **data, "timestamp": _stamp(alarm.state_ms)}


def _plain_query(query: Mapping[str, Any]) -> dict[str, Any]:
    """Return a query as events show it."""
    plain: dict[str, Any] = {"id": query["Id"], "returnData": bool(query.get("ReturnData", True))}
    if query.get("Expression"):
        return {**plain, "expression": query["Expression"]}
    stat = query["MetricStat"]
    metric = {
        "namespace": stat["Metric"]["Namespace"],
        "name": stat["Metric"]["MetricName"],
        "dimensions": _pairs(stat["Metric"].get("Dimensions", ())),
    }
    return {**plain, "metricStat": {"metric": metric, "period": stat["Period"], "stat": stat["Stat"]}}


def _trigger(alarm: Alarm) -> dict[str, Any]:
    given = alarm.definition
    rules = ("Period", "EvaluationPeriods", "DatapointsToAlarm", "ComparisonOperator", "Threshold")
    of_metric: dict[str, Any] = {"Metrics": alarm.queries}
    if not given.get("Metrics"):
        kind = "Statistic" if given.get("Statistic") else "ExtendedStatistic"
        of_metric = {
            "MetricName": given["MetricName"],
            "Namespace": given["Namespace"],
            "StatisticType": kind,
            kind: given[kind].upper() if kind == "Statistic" else given[kind],
            "Unit": given.get("Unit"),
            "Dimensions": [{"value": one["Value"], "name": one["Name"]} for one in given.get("Dimensions", ())],
        }
    return {
        **of_metric,
        **{name: given[name] for name in rules if name in given},
        "TreatMissingData": alarm.missing,
        "EvaluateLowSampleCountPercentile": given.get("EvaluateLowSampleCountPercentile", ""),
    }


def _pairs(dimensions: Sequence[Mapping[str, str]]) -> dict[str, str]:
    return {one["Name"]: one["Value"] for one in dimensions}


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _be(number: int) -> str:
    return "was" if number == 1 else "were"


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def _stamp(at_ms: int) -> str:
    return f"{_moment(at_ms):%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03d}+0000"
