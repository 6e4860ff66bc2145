"""Evaluates alarms and tells their changes, in a thread of its own.

A new state, its event and what its actions send are written down in one transaction. So each change is told once,
wherever the service is killed and however many services share the database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gluepot.core.clock import Clock
from gluepot.core.errors import TransientError
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.service.alarms.decisions import INSUFFICIENT_DATA, Alarm, judged, next_evaluation_ms, range_of
from gluepot.service.alarms.messages import (
    history_of_change,
    message_of_change,
    news_of_change,
    reason_data_of,
    reason_of,
)
from gluepot.service.controllers.publishing import publish
from gluepot.service.controllers.workers import Repeating
from gluepot.service.decisions.metric_queries import series_of
from gluepot.service.errors import ServiceError
from gluepot.service.events.envelopes import Origin
from gluepot.service.events.topics import body_for
from gluepot.service.store.alarms import HistoryItem
from gluepot.service.store.database import Changes, Store

_WAIT_SECS = 5.0
_AT_ONCE = 100

log = get_logger(__name__)


class Alarms(Repeating):
    """Evaluates alarms.

    Args:
        store: the database.
        origin: of events.
        alarm_arn: returns the ARN of an alarm, given its name.
        clock: tells the time.
        told: each is called when there is something to send.
    """

    def __init__(
        self,
        store: Store,
        origin: Origin,
        alarm_arn: Callable[[str], str],
        clock: Clock,
        told: Sequence[Callable[[], None]] = (),
    ) -> None:
        super().__init__(clock, 0.0, _WAIT_SECS)
        self._store = store
        self._origin = origin
        self._alarm_arn = alarm_arn
        self._told = told

    def step(self) -> bool:
        """Evaluate what is due; return whether there may be more."""
        with self._store.changes() as changes:
            due = changes.alarms.due(self._now_ms(), _AT_ONCE)
        if sum(self._evaluate_or_put_off(name) for name in due):
            for call in self._told:
                call()
        return len(due) == _AT_ONCE

    def _evaluate_or_put_off(self, name: str) -> bool:
        """Evaluate one alarm. One that fails waits for its next time, and keeps no other from being evaluated."""
        try:
            return self._evaluate(name)
        except TransientError:
            raise
        except Exception:
            log.exception("alarm_failed", alarm=name)
        with self._store.changes() as changes:
            if (alarm := changes.alarms.get(name)) is not None:
                changes.alarms.save(replace(alarm, next_ms=next_evaluation_ms(self._now_ms())))
        return False

    def _evaluate(self, name: str) -> bool:
        """Evaluate one alarm; return whether its state changed."""
        now_ms = self._now_ms()
        with self._store.changes() as changes:
            changes.alone()
            alarm = changes.alarms.get(name)
            if alarm is None or alarm.next_ms > now_ms:  # deleted, or evaluated by another service
                return False
            later = replace(alarm, next_ms=next_evaluation_ms(now_ms))
            after = evaluated(changes, later, now_ms)
            changes.alarms.save(after)
            if after.state != alarm.state:
                tell_change(changes, after, alarm, self._alarm_arn(name), self._origin)
            reach("service.evaluating_alarm")
        return after.state != alarm.state


def evaluated(changes: Changes, alarm: Alarm, now_ms: int) -> Alarm:
    """Return an alarm with the state that its data puts it in."""
    within = range_of(alarm, now_ms)
    queries = {query["Id"]: query for query in alarm.queries}
    try:
        values = series_of(queries, changes.metrics.minutes, within.begin_ms, within.end_ms)[alarm.watched]
    except ServiceError as error:
        log.warning("alarm_not_evaluated", alarm=alarm.name, reason=error.message)
        return with_state(alarm, INSUFFICIENT_DATA, error.message, "", now_ms)
    judgement = judged(alarm, within, values)
    if judgement.state == alarm.state:
        return alarm
    data = reason_data_of(alarm, judgement, within, now_ms)
    return with_state(alarm, judgement.state, reason_of(alarm, judgement), data, now_ms)


def with_state(alarm: Alarm, state: str, reason: str, reason_data: str, now_ms: int) -> Alarm:
    """Return an alarm with a state."""
    changed_ms = now_ms if state != alarm.state else alarm.transitioned_ms
    return replace(
        alarm, state=state, reason=reason, reason_data=reason_data, state_ms=now_ms, transitioned_ms=changed_ms
    )


def tell_change(changes: Changes, alarm: Alarm, before: Alarm, arn: str, origin: Origin) -> None:
    """Note a change in the history, publish it as an event, and send it to where the alarm's actions say."""
    summary, data = history_of_change(alarm, before)
    changes.alarms.note(HistoryItem(0, alarm.name, alarm.state_ms, "StateUpdate", summary, data))
    publish(changes, news_of_change(alarm, before, arn), origin, alarm.state_ms)
    message, subject = message_of_change(alarm, before, arn, origin)
    for place in alarm.actions:
        changes.events.deliver(place, body_for(place, message, subject), alarm.state_ms)
    log.info("alarm_state_changed", alarm=alarm.name, before=before.state, state=alarm.state, reason=alarm.reason)
