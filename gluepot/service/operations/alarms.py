"""The operations of CloudWatch for alarms (docs/service.md, "Alarms")."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gluepot.service.alarms.decisions import (
    FIRST_REASON,
    INSUFFICIENT_DATA,
    STATES,
    Alarm,
    alarm_of_arn,
    definition_of,
)
from gluepot.service.alarms.messages import history_of_definition
from gluepot.service.context import Service, secs
from gluepot.service.controllers.alarms import tell_change, with_state
from gluepot.service.decisions.metric_queries import checked_queries
from gluepot.service.errors import ServiceError
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import number_of, page_token, scanned
from gluepot.service.store.alarms import HistoryItem
from gluepot.service.store.database import Changes

_PAGE = 100
_MOST_ALARMS = 5000
_COMPOSITE = "CompositeAlarm"
_SAME = ("MetricName", "Namespace", "Statistic", "ExtendedStatistic", "Period", "Unit")


def put_metric_alarm(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Define an alarm, or define it anew; then its state stays. It is evaluated within a minute."""
    name, now_ms, definition = request["AlarmName"], service.now_ms(), definition_of(request)
    if definition.get("Metrics"):
        checked_queries(definition["Metrics"])
    tags = {one["Key"]: one["Value"] for one in request.get("Tags") or ()}
    check_tags(tags)
    with service.store.changes() as changes:
        there = changes.alarms.get(name)
        if there is None:
            if changes.alarms.count() >= _MOST_ALARMS:
                raise ServiceError("LimitExceeded", f"There are already {_MOST_ALARMS} alarms; delete some.")
            alarm = Alarm(name, definition, now_ms, INSUFFICIENT_DATA, FIRST_REASON, "", now_ms, now_ms, now_ms)
            changes.tag(service.alarm_arn(name), tags)  # those of an alarm that is there stay, as on AWS
        else:
            alarm = replace(there, definition=definition, configured_ms=now_ms, next_ms=now_ms)
        changes.alarms.save(alarm)
        summary, data = history_of_definition(alarm, is_new=there is None)
        changes.alarms.note(HistoryItem(0, name, now_ms, "ConfigurationUpdate", summary, data))
    return {}


