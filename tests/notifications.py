"""Targets of notifications for tests: emulators of AWS's services and an HTTP server, and what has arrived there."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from uuid import uuid4

import boto3

REGION = "us-east-1"


Arrived = list[tuple[str, dict[str, Any]]]


@dataclass
class Target:
    """A target, and what tests need to know of it.

    Args:
        kind: connection type.
        options: of a write to it.
        received: returns id and row of everything that has arrived since the last call, by a client that is not the
            product's.
        elsewhere: options that change the target to one that does not exist; none if there is no way to tell.
        repeats: whether a repetition arrives again.
    """

    kind: str
    options: dict[str, str]
    received: Callable[[], Arrived]
    elsewhere: dict[str, str] = field(default_factory=dict)
    repeats: bool = True


@dataclass
class Aws:
    """An emulator of AWS's services."""

    url: str

    def client(self, service: str) -> Any:
        return boto3.client(service, endpoint_url=self.url, region_name=REGION)

    def at(self, **options: str) -> dict[str, str]:
        return {"endpointUrl": self.url, "region": REGION, **options}

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


def of_queue(aws: Aws, queue: str) -> Arrived:
    return [
        (one["MessageAttributes"]["gluepot_id"]["StringValue"], json.loads(one["Body"])) for one in aws.messages(queue)
    ]


@contextmanager
def sqs(aws: Aws) -> Iterator[Target]:
    queue = aws.queue()
    yield Target("sqs", aws.at(queueUrl=queue), lambda: of_queue(aws, queue), {"queueUrl": "", "queueName": "nowhere"})


@contextmanager
def fifo_sqs(aws: Aws) -> Iterator[Target]:
    queue = aws.queue(FifoQueue="true")
    options, nowhere = aws.at(queueUrl=queue, messageGroupId="shop"), {"queueUrl": "", "queueName": "nowhere.fifo"}
    yield Target("sqs", options, lambda: of_queue(aws, queue), nowhere, repeats=False)


@contextmanager
def sns(aws: Aws) -> Iterator[Target]:
    queue, client = aws.queue(), aws.client("sns")
    topic = client.create_topic(Name=f"t-{uuid4().hex[:8]}")["TopicArn"]
    client.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=aws.arn(queue), Attributes={"RawMessageDelivery": "true"})
    nowhere = {"topicArn": f"arn:aws:sns:{REGION}:123456789012:nowhere"}
    yield Target("sns", aws.at(topicArn=topic), lambda: of_queue(aws, queue), nowhere)


@contextmanager
def eventbridge(aws: Aws) -> Iterator[Target]:
    queue, client, bus = aws.queue(), aws.client("events"), f"bus-{uuid4().hex[:8]}"
    client.create_event_bus(Name=bus)
    client.put_rule(Name="all", EventBusName=bus, EventPattern=json.dumps({"source": ["shop"]}))
    client.put_targets(Rule="all", EventBusName=bus, Targets=[{"Id": "1", "Arn": aws.arn(queue)}])

    def received() -> Arrived:
        events = [json.loads(one["Body"]) for one in aws.messages(queue)]
        assert {one["detail-type"] for one in events} <= {"order"}
        return [(one["resources"][0].removeprefix("gluepot_id:"), one["detail"]) for one in events]

    options = aws.at(eventBusName=bus, source="shop", detailType="order")
    yield Target("eventbridge", options, received, {"eventBusName": "nowhere"})


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

    def received() -> Arrived:
        rows = []
        for entry in s3.list_objects_v2(Bucket=name).get("Contents", []):
            content = s3.get_object(Bucket=name, Key=entry["Key"])["Body"].read()
            content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
            rows += [json.loads(line) for line in content.splitlines()]
            s3.delete_object(Bucket=name, Key=entry["Key"])
        return [(row.pop("id"), row) for row in rows]

    options = aws.at(deliveryStreamName=name, idColumn="id")
    yield Target("firehose", options, received, {"deliveryStreamName": "nowhere"})


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


def unpacked(posted: Posted) -> Arrived:
    found = []
    for key, body in posted.requests:
        rows = body if isinstance(body, list) else [body]
        found += list(zip(key.split(","), rows, strict=True))
    posted.requests.clear()
    return found


@contextmanager
def webhook(_: Aws, batch_size: int = 1) -> Iterator[Target]:
    with http_server() as (url, posted):
        yield Target("webhook", {"url": url, "batchSize": str(batch_size)}, lambda: unpacked(posted))


@contextmanager
def webhook_of_lists(aws: Aws) -> Iterator[Target]:
    with webhook(aws, 10) as target:
        yield target


TARGETS = [sqs, fifo_sqs, sns, eventbridge, firehose, webhook, webhook_of_lists]
