"""Amazon EventBridge: rules, and events that clients put (docs/glue 11.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gluepot.core.stored_json import parsed_json
from gluepot.service.context import Service
from gluepot.service.controllers.publishing import new_event_id, publish, take
from gluepot.service.errors import ServiceError
from gluepot.service.events.envelopes import EventError, news_of_entry, received
from gluepot.service.events.patterns import TooManySteps, matches
from gluepot.service.events.rules import (
    DISABLED,
    ENABLED,
    MOST_TARGETS,
    Rule,
    check_pattern,
    check_rule,
    refusal_of,
)
from gluepot.service.paging import page_by_name
from gluepot.service.store.database import Changes

_PAGE = 100
_BUS = "default"
_DEFINITION = ("EventPattern", "State", "Description", "RoleArn")


def put_events(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Take events to where rules send them. Each that is none is told, and the others are taken."""
    now_ms = service.now_ms()
    answers: list[dict[str, Any]] = []
    with service.store.changes() as changes:
        for entry in request["Entries"]:
            try:
                answers.append({"EventId": publish(changes, news_of_entry(entry), service.origin, now_ms)})
            except EventError as error:
                answers.append({"ErrorCode": error.code, "ErrorMessage": str(error)})
    service.wake()
    return {"FailedEntryCount": sum("ErrorCode" in one for one in answers), "Entries": answers}


def receive(service: Service, body: Any) -> int:
    """Take what somebody sent to where rules send it: events, or notifications of an S3 bucket.

    Returns:
        How many events there are.

    Raises:
        ServiceError: `ValidationException`.
    """
    now_ms = service.now_ms()
    try:
        events = received(body, service.origin, new_event_id, now_ms)
        with service.store.changes() as changes:
            take(changes, events, now_ms)
    except EventError as error:
        raise ServiceError("ValidationException", str(error)) from None
    service.wake()
    return len(events)


def put_rule(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Make a rule, or change one. Its targets stay."""
    name, now_ms = request["Name"], service.now_ms()
    check_rule(request)
    definition = {"State": ENABLED} | {one: request[one] for one in _DEFINITION if request.get(one) is not None}
    arn = service.event_arn(name)
    with service.store.changes() as changes:
        there = changes.events.rule(name) or Rule(name, {}, {}, now_ms)
        changes.events.save_rule(replace(there, definition=definition, modified_ms=now_ms))
        changes.tag(arn, {one["Key"]: one["Value"] for one in request.get("Tags", ())})
    return {"RuleArn": arn}


def describe_rule(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one rule."""
    with service.store.changes() as changes:
        return {**_answer(service, rule_of(changes, request["Name"])), "CreatedBy": service.account}


def list_rules(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the rules."""
    prefix = request.get("NamePrefix", "")
    with service.store.changes() as changes:
        found = [one for one in changes.events.rules() if one.name.startswith(prefix)]
    return _page(found, request, "Rules", lambda one: _answer(service, one))


def delete_rule(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete a rule; one that is not there is no error."""
    name = request["Name"]
    with service.store.changes() as changes:
        found = changes.events.rule(name)
        if found is not None and found.targets:
            raise ServiceError("ValidationException", "Rule can't be deleted since it has targets.")
        changes.events.delete_rule(name)
        changes.untag(service.event_arn(name))
    return {}


def enable_rule(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Have events matched with a rule."""
    return _switch(service, request["Name"], ENABLED)


def disable_rule(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Have no events matched with a rule."""
    return _switch(service, request["Name"], DISABLED)


def put_targets(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add targets to a rule, or change some: ARNs of workflows, and URLs, to which events are posted."""
    failed = []
    with service.store.changes() as changes:
        rule = rule_of(changes, request["Rule"])
        targets = dict(rule.targets)
        for target in request["Targets"]:
            if why := refusal_of(target):
                failed.append({"TargetId": target["Id"], "ErrorCode": "ValidationException", "ErrorMessage": why})
            else:
                targets[target["Id"]] = target
        if len(targets) > MOST_TARGETS:
            raise ServiceError("LimitExceededException", f"A rule can have {MOST_TARGETS} targets.")
        changes.events.save_rule(replace(rule, targets=targets, modified_ms=service.now_ms()))
    return {"FailedEntryCount": len(failed), "FailedEntries": failed}


def remove_targets(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove targets from a rule."""
    with service.store.changes() as changes:
        rule = rule_of(changes, request["Rule"])
        missing = [one for one in request["Ids"] if one not in rule.targets]
        targets = {name: one for name, one in rule.targets.items() if name not in request["Ids"]}
        changes.events.save_rule(replace(rule, targets=targets, modified_ms=service.now_ms()))
    failed = [
        {"TargetId": one, "ErrorCode": "ResourceNotFoundException", "ErrorMessage": "There is no such target."}
        for one in missing
    ]
    return {"FailedEntryCount": len(failed), "FailedEntries": failed}


def list_targets_by_rule(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the targets of a rule."""
    with service.store.changes() as changes:
        targets = rule_of(changes, request["Rule"]).targets
    return _page(sorted(targets.values(), key=lambda one: str(one["Id"])), request, "Targets", dict, "Id")


def list_rule_names_by_target(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the names of the rules that have a target."""
    arn = request["TargetArn"]
    with service.store.changes() as changes:
        found = [one for one in changes.events.rules() if any(to["Arn"] == arn for to in one.targets.values())]
    return _page(found, request, "RuleNames", lambda one: one.name)


def try_event_pattern(_: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether an event is one that a pattern describes."""
    pattern = check_pattern(request["EventPattern"])
    try:
        event = parsed_json(request["Event"])
    except ValueError:
        event = None
    if not isinstance(event, dict):
        raise ServiceError("ValidationException", "Parameter Event is not valid. Reason: it is not a JSON object.")
    try:
        return {"Result": matches(pattern, event)}
    except TooManySteps:
        raise ServiceError("ValidationException", "The event has too many values for the pattern.") from None


def rule_of(changes: Changes, name: str) -> Rule:
    """Return a rule.

    Raises:
        ServiceError: `ResourceNotFoundException`.
    """
    found = changes.events.rule(name)
    if found is None:
        raise ServiceError("ResourceNotFoundException", f"Rule {name} does not exist on EventBus {_BUS}.")
    return found


def _switch(service: Service, name: str, state: str) -> dict[str, Any]:
    with service.store.changes() as changes:
        rule = rule_of(changes, name)
        definition = {**rule.definition, "State": state}
        changes.events.save_rule(replace(rule, definition=definition, modified_ms=service.now_ms()))
    return {}


def _answer(service: Service, rule: Rule) -> dict[str, Any]:
    return {"Name": rule.name, "Arn": service.event_arn(rule.name), **rule.definition, "EventBusName": _BUS}


def _page(found: Any, request: Mapping[str, Any], member: str, answer: Any, name: str = "") -> dict[str, Any]:
    sized = {"NextToken": request.get("NextToken"), "MaxResults": request.get("Limit")}
    page, rest = page_by_name(found, lambda one: str(one[name] if name else one.name), sized, _PAGE)
    return {member: [answer(one) for one in page], **rest}
