"""What every target of notifications promises: each row arrives, and a repetition carries the same id."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from uuid import uuid4

import boto3
import pytest

from gluepot.connectors.contracts import DocumentStore
from gluepot.connectors.registry import connector
from gluepot.connectors.values import Document
from gluepot.core.errors import ConfigError, TransientError

REGION = "us-east-1"
ROWS = 25
"""More than two calls of ten, which is the most that all services but Firehose take."""


@dataclass
class Target:
    """A target, and what the suite needs to know of it.

    Args:
        store: sends to it.
        nowhere: the same kind of store for a target that does not exist; None if it has no way to tell.
        received: returns id and row of everything that has arrived, by a client that is not the product's.
        repeats: whether a repetition arrives again.
    """

    store: DocumentStore
    nowhere: DocumentStore | None
    received: Callable[[], list[tuple[str, dict[str, Any]]]]
    repeats: bool = True


@dataclass
class Aws:
    """An emulator of AWS's services."""

    url: str

    def client(self, service: str) -> Any:
        return boto3.client(service, endpoint_url=self.url, region_name=REGION)

    def store(self, kind: str, **options: Any) -> DocumentStore:
        return connector(kind).new_document_store({"endpointUrl": self.url, "region": REGION, **options})

    def queue(self, **attributes: str) -> str:
        suffix = ".fifo" if attributes else ""
        made = self.client("sqs").create_queue(QueueName=f"q-{uuid4().hex[:8]}{suffix}", Attributes=attributes)
        return str(made["QueueUrl"])

    def arn(self, queue: str) -> str:
        answer = self.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
        return str(answer["Attributes"]["QueueArn"])

    def messages(self, queue: str) -> Iterator[dict[str, Any]]:
        client = self.client("sqs")
        asked = {"QueueUrl": queue, "MaxNumberOfMessages": 10, "MessageAttributeNames": ["All"], "WaitTimeSeconds": 0}
        while found := client.receive_message(**asked).get("Messages"):
            for one in found:
                client.delete_message(QueueUrl=queue, ReceiptHandle=one["ReceiptHandle"])
                yield one


@pytest.fixture
def aws(kinesis) -> Aws:
    return Aws(kinesis)


def of_queue(aws: Aws, queue: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (one["MessageAttributes"]["gluepot_id"]["StringValue"], json.loads(one["Body"])) for one in aws.messages(queue)
    ]


@contextmanager
def sqs(aws: Aws) -> Iterator[Target]:
    queue = aws.queue()
    yield Target(aws.store("sqs", queueUrl=queue), aws.store("sqs", queueName="nowhere"), lambda: of_queue(aws, queue))


@contextmanager
def fifo_sqs(aws: Aws) -> Iterator[Target]:
    queue = aws.queue(FifoQueue="true")
    store = aws.store("sqs", queueUrl=queue, messageGroupId="shop")
    yield Target(store, aws.store("sqs", queueName="nowhere.fifo"), lambda: of_queue(aws, queue), repeats=False)


@contextmanager
def sns(aws: Aws) -> Iterator[Target]:
    queue, client = aws.queue(), aws.client("sns")
    topic = client.create_topic(Name=f"t-{uuid4().hex[:8]}")["TopicArn"]
    client.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=aws.arn(queue), Attributes={"RawMessageDelivery": "true"})
    nowhere = aws.store("sns", topicArn=f"arn:aws:sns:{REGION}:123456789012:nowhere")
    yield Target(aws.store("sns", topicArn=topic), nowhere, lambda: of_queue(aws, queue))


@contextmanager
def eventbridge(aws: Aws) -> Iterator[Target]:
    queue, client, bus = aws.queue(), aws.client("events"), f"bus-{uuid4().hex[:8]}"
    client.create_event_bus(Name=bus)
    client.put_rule(Name="all", EventBusName=bus, EventPattern=json.dumps({"source": ["shop"]}))
    client.put_targets(Rule="all", EventBusName=bus, Targets=[{"Id": "1", "Arn": aws.arn(queue)}])

    def received() -> list[tuple[str, dict[str, Any]]]:
        events = [json.loads(one["Body"]) for one in aws.messages(queue)]
        assert {one["detail-type"] for one in events} <= {"order"}
        return [(one["resources"][0].removeprefix("gluepot_id:"), one["detail"]) for one in events]

    def store(name: str) -> DocumentStore:
        return aws.store("eventbridge", eventBusName=name, source="shop", detailType="order")

    yield Target(store(bus), store("nowhere"), received)


@contextmanager
def firehose(aws: Aws) -> Iterator[Target]:
    name, s3 = f"f-{uuid4().hex[:8]}", aws.client("s3")
    s3.create_bucket(Bucket=name)
    aws.client("firehose").create_delivery_stream(
        DeliveryStreamName=name,
        ExtendedS3DestinationConfiguration={
            "RoleARN": "arn:aws:iam::123456789012:role/r",
            "BucketARN": f"arn:aws:s3:::{name}",
        },
    )

    def received() -> list[tuple[str, dict[str, Any]]]:
        rows = []
        for entry in s3.list_objects_v2(Bucket=name).get("Contents", []):
            content = s3.get_object(Bucket=name, Key=entry["Key"])["Body"].read()
            content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
            rows += [json.loads(line) for line in content.splitlines()]
            s3.delete_object(Bucket=name, Key=entry["Key"])
        return [(row.pop("id"), row) for row in rows]

    yield Target(
        aws.store("firehose", deliveryStreamName=name, idColumn="id"),
        aws.store("firehose", deliveryStreamName="nowhere"),
        received,
    )


