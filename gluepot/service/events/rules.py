"""Rules: which events go where. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import SplitResult, urlsplit

from gluepot.service.errors import ServiceError
from gluepot.service.events.patterns import Effort, PatternError, matches, parsed

ENABLED, DISABLED = "ENABLED", "DISABLED"
MOST_TARGETS = 100
_WORKFLOW = re.compile(r"arn:aws[a-z-]*:glue:[^:]*:[^:]*:workflow/(?P<name>.+)")
_TOPIC = re.compile(r"arn:aws[a-z-]*:sns:(?P<region>[a-z0-9-]+):\d*:[\w.-]+")
_TARGET = ("Id", "Arn", "RoleArn")


@dataclass(frozen=True)
class Rule:
    """A rule.

    Args:
        name: its name.
        definition: `EventPattern`, `State`, `Description` and `RoleArn` of the API.
        targets: as `Target` of the API, by their ids.
        created_ms: milliseconds since 1970.
        modified_ms: milliseconds since 1970.
    """

    name: str
    definition: Mapping[str, Any]
    targets: Mapping[str, Mapping[str, Any]]
    created_ms: int = 0
    modified_ms: int = 0

    @cached_property
    def pattern(self) -> Mapping[str, Any]:
        """Which events it is about."""
        return parsed(self.definition["EventPattern"])

    @property
    def enabled(self) -> bool:
        """Whether events are matched with it."""
        return bool(self.definition.get("State", ENABLED) == ENABLED)


@dataclass(frozen=True, slots=True)
class Routed:
    """Where an event goes.

    Args:
        workflows: names of workflows that it may start.
        places: where it is sent: URLs, and ARNs of SNS topics.
    """

    workflows: Sequence[str]
    places: Sequence[str]


def routed(rules: Iterable[Rule], event: Mapping[str, Any]) -> Routed:
    """Return where an event goes: to the targets of each rule that is about it, to each once.

    Raises:
        TooManySteps: it takes too long to find out.
    """
    effort = Effort()
    found = [
        target["Arn"]
        for rule in rules
        if rule.enabled and matches(rule.pattern, event, effort)
        for target in rule.targets.values()
    ]
    places = dict.fromkeys(found)
    named = [(place, workflow_of_arn(place)) for place in places]
    return Routed([name for _, name in named if name is not None], [place for place, name in named if name is None])


def workflow_of_arn(arn: str) -> str | None:
    """Return the name of the workflow that an ARN is of; None if it is of something else."""
    found = _WORKFLOW.fullmatch(arn)
    return None if found is None else found["name"]


def region_of_topic(place: str) -> str | None:
    """Return the region of an SNS topic, given its ARN; None if it is something else."""
    found = _TOPIC.fullmatch(place)
    return None if found is None else found["region"]


def is_place(place: str) -> bool:
    """Return whether events and alarms can be sent to a place: a URL, or the ARN of an SNS topic."""
    if region_of_topic(place) is not None:
        return True
    parts = _parts(place)
    return parts is not None and parts.scheme in {"http", "https"} and bool(parts.hostname)


def _parts(place: str) -> SplitResult | None:
    try:
        return urlsplit(place)
    except ValueError:  # such as an address in one bracket
        return None


def check_rule(given: Mapping[str, Any]) -> None:
    """Refuse a rule that could never be about an event.

    Raises:
        ServiceError: `InvalidEventPatternException` or `ValidationException`.
    """
    if given.get("ScheduleExpression"):
        raise ServiceError(
            "ValidationException",
            "Rules with ScheduleExpression are not there; make a trigger of the type SCHEDULED instead.",
        )
    if not given.get("EventPattern"):
        raise ServiceError("ValidationException", "Parameter EventPattern must be specified.")
    if given.get("EventBusName", "default") != "default":
        raise ServiceError(
            "ResourceNotFoundException",
            f"Event bus {given['EventBusName']} does not exist; there is only the one named default.",
        )
    check_pattern(given["EventPattern"])


def check_pattern(text: str) -> Mapping[str, Any]:
    """Return a pattern.

    Raises:
        ServiceError: `InvalidEventPatternException`.
    """
    try:
        return parsed(text)
    except PatternError as error:
        raise ServiceError("InvalidEventPatternException", f"Event pattern is not valid. Reason: {error}.") from None


def refusal_of(target: Mapping[str, Any]) -> str:
    """Return why something cannot be a target; an empty text if it can."""
    if extra := [name for name in target if name not in _TARGET]:
        return f"{extra[0]} is not there; targets get the whole event."
    arn = target["Arn"]
    if workflow_of_arn(arn) is not None or is_place(arn):
        return ""
    return (
        f"{arn!r} is neither the ARN of a workflow or of an SNS topic, nor a URL that begins with http:// or https://."
    )
