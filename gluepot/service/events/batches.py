"""How many events start a workflow: the conditions of event triggers. Pure (docs/glue 11.7)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_DEFAULT_WINDOW_SECS = 900


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event that waits for its trigger.

    Args:
        number: its place in the order of all.
        event: in the form of EventBridge.
        at_ms: when it arrived, in milliseconds since 1970.
    """

    number: int
    event: Mapping[str, Any]
    at_ms: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that start a workflow together.

    Args:
        events: the oldest first.
        condition: why they do, as `StartingEventBatchCondition` of the API.
    """

    events: Sequence[Waiting]
    condition: Mapping[str, int]


def batch_of(condition: Mapping[str, int] | None, waiting: Sequence[Waiting], now_ms: int) -> Batch | None:
    """Return the events that fire a trigger now; None if it waits for more events.

    Args:
        condition: `EventBatchingCondition` of the API; without it each event fires the trigger.
        waiting: all events that wait for the trigger, the oldest first.
        now_ms: milliseconds since 1970.
    """
    if not waiting:
        return None
    size = int((condition or {}).get("BatchSize", 1))
    window_secs = int((condition or {}).get("BatchWindow", _DEFAULT_WINDOW_SECS))
    if len(waiting) >= size:
        return Batch(waiting[:size], {"BatchSize": size})
    if now_ms - waiting[0].at_ms >= window_secs * 1000:
        return Batch(waiting, {"BatchWindow": window_secs})
    return None


def properties_of(batch: Batch) -> dict[str, str]:
    """Return the properties by which the jobs of a workflow learn which events started it.

    `aws:eventIds` is as on AWS, where scripts have to look the events up elsewhere. `gluepot:events` has them.
    """
    events = [one.event for one in batch.events]
    return {
        "aws:eventIds": f"[{', '.join(one['id'] for one in events)}]",
        "gluepot:events": json.dumps(events),
    }
