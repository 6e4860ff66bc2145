"""Posts events to the URLs that rules name, in a thread of its own."""

from __future__ import annotations

import urllib3

from gluepot.core.clock import Clock
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.service.controllers.workers import Repeating
from gluepot.service.events.delivery import Delivery, claimed, is_taken, next_attempt
from gluepot.service.store.database import Store

_AT_ONCE = 100
_TIMEOUT_SECS = 5.0
_IDLE_WAIT_SECS = 5.0

log = get_logger(__name__)


class Deliveries(Repeating):
    """Posts events.

    Args:
        store: what there is to post.
        clock: tells the time.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__(clock, 0.0, _IDLE_WAIT_SECS)
        self._store = store
        self._http = urllib3.PoolManager(timeout=_TIMEOUT_SECS, retries=False)

    def step(self) -> bool:
        """Post what is due; return whether there may be more.

        When a place does not answer, the other events for it wait for its next turn, too, so that one place that is
        away does not hold up the others.
        """
        with self._store.changes() as changes:
            due = [claimed(one, self._now_ms()) for one in changes.events.due(self._now_ms(), _AT_ONCE)]
            for one in due:
                changes.events.put_off(one)
        reach("service.deliveries_claimed")
        away: set[str] = set()
        for one in due:
            status = None if one.url in away else self._posted(one)
            reach("service.posted")
            if status is None:
                away.add(one.url)
            self._settle(one, status)
        return len(due) == _AT_ONCE

    def _posted(self, delivery: Delivery) -> int | None:
        headers = {"Content-Type": "application/json", "User-Agent": "gluepot"}
        try:
            answer = self._http.request(
                "POST", delivery.url, body=delivery.body.encode(), headers=headers, redirect=False
            )
        except urllib3.exceptions.HTTPError:
            return None
        return answer.status

    def _settle(self, delivery: Delivery, status: int | None) -> None:
        again = None if is_taken(status) else next_attempt(delivery, status, self._now_ms())
        with self._store.changes() as changes:
            if again is None:
                changes.events.delivered(delivery)
            else:
                changes.events.put_off(again)
            reach("service.settling_delivery")
        if again is None and not is_taken(status):
            # The URL may hold a secret.
            log.error("event_not_delivered", attempts=delivery.attempts, status=status, body=delivery.body)
