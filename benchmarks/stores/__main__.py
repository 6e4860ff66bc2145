"""Puts the same rows into a store with the sink and with the store's own client, in turns, and prints the ratio.

`python -m benchmarks.stores STORE [ROWS] [TURNS]`, and without a store the names of all. The sink gets Arrow chunks as
a task does. The client gets Python's values, which it would have to make of such chunks first, as many at a time as the
sink sends. MongoDB and OpenSearch are the servers of the tests. For the others a server of our own answers each call at
once and keeps nothing, so that only the clients are measured: a real service is slower, and then both wait for it.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import pymongo
import urllib3
from opensearchpy import OpenSearch
from opensearchpy.helpers import bulk

from gluepot.connectors.contracts import DocumentStore
from gluepot.connectors.documents.sink import UnrecordedSink
from gluepot.connectors.registry import connector
from gluepot.connectors.values import CommitKey
from gluepot.frames.chunk import Chunk
from gluepot.frames.objects import batch_from_objects
from tests.mongodb import mongodb_endpoint
from tests.opensearch import opensearch_endpoint

CHUNK_ROWS = 8192
KEY = CommitKey("benchmark", 0, "put")
REGION = "us-east-1"
TABLE = {
    "Table": {
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
    }
}


Rows = list[dict[str, Any]]
Put = Callable[[Rows], None]


class Handler(BaseHTTPRequestHandler):
    """Says that everything was taken."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer in two packets would wait for the client's delayed acknowledgement

    def do_POST(self) -> None:
        """Answer a call."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        content = self._answer(self.headers.get("X-Amz-Target", "").rpartition(".")[2], body)
        self.send_response(200)
        self.send_header("Content-Type", "text/xml" if content.startswith(b"<") else "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _answer(self, action: str, body: bytes) -> bytes:
        match action:
            case "DescribeTable":
                return json.dumps(TABLE).encode()
            case "BatchWriteItem":
                return b'{"UnprocessedItems": {}}'
            case "PutEvents":
                done = [{"EventId": "e"} for _ in json.loads(body)["Entries"]]
                return json.dumps({"FailedEntryCount": 0, "Entries": done}).encode()
            case "PutRecordBatch":
                done = [{"RecordId": "r"} for _ in json.loads(body)["Records"]]
                return json.dumps({"FailedPutCount": 0, "RequestResponses": done}).encode()
            case "SendMessageBatch":
                entries = json.loads(body)["Entries"]
                done = [{"Id": one["Id"], "MessageId": "m", "MD5OfMessageBody": ""} for one in entries]
                return json.dumps({"Successful": done, "Failed": []}).encode()
            case _ if b"Action=PublishBatch" in body:
                entry = "<member><Id>%d</Id><MessageId>m</MessageId></member>"
                members = "".join(entry % at for at in range(body.count(b".Message=")))
                result = f"<PublishBatchResult><Successful>{members}</Successful><Failed/></PublishBatchResult>"
                return f"<PublishBatchResponse>{result}</PublishBatchResponse>".encode()
            case _:
                return b""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def taking_server() -> Iterator[str]:
    """Run the server in a process of its own; yield its URL."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        os.write(writing, str(made.server_port).encode())
        made.serve_forever()
    port = os.read(reading, 10).decode()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def _parts(rows: Rows, size: int) -> Iterator[Rows]:
    """Yield rows so many at a time, as a call takes them."""
    for at in range(0, len(rows), size):
        yield rows[at : at + size]


@contextmanager
def dynamodb() -> Iterator[tuple[DocumentStore, Put]]:
    """Yield our store, and a function that puts rows by boto3's own writer of batches."""
    with taking_server() as url:
        table = boto3.resource("dynamodb", endpoint_url=url, region_name=REGION).Table("orders")

        def put(rows: Rows) -> None:
            with table.batch_writer() as batch:
                for row in rows:
                    batch.put_item(Item=row)

        options = {"dynamodb.output.tableName": "orders", "endpointUrl": url, "region": REGION}
        yield connector("dynamodb").new_document_store(options), put


@contextmanager
def sqs() -> Iterator[tuple[DocumentStore, Put]]:
    """Yield our store, and a function that sends ten messages at a time by boto3."""
    with taking_server() as url:
        client, queue = boto3.client("sqs", endpoint_url=url, region_name=REGION), f"{url}/123/orders"

        def put(rows: Rows) -> None:
            for some in _parts(rows, 10):
                entries = [{"Id": str(n), "MessageBody": json.dumps(row, default=str)} for n, row in enumerate(some)]
                client.send_message_batch(QueueUrl=queue, Entries=entries)

        yield connector("sqs").new_document_store({"queueUrl": queue, "endpointUrl": url, "region": REGION}), put


@contextmanager
def sns() -> Iterator[tuple[DocumentStore, Put]]:
    """Yield our store, and a function that publishes ten messages at a time by boto3."""
    with taking_server() as url:
        client, topic = boto3.client("sns", endpoint_url=url, region_name=REGION), f"arn:aws:sns:{REGION}:123:orders"

        def put(rows: Rows) -> None:
            for some in _parts(rows, 10):
                entries = [{"Id": str(n), "Message": json.dumps(row)} for n, row in enumerate(some)]
                client.publish_batch(TopicArn=topic, PublishBatchRequestEntries=entries)

        yield connector("sns").new_document_store({"topicArn": topic, "endpointUrl": url, "region": REGION}), put


