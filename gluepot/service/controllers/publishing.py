"""Takes events to where rules send them: to triggers of workflows, URLs and SNS topics.

An event is kept in the transaction of what it tells, so it is neither lost nor told twice if the service is killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from gluepot.service.decisions.triggers import takes_events
from gluepot.service.decisions.workflows import first_trigger
from gluepot.service.events.envelopes import EventError, News, Origin, envelope
from gluepot.service.events.patterns import TooManySteps
from gluepot.service.events.rules import routed
from gluepot.service.events.topics import body_for
from gluepot.service.store.database import Changes


def publish(changes: Changes, news: News, origin: Origin, now_ms: int) -> str:
    """Take an event of the service to where rules send it; return its id.

    Args:
        changes: the transaction.
        news: what the event says.
        origin: where it comes from.
        now_ms: milliseconds since 1970.
    """
    event = envelope(news, origin, new_event_id(), now_ms)
    take(changes, [event], now_ms)
    return str(event["id"])


def take(changes: Changes, events: Sequence[Mapping[str, Any]], now_ms: int) -> None:
    """Take events to where rules send them. A workflow that no event starts does not get any.

    Args:
        changes: the transaction.
        events: in the form of EventBridge.
        now_ms: milliseconds since 1970.

    Raises:
        EventError: an event has too many values; none was taken.
    """
    rules = changes.events.rules()
    try:
        found = [(event, routed(rules, event)) for event in events]
    except TooManySteps:
        raise EventError("An event has too many values to compare them with all rules; send several.") from None
    for event, where in found:
        for workflow in where.workflows:
            trigger = first_trigger(changes.triggers.of_workflow(workflow))
            if trigger is not None and takes_events(trigger):
                changes.events.keep_for(trigger.name, event, now_ms)
        for place in where.places:
            changes.events.deliver(place, body_for(place, event), now_ms)


def new_event_id() -> str:
    """Return a new id of an event."""
    return str(uuid4())