def describe_alarms(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of alarms in the order of their names. There are no composite alarms."""
    names, prefix, state = request.get("AlarmNames"), request.get("AlarmNamePrefix"), request.get("StateValue", "")
    if names and prefix:
        raise ServiceError(
            "InvalidParameterCombination", "AlarmNames and AlarmNamePrefix cannot be combined; omit one."
        )
    if request.get("AlarmTypes") == [_COMPOSITE] or request.get("ChildrenOfAlarmName"):
        return {"CompositeAlarms": [], "MetricAlarms": []}
    action = request.get("ActionPrefix") or ""

    def keep(alarm: Alarm) -> bool:
        return state in {"", alarm.state} and (not action or any(one.startswith(action) for one in alarm.all_actions))

    rest: dict[str, str] = {}
    with service.store.changes() as changes:
        if names:
            named = [changes.alarms.get(name) for name in names]
            page = [alarm for alarm in named if alarm is not None and keep(alarm)]
        else:
            page, rest = scanned(
                lambda after, most: changes.alarms.some(after, most, prefix or ""),
                lambda alarm: alarm.name,
                lambda alarms: filter(keep, alarms),
                {**request, "MaxResults": min(request.get("MaxRecords") or _PAGE, _PAGE)},
                _PAGE,
            )
    plain = [_plain(service, alarm) for alarm in page]
    return {"CompositeAlarms": [], "MetricAlarms": plain, **rest}


def describe_alarms_for_metric(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the alarms of a metric that have the statistic, period and unit of the request, where it has them."""
    dimensions = _pairs(request)
    with service.store.changes() as changes:
        alarms = changes.alarms.some("", _MOST_ALARMS)
    same = [
        alarm
        for alarm in alarms
        if all(request.get(name) in {None, alarm.definition.get(name)} for name in _SAME)
        and _pairs(alarm.definition) == dimensions
    ]
    return {"MetricAlarms": [_plain(service, alarm) for alarm in same]}


def delete_alarms(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete alarms; those that are not there are no error, as on AWS."""
    with service.store.changes() as changes:
        for name in request["AlarmNames"]:
            changes.alarms.delete(name)
            changes.untag(service.alarm_arn(name))
    return {}


def set_alarm_state(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Put an alarm in a state until it is evaluated next. A change is told, and its actions are taken."""
    name, now_ms, data = request["AlarmName"], service.now_ms(), request.get("StateReasonData") or ""
    if request["StateValue"] not in STATES:
        raise ServiceError("ValidationError", f"StateValue is {request['StateValue']!r}; use {', '.join(STATES)}.")
    try:
        json.loads(data or "{}")
    except (ValueError, RecursionError):
        raise ServiceError("InvalidFormat", "StateReasonData is not JSON; correct it, or omit it.") from None
    with service.store.changes() as changes:
        before = _known(changes, name)
        alarm = with_state(before, request["StateValue"], request["StateReason"], data, now_ms)
        changes.alarms.save(alarm)
        if alarm.state != before.state:
            tell_change(changes, alarm, before, service.alarm_arn(name), service.origin)
    service.wake()
    return {}


def enable_alarm_actions(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Have changes of alarms sent to where their actions say."""
    return _enable(service, request["AlarmNames"], enabled=True)


def disable_alarm_actions(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Have changes of alarms sent nowhere. They are still events."""
    return _enable(service, request["AlarmNames"], enabled=False)


def describe_alarm_history(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of what happened to alarms: definitions and changes of state."""
    most = min(request.get("MaxRecords") or _PAGE, _PAGE)
    kind = request.get("HistoryItemType") or ""
    end = request.get("EndDate")
    with service.store.changes() as changes:
        items = changes.alarms.history(
            most + 1,
            alarm=request.get("AlarmName") or "",
            kind=kind,
            begin_ms=round((request.get("StartDate") or 0) * 1000),
            end_ms=None if end is None else round(end * 1000),
            after=number_of(request.get("NextToken")),
            oldest_first=request.get("ScanBy") == "TimestampAscending",
        )
    page = items[:most]
    token = {"NextToken": page_token(str(page[-1].number))} if len(items) > most else {}
    return {"AlarmHistoryItems": [_plain_item(one) for one in page], **token}


def list_tags_for_resource(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tags of an alarm."""
    with service.store.changes() as changes:
        arn = _arn(service, changes, request["ResourceARN"])
        return {"Tags": [{"Key": key, "Value": value} for key, value in changes.tags(arn).items()]}


def tag_resource(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add tags to an alarm, or give them other values."""
    added = {one["Key"]: one["Value"] for one in request["Tags"]}
    with service.store.changes() as changes:
        arn = _arn(service, changes, request["ResourceARN"])
        check_tags({**changes.tags(arn), **added})
        changes.tag(arn, added)
    return {}


def untag_resource(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove tags from an alarm."""
    with service.store.changes() as changes:
        changes.tag(_arn(service, changes, request["ResourceARN"]), {}, request["TagKeys"])
    return {}


def _enable(service: Service, names: Sequence[str], *, enabled: bool) -> dict[str, Any]:
    with service.store.changes() as changes:
        for name in names:
            if (alarm := changes.alarms.get(name)) is not None:
                definition = {**alarm.definition, "ActionsEnabled": enabled}
                changes.alarms.save(replace(alarm, definition=definition))
    return {}


def _known(changes: Changes, name: str) -> Alarm:
    alarm = changes.alarms.get(name)
    if alarm is None:
        raise ServiceError("ResourceNotFound", f"There is no alarm {name}; create it with PutMetricAlarm.")
    return alarm


def _arn(service: Service, changes: Changes, given: str) -> str:
    name = alarm_of_arn(given)
    if name is None:
        raise ServiceError("InvalidParameterValue", f"{given!r} is not the ARN of an alarm.")
    return service.alarm_arn(_known(changes, name).name)


def _pairs(given: Mapping[str, Any]) -> dict[str, str]:
    return {one["Name"]: one["Value"] for one in given.get("Dimensions") or ()}


def _plain(service: Service, alarm: Alarm) -> dict[str, Any]:
    data = {"StateReasonData": alarm.reason_data} if alarm.reason_data else {}
    return {
        "AlarmName": alarm.name,
        "AlarmArn": service.alarm_arn(alarm.name),
        "AlarmConfigurationUpdatedTimestamp": secs(alarm.configured_ms),
        "ActionsEnabled": True,
        "OKActions": [],
        "AlarmActions": [],
        "InsufficientDataActions": [],
        **({} if alarm.definition.get("Metrics") else {"Dimensions": []}),
        **alarm.definition,
        "StateValue": alarm.state,
        "StateReason": alarm.reason,
        **data,
        "StateUpdatedTimestamp": secs(alarm.state_ms),
        "StateTransitionedTimestamp": secs(alarm.transitioned_ms),
    }


def _plain_item(item: HistoryItem) -> dict[str, Any]:
    return {
        "AlarmName": item.alarm,
        "AlarmType": "MetricAlarm",
        "Timestamp": secs(item.at_ms),
        "HistoryItemType": item.kind,
        "HistorySummary": item.summary,
        "HistoryData": item.data,
    }