@contextmanager
def eventbridge() -> Iterator[tuple[DocumentStore, Put]]:
    """Yield our store, and a function that puts ten events at a time by boto3."""
    with taking_server() as url:
        client = boto3.client("events", endpoint_url=url, region_name=REGION)

        def put(rows: Rows) -> None:
            for some in _parts(rows, 10):
                events = [{"Source": "s", "DetailType": "row", "Detail": json.dumps(row)} for row in some]
                client.put_events(Entries=events)

        yield connector("eventbridge").new_document_store({"endpointUrl": url, "region": REGION}), put


@contextmanager
def firehose() -> Iterator[tuple[DocumentStore, Put]]:
    """Yield our store, and a function that puts 500 records at a time by boto3."""
    with taking_server() as url:
        client = boto3.client("firehose", endpoint_url=url, region_name=REGION)

        def put(rows: Rows) -> None:
            for some in _parts(rows, 500):
                records = [{"Data": json.dumps(row).encode() + b"\n"} for row in some]
                client.put_record_batch(DeliveryStreamName="orders", Records=records)

        options = {"deliveryStreamName": "orders", "endpointUrl": url, "region": REGION}
        yield connector("firehose").new_document_store(options), put


@contextmanager
def webhook() -> Iterator[tuple[DocumentStore, Put]]:
    """Yield our store, and a function that posts one row at a time by urllib3."""
    with taking_server() as url, urllib3.PoolManager() as pool:
        headers = {"Content-Type": "application/json"}

        def put(rows: Rows) -> None:
            for row in rows:
                pool.request("POST", url, body=json.dumps(row), headers={**headers, "Idempotency-Key": row["id"]})

        yield connector("webhook").new_document_store({"url": url}), put


@contextmanager
def mongodb() -> Iterator[tuple[DocumentStore, Put]]:
    """Yield our store, and a function that puts rows by pymongo."""
    with mongodb_endpoint() as uri, pymongo.MongoClient(uri) as client:

        def put(rows: Rows) -> None:
            for some in _parts(rows, 512):
                writes = [pymongo.ReplaceOne({"_id": row["id"]}, row, upsert=True) for row in some]
                client["benchmark"]["client"].bulk_write(writes, ordered=False)

        options = {"connection.uri": uri, "database": "benchmark", "collection": "sink"}
        yield connector("mongodb").new_document_store(options), put


@contextmanager
def opensearch() -> Iterator[tuple[DocumentStore, Put]]:
    """Yield our store, and a function that puts rows by opensearch-py."""
    with opensearch_endpoint() as url:
        client = OpenSearch([url])

        def put(rows: Rows) -> None:
            bulk(client, ({"_index": "client", "_id": row["id"], "_source": row} for row in rows), chunk_size=1000)

        options = {"opensearch.nodes": url, "opensearch.resource": "sink", "opensearch.mapping.id": "id"}
        yield connector("opensearch").new_document_store(options), put


STORES = {
    "dynamodb": dynamodb,
    "sqs": sqs,
    "sns": sns,
    "eventbridge": eventbridge,
    "firehose": firehose,
    "webhook": webhook,
    "mongodb": mongodb,
    "opensearch": opensearch,
}


def main(kind: str, count: int = 50_000, turns: int = 5) -> None:
    """Print rows in a second of both sides, and their ratio; the first turn warms the server and does not count."""
    number = Decimal if kind == "dynamodb" else float  # boto3 takes no floats, and pymongo no decimals
    rows = [
        {
            "id": f"{n:032x}",
            "n": n,
            "text": f"row {n}",
            "ratio": number(n) / 4,
            "kind": ("a", "b", "c")[n % 3],
            "flag": n % 2 == 0,
        }
        for n in range(count)
    ]
    os.environ.update(AWS_ACCESS_KEY_ID="testing", AWS_SECRET_ACCESS_KEY="testing")
    chunks = [Chunk(batch_from_objects(rows[at : at + CHUNK_ROWS])) for at in range(0, count, CHUNK_ROWS)]
    with STORES[kind]() as (store, put):
        sides: dict[str, Callable[[], object]] = {
            "client": lambda: put(rows),
            "sink": lambda: UnrecordedSink(store, KEY).write(iter(chunks), 0, "a"),
        }
        found: dict[str, list[float]] = {name: [] for name in sides}
        for turn in range(turns + 1):
            for name, run in sides.items():
                began = time.perf_counter()
                run()
                if turn:
                    found[name].append(count / (time.perf_counter() - began))
    for name, rates in found.items():
        print(f"{name}: {statistics.median(rates):,.0f} rows/s ({min(rates):,.0f} to {max(rates):,.0f})")
    ratios = [sink / client for sink, client in zip(found["sink"], found["client"], strict=True)]
    print(f"ratio: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    if sys.argv[1:2] not in [[name] for name in STORES]:
        raise SystemExit(f"Name one of {', '.join(STORES)}.")
    main(sys.argv[1], *map(int, sys.argv[2:]))
