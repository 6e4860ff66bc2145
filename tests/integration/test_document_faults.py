"""Services that throttle, fail, hang up and lose replies, through a proxy: every row arrives, and none twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any
from uuid import uuid4

import boto3
import pymongo
import pytest
from opensearchpy import OpenSearch
from opensearchpy.helpers import scan
from pymongo.errors import AutoReconnect, NetworkTimeout, OperationFailure

from gluepot.connectors.contracts import DocumentStore
from gluepot.connectors.registry import connector
from gluepot.connectors.values import Document
from gluepot.core.clock import SystemClock
from tests.crash.http_proxy import Answer, Fate, http_proxy

REGION = "us-east-1"
HOLD_SECS = 0.2
ROWS_A_CHUNK = 60
ENOUGH = 5
"""A test spoils more requests than this, also on a machine that is slow."""
FATES: tuple[str, ...] = ("throttled", "throttled", "throttled", "500", "reset", "lost reply", "time-out")

Received = Callable[[], list[int]]


@pytest.fixture
def client(kinesis):
    return lambda service: boto3.client(service, endpoint_url=kinesis, region_name=REGION)


@contextmanager
def dynamodb(client, url: str) -> Iterator[tuple[DocumentStore, Received]]:
    table = f"faults-{uuid4().hex[:8]}"
    client("dynamodb").create_table(
        TableName=table,
        KeySchema=[{"AttributeName": "n", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
        BillingMode="PAY_PER_REQUEST",
    )

    def received() -> list[int]:
        pages = client("dynamodb").get_paginator("scan").paginate(TableName=table)
        return sorted(int(one["n"]["N"]) for page in pages for one in page["Items"])

    options = {"dynamodb.output.tableName": table, "region": REGION, "endpointUrl": url}
    yield connector("dynamodb").new_document_store(options), received
    client("dynamodb").delete_table(TableName=table)


@contextmanager
def fifo_queue(client, url: str) -> Iterator[tuple[DocumentStore, Received]]:
    name = f"faults-{uuid4().hex[:8]}.fifo"
    queue = client("sqs").create_queue(QueueName=name, Attributes={"FifoQueue": "true"})["QueueUrl"]

    def received() -> list[int]:
        """The numbers in the order of arrival; of one group each, they must ascend."""
        asked = {"QueueUrl": queue, "MaxNumberOfMessages": 10, "WaitTimeSeconds": 0}
        rows = []
        while found := client("sqs").receive_message(**asked).get("Messages"):
            for one in found:
                rows.append(json.loads(one["Body"]))
                client("sqs").delete_message(QueueUrl=queue, ReceiptHandle=one["ReceiptHandle"])
        for group in {row["group"] for row in rows}:
            own = [row["n"] for row in rows if row["group"] == group]
            assert own == sorted(own)
        return sorted(row["n"] for row in rows)

    # The queue is called by its name, because its URL leads past the proxy.
    options = {"queueName": name, "messageGroupId": "group", "region": REGION, "endpointUrl": url}
    yield connector("sqs").new_document_store(options), received
    client("sqs").delete_queue(QueueUrl=queue)


class Spoiler:
    """Spoils half of all requests, as long as it is told to.

    Args:
        seed: of its choices.
        fates: what may happen to a request.
    """

    def __init__(self, seed: int, fates: Sequence[str] = FATES) -> None:
        self._chance = Random(seed)
        self._fates = fates
        self._changing = threading.Lock()
        self.is_at_work = True
        self.spoilt = 0

    def __call__(self, method: str, path: str, headers: Any) -> Fate:
        with self._changing:
            if not self.is_at_work or self._chance.random() < 0.5:
                return "pass"
            self.spoilt += 1
            fate = self._chance.choice(self._fates)
        if fate == "throttled":
            return failure(400, "ThrottlingException")
        return failure(500, "InternalServerError") if fate == "500" else fate  # type: ignore[return-value]


def failure(status: int, code: str) -> Answer:
    body = json.dumps({"__type": f"com.amazonaws#{code}", "message": "on purpose"}).encode()
    return Answer(status, {"Content-Type": "application/x-amz-json-1.0"}, body)


def documents(numbers: range) -> list[Document]:
    return [Document(f"{n:032x}", {"n": n, "group": f"g{n % 20}"}) for n in numbers]


def put_for(store: DocumentStore, spoiler: Spoiler, secs: float) -> int:
    """Put rows while requests are spoilt, which takes some seconds, then again; return their number."""
    clock, sent = SystemClock(), 0
    until = clock.monotonic() + secs
    while spoiler.is_at_work:
        spoiler.is_at_work = clock.monotonic() < until or spoiler.spoilt <= ENOUGH
        assert not store.put(documents(range(sent, sent + ROWS_A_CHUNK)))
        sent += ROWS_A_CHUNK
    return sent


@pytest.mark.parametrize("kind", [dynamodb, fifo_queue])
@pytest.mark.parametrize("secs", [2.0, pytest.param(60.0, marks=pytest.mark.long)])
def test_half_of_all_requests_fail_and_every_row_is_there_once(client, kinesis, kind, secs):
    spoiler = Spoiler(seed=7)
    with http_proxy(kinesis, spoiler, hold_secs=HOLD_SECS) as url, kind(client, url) as (store, received):
        sent = put_for(store, spoiler, secs)
        assert received() == list(range(sent))
    assert spoiler.spoilt > ENOUGH


def opensearch_failure(status: int) -> Answer:
    body = json.dumps({"error": {"type": "on_purpose", "reason": "on purpose"}, "status": status}).encode()
    return Answer(status, {"Content-Type": "application/json"}, body)


class OpensearchSpoiler(Spoiler):
    """Spoils half of all requests as OpenSearch does it."""

    def __call__(self, method: str, path: str, headers: Any) -> Fate:
        fate = super().__call__(method, path, headers)
        return opensearch_failure(429 if fate.status == 400 else 503) if isinstance(fate, Answer) else fate


@pytest.mark.parametrize("operation", ["index", "upsert"])
@pytest.mark.parametrize("secs", [2.0, pytest.param(60.0, marks=pytest.mark.long)])
def test_half_of_all_requests_to_opensearch_fail_and_every_row_is_there_once(opensearch, monkeypatch, secs, operation):
    spoiler, index = OpensearchSpoiler(seed=7), f"faults-{uuid4().hex[:8]}"
    monkeypatch.setattr("gluepot.connectors.opensearch.client.ANSWER_SECS", 1)
    with http_proxy(opensearch, spoiler, hold_secs=1.2) as url:
        options = {"opensearch.nodes": url, "opensearch.resource": index, "opensearch.write.operation": operation}
        sent = put_for(connector("opensearch").new_document_store(options), spoiler, secs)
    assert numbers_in(opensearch, index) == list(range(sent))
    assert spoiler.spoilt > ENOUGH


def numbers_in(opensearch: str, index: str) -> list[int]:
    """Return the numbers in an index, and delete it."""
    client = OpenSearch([opensearch])
    client.indices.refresh(index)
    found = [one["_source"]["n"] for one in scan(client, index=index)]
    client.indices.delete(index)
    return sorted(found)


class SpoiltDatabase:
    """A database half of whose commands fail: before the server, after it, or for half of their statements."""

    def __init__(self, database: Any, spoiler: Spoiler) -> None:
        self._database = database
        self._spoiler = spoiler
        self.write_concern = database.write_concern

    def command(self, command: dict[str, Any]) -> Any:
        fate = self._spoiler("", "", None)
        if fate == "pass":
            return self._database.command(command)
        if isinstance(fate, Answer):
            raise OperationFailure("request rate is large", 16500)
        if fate == "reset":
            raise AutoReconnect("connection closed")
        updates = command["updates"]
        taken = updates[::2] if fate == "time-out" else updates
        answer = self._database.command({**command, "updates": taken})
        if fate == "lost reply":
            raise NetworkTimeout("timed out")
        left = range(1, len(updates), 2)
        return {**answer, "writeErrors": [{"index": at, "code": 16500, "errmsg": "slow down"} for at in left]}


@pytest.mark.parametrize("replaces", ["true", "false"])
@pytest.mark.parametrize("secs", [2.0, pytest.param(60.0, marks=pytest.mark.long)])
def test_half_of_all_commands_to_mongodb_fail_and_every_row_is_there_once(mongodb, monkeypatch, secs, replaces):
    spoiler, name = Spoiler(seed=7), f"faults-{uuid4().hex[:8]}"
    options = {"connection.uri": mongodb, "database": name, "collection": "numbers", "replaceDocument": replaces}
    with pymongo.MongoClient(mongodb) as client:
        monkeypatch.setattr(
            "gluepot.connectors.mongodb.store.database_of", lambda _: SpoiltDatabase(client[name], spoiler)
        )
        sent = put_for(connector("mongodb").new_document_store(options), spoiler, secs)
        assert sorted(one["n"] for one in client[name]["numbers"].find()) == list(range(sent))
    assert spoiler.spoilt > ENOUGH


THROTTLED_SECS, RECOVERY_SECS, PATIENCE_SECS = 60.0, 10.0, 30.0
STEADY_PUTS = 10
"""So many puts in a row tell a rate."""


def put_while_throttled(store: DocumentStore, spoiler: Spoiler) -> tuple[int, float]:
    """Put rows, with half of all calls refused for a minute.

    Returns:
        The number of rows, and how many seconds after the minute the rate was half of that before it for the first
        time; infinite if it was not for a long time.
    """
    clock, sent, ended = SystemClock(), 0, []

    def put() -> float:
        nonlocal sent
        assert not store.put(documents(range(sent, sent + ROWS_A_CHUNK)))
        sent += ROWS_A_CHUNK
        return clock.monotonic()

    def end() -> None:
        spoiler.is_at_work = False
        ended.append(clock.monotonic())

    spoiler.is_at_work = False
    before = [put() for _ in range(2 * STEADY_PUTS + 1)]
    usual_secs = before[-1] - before[-1 - STEADY_PUTS]
    spoiler.is_at_work = True
    timer = threading.Timer(THROTTLED_SECS, end)
    timer.start()
    times: list[float] = []
    while not ended or times[-1] < ended[0] + PATIENCE_SECS:
        times.append(put())
        later = [one for one in times[-1 - STEADY_PUTS :] if ended and one >= ended[0]]
        if len(later) > STEADY_PUTS and later[-1] - later[0] <= 2 * usual_secs:
            return sent, later[0] - ended[0]
    return sent, float("inf")


# Not with a FIFO queue: the emulator compares each message with all before it, so that it becomes slower by itself.
@pytest.mark.long
def test_a_dynamodb_that_throttled_for_a_minute_has_every_row_once_and_gets_them_as_fast_as_before(client, kinesis):
    spoiler = Spoiler(seed=8, fates=["throttled"])
    with http_proxy(kinesis, spoiler, hold_secs=HOLD_SECS) as url, dynamodb(client, url) as (store, received):
        sent, recovery_secs = put_while_throttled(store, spoiler)
        assert received() == list(range(sent))
    assert spoiler.spoilt > ENOUGH
    assert recovery_secs < RECOVERY_SECS


@pytest.mark.long
def test_an_opensearch_that_throttled_for_a_minute_has_every_row_once_and_gets_them_as_fast_as_before(opensearch):
    spoiler, index = OpensearchSpoiler(seed=8, fates=["throttled"]), f"faults-{uuid4().hex[:8]}"
    with http_proxy(opensearch, spoiler, hold_secs=HOLD_SECS) as url:
        store = connector("opensearch").new_document_store({"opensearch.nodes": url, "opensearch.resource": index})
        sent, recovery_secs = put_while_throttled(store, spoiler)
    assert numbers_in(opensearch, index) == list(range(sent))
    assert spoiler.spoilt > ENOUGH
    assert recovery_secs < RECOVERY_SECS


@pytest.mark.long
def test_a_mongodb_that_throttled_for_a_minute_has_every_row_once_and_gets_them_as_fast_as_before(mongodb, monkeypatch):
    spoiler, name = Spoiler(seed=8, fates=["throttled", "time-out"]), f"faults-{uuid4().hex[:8]}"
    options = {"connection.uri": mongodb, "database": name, "collection": "numbers"}
    with pymongo.MongoClient(mongodb) as client:
        monkeypatch.setattr(
            "gluepot.connectors.mongodb.store.database_of", lambda _: SpoiltDatabase(client[name], spoiler)
        )
        sent, recovery_secs = put_while_throttled(connector("mongodb").new_document_store(options), spoiler)
        assert sorted(one["n"] for one in client[name]["numbers"].find()) == list(range(sent))
    assert spoiler.spoilt > ENOUGH
    assert recovery_secs < RECOVERY_SECS
