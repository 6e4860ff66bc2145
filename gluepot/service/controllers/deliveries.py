"""Sends events and changes of alarms to URLs and to topics of SNS, in a thread of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import NAMESPACE_URL, uuid5

import urllib3

from gluepot.connectors.aws.clients import Address, aws_client, explained
from gluepot.core.clock import Clock
from gluepot.core.errors import EtlError
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.service.controllers.workers import Repeating
from gluepot.service.events.delivery import Delivery, claimed, is_taken, next_attempt
from gluepot.service.events.rules import region_of_topic
from gluepot.service.events.topics import notification
from gluepot.service.store.database import Store

_AT_ONCE = 100
_TIMEOUT_SECS = 5.0
_IDLE_WAIT_SECS = 5.0
_TAKEN = 200

log = get_logger(__name__)


class Deliveries(Repeating):
    """Sends what is due.

    Args:
        store: what there is to send.
        clock: tells the time.
        topics: URLs that get what is published to a topic, by the topic's ARN; other topics are called in SNS.
    """

    def __init__(self, store: Store, clock: Clock, topics: Mapping[str, str] | None = None) -> None:
        super().__init__(clock, 0.0, _IDLE_WAIT_SECS)
        self._store = store
        self._topics = topics or {}
        self._http = urllib3.PoolManager(timeout=_TIMEOUT_SECS, retries=False)

    def step(self) -> bool:
        """Send what is due; return whether there may be more.

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
            status = None if one.url in away else self._sent(one)
            reach("service.posted")
            if status is None:
                away.add(one.url)
            self._settle(one, status)
        return len(due) == _AT_ONCE

    def _sent(self, delivery: Delivery) -> int | None:
        """Send something; return the status of the answer, None if there was none."""
        if region_of_topic(delivery.url) is None:
            return self._posted(delivery.url, delivery.body)
        if (url := self._topics.get(delivery.url)) is None:
            return _published(delivery)
        message_id = str(uuid5(NAMESPACE_URL, f"{delivery.url}/{delivery.number}/{delivery.since_ms}"))
        body = notification(delivery.url, json.loads(delivery.body), message_id, delivery.since_ms)
        return self._posted(url, json.dumps(body))

    def _posted(self, url: str, body: str) -> int | None:
        headers = {"Content-Type": "application/json", "User-Agent": "gluepot"}
        try:
            answer = self._http.request("POST", url, body=body.encode(), headers=headers, redirect=False)
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


def _published(delivery: Delivery) -> int | None:
    """Publish to a topic of SNS; return the status of the answer, None if the topic cannot be reached."""
    where = f"SNS topic {delivery.url}"
    try:
        with explained(where):
            client = aws_client("sns", Address(region_of_topic(delivery.url) or ""))
            client.publish(TopicArn=delivery.url, **json.loads(delivery.body))
    except (
        EtlError
    ) as error:  # also missing rights and credentials, which may come within the day for which it is tried
        log.warning("topic_not_published", topic=delivery.url, error=str(error))
        return None
    return _TAKEN