@dataclass
class Posted:
    """What an HTTP server was sent, and how it answers next."""

    requests: list[tuple[str, Any]]
    answers: list[int]


@contextmanager
def http_server() -> Iterator[tuple[str, Posted]]:
    posted, changing = Posted([], []), Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with changing:
                status = posted.answers.pop(0) if posted.answers else 200
                if status == 200:
                    posted.requests.append((self.headers["Idempotency-Key"], body))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"so it is")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/rows", posted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def unpacked(posted: Posted) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for key, body in posted.requests:
        rows = body if isinstance(body, list) else [body]
        found += list(zip(key.split(","), rows, strict=True))
    posted.requests.clear()
    return found


@contextmanager
def webhook(_: Aws, batch_size: int = 1) -> Iterator[Target]:
    with http_server() as (url, posted):
        store = connector("webhook").new_document_store({"url": url, "batchSize": str(batch_size)})
        yield Target(store, None, lambda: unpacked(posted))


@contextmanager
def webhook_of_lists(aws: Aws) -> Iterator[Target]:
    with webhook(aws, 10) as target:
        yield target


@pytest.fixture(params=[sqs, fifo_sqs, sns, eventbridge, firehose, webhook, webhook_of_lists])
def target(request, aws) -> Iterator[Target]:
    with request.param(aws) as made:
        yield made


def documents(numbers: Sequence[int]) -> list[Document]:
    return [Document(f"{n:032x}", {"n": n, "shop": f"s{n % 3}", "euro": "€"}) for n in numbers]


def test_every_row_arrives_with_its_id_and_a_repetition_has_the_same_one(target):
    target.store.check()
    sent = [(one.id, dict(one.fields)) for one in documents(range(ROWS))]
    for _ in range(2):
        assert not target.store.put(documents(range(ROWS)))
    arrived = sorted(target.received(), key=lambda one: one[0])
    assert arrived == [one for one in sent for _ in range(2 if target.repeats else 1)]


def test_a_target_that_does_not_exist_is_told_before_data_flows(target):
    if target.nowhere is None:  # a web server is asked nothing before it is sent rows
        target.store.check()
        return
    with pytest.raises(ConfigError, match="nowhere"):
        target.nowhere.check()


def test_a_store_reaches_its_tasks_and_says_where_it_is(target):
    again = pickle.loads(pickle.dumps(target.store))
    assert again == target.store
    assert all([again.place, again.guarantee, again.dataset.name])
    assert not again.put([])


def test_messages_of_a_group_arrive_in_order(aws):
    with fifo_sqs(aws) as target:
        assert not target.store.put(documents(range(30)))
        arrived = [row["n"] for _, row in target.received()]
    for shop in range(3):
        own = [n for n in arrived if n % 3 == shop]
        assert own == sorted(own)
        assert len(own) == 10


def test_a_server_that_is_busy_gets_the_rows_later():
    with http_server() as (url, posted):
        posted.answers += [503, 429, 200]
        assert not connector("webhook").new_document_store({"url": url}).put(documents([1]))
        assert [row["n"] for _, row in unpacked(posted)] == [1]


def test_a_row_that_the_server_refuses_is_told_with_its_answer():
    with http_server() as (url, posted):
        posted.answers += [422, 200, 422, 200]
        store = connector("webhook").new_document_store({"url": url, "batchSize": 3})
        (refusal,) = store.put(documents([1, 2, 3]))
        assert (refusal.index, refusal.message.endswith("refuses it (HTTP 422: so it is).")) == (1, True)
        assert sorted(row["n"] for _, row in unpacked(posted)) == [1, 3]


def test_a_server_that_does_not_let_us_in_ends_the_write():
    with http_server() as (url, posted):
        posted.answers += [401]
        with pytest.raises(ConfigError, match=r"may not be used \(HTTP 401: so it is\)"):
            connector("webhook").new_document_store({"url": f"{url}?token=secret"}).put(documents([1]))


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("sqs", {}, "queueUrl or queueName is missing"),
        ("sns", {"topicArn": "orders"}, "topicArn is 'orders'; use the ARN of a topic"),
        ("firehose", {}, "deliveryStreamName is missing"),
        ("webhook", {"url": "ftp://x"}, "The url of the webhook begins with 'ftp'"),
        ("webhook", {"url": "http://x/", "method": "GET"}, "method is 'GET'; use one of POST, PUT"),
        ("webhook", {"url": "http://x/", "headers": "a: b"}, "headers is no JSON object"),
    ],
)
def test_wrong_options_are_told(kind, options, said):
    with pytest.raises(ConfigError, match=said):
        connector(kind).new_document_store(options)


def test_secrets_of_a_webhook_are_not_told():
    store = connector("webhook").new_document_store(
        {"url": "https://me:pass@host/p?token=abc", "headers": {"Authorization": "Bearer abc"}}
    )
    for text in (repr(store), store.place, str(store.dataset)):
        assert "abc" not in text
        assert "pass" not in text


def test_a_server_that_is_away_is_told(monkeypatch):
    monkeypatch.setattr("gluepot.connectors.documents.bulk.DEADLINE_SECS", 0.0)
    store = connector("webhook").new_document_store({"url": "http://127.0.0.1:9/rows"})
    with pytest.raises(TransientError, match="did not take 1 of 1 rows yet"):
        store.put(documents([1]))
