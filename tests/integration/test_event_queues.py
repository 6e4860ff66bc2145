"""Events in a queue of a server that speaks SQS: each is taken once, whatever happens between taking and deleting."""

from __future__ import annotations

import json
import os
import time

import pytest

from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError, TransientError
from gluepot.crawl.queues import open_queue
from gluepot.service.controllers.queued_events import QueuedEvents
from gluepot.service.events.envelopes import Origin
from gluepot.service.events.rules import Rule
from gluepot.service.server import ServeOptions, service
from gluepot.service.store.database import open_store
from tests.integration.test_crawl_events import new_queue, queue, sqs  # noqa: F401  fixtures
from tests.integration.test_service_events import SECS, hook  # noqa: F401  a fixture
from tests.service_answers import client_of

ORDER = {"source": "shop", "detail-type": "Order", "detail": {"number": 1}}
NOTIFICATION = {
    "Records": [{"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "in"}, "object": {"key": "a+b.csv"}}}]
}
TRIAL = {"Event": "s3:TestEvent", "Service": "Amazon S3"}
HOOK = "https://hooks.example/all"


@pytest.fixture
def store(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'service.db'}")
    with store.changes() as changes:
        pattern = {"EventPattern": json.dumps({"source": ["shop"]}), "State": "ENABLED"}
        changes.events.save_rule(Rule("all", pattern, {"1": {"Id": "1", "Arn": HOOK}}, 0))
    return store


def reader(queue, store, **more):  # noqa: F811
    return QueuedEvents(queue.arn, store, Origin("000000000000", "us-east-1"), SystemClock(), **more)


def told(store):
    with store.changes() as changes:
        return [json.loads(one.body) for one in changes.events.due(10**15, 1000)]


def test_a_service_tells_events_of_a_queue_to_rules(queue, hook, tmp_path):  # noqa: F811
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path)}
    with service(ServeOptions(port=0, event_queues=(queue.arn,)), environ, SystemClock()) as serving:
        events = client_of(serving, "events")
        events.put_rule(Name="shop", EventPattern=json.dumps({"source": ["shop", "aws.s3"]}))
        events.put_targets(Rule="shop", Targets=[{"Id": "1", "Arn": hook.url}])
        in_a_topic = {"Type": "Notification", "Message": json.dumps(NOTIFICATION)}
        queue.send(json.dumps(TRIAL), json.dumps(ORDER), json.dumps(in_a_topic))
        hook.failures = 0
        until = time.monotonic() + SECS
        while len(hook.taken) < 2:
            assert time.monotonic() < until, hook.taken
            time.sleep(0.1)
    found = {one["detail-type"]: one for one in hook.taken}
    assert found["Order"]["detail"] == {"number": 1}
    assert found["Object Created"]["detail"]["object"]["key"] == "a b.csv"
    assert queue.bodies() == []


def test_a_message_that_was_not_deleted_comes_again_and_tells_nothing_more(queue, store):  # noqa: F811
    failures = [TransientError("no answer")]

    def opened(arn, wait_secs):
        found = open_queue(arn, 0)
        delete = found.delete

        def failing(receipts):
            if failures:
                raise failures.pop()
            delete(receipts)

        found.delete = failing
        return found

    queue.send(json.dumps(ORDER), json.dumps([ORDER, ORDER]))
    one = reader(queue, store, open_queue=opened)
    while one.step() or failures:
        pass
    while queue.bodies():
        one.step()
    assert [event["detail-type"] for event in told(store)] == ["Order"] * 3


@pytest.mark.parametrize("body", ["no JSON", "[" * 100_000, '{"source": "shop"}', '{"Records": [{}]}', "7"])
def test_a_message_that_is_no_event_stays_and_the_others_are_taken(queue, store, body):  # noqa: F811
    queue.send(body, json.dumps(ORDER))
    one = reader(queue, store, open_queue=lambda arn, _: open_queue(arn, 0))
    one.step()
    one.step()
    assert len(told(store)) == 1
    assert queue.bodies() == [body]


def test_a_queue_that_is_not_there_is_looked_for_again(queue, store):  # noqa: F811
    answers = iter(["there is none", None])
    one = QueuedEvents(
        queue.arn,
        store,
        Origin("000000000000", "us-east-1"),
        SystemClock(),
        open_queue=lambda arn, _: open_queue(f"{arn}-x" if next(answers) else arn, 0),
    )
    queue.send(json.dumps(ORDER))
    assert not one.step()
    assert one._idle_secs > 1
    assert one.step()
    assert len(told(store)) == 1


def test_a_service_does_not_start_with_what_is_no_queue(tmp_path):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path)}
    with (
        pytest.raises(ConfigError, match="--event-queue is 'lake-events'; write the ARN"),
        service(ServeOptions(port=0, event_queues=("lake-events",)), environ, SystemClock()),
    ):
        pass
