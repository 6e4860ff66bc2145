"""python -m benchmarks.stores [rows]: rows per second into DynamoDB and SQS, ours and boto3's, and the ratio.

One process; the two take turns with the same rows, and the median of seven ratios counts. A server of our own answers
each call at once and keeps nothing, so that only the clients are measured: a real service is slower, and then both
sides wait for it. Ours begins with an Arrow chunk, as in a task: it makes values, ids and items of it. boto3 begins
with rows that are Python values, and puts them with `batch_writer`, or ten at a time with `send_message_batch`.
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
import pyarrow as pa

from gluepot.connectors.documents.sink import UnrecordedSink
from gluepot.connectors.registry import connector
from gluepot.connectors.values import CommitKey
from gluepot.frames.chunk import Chunk

RUNS = 7
CHUNK_ROWS = 5_000
REGION = "us-east-1"
TABLE = {
    "Table": {
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "N"}],
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
    }
}


class Handler(BaseHTTPRequestHandler):
    """Says that everything was taken."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer in two packets would wait for the client's delayed acknowledgement

    def do_POST(self) -> None:
        """Answer a call."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        match self.headers["X-Amz-Target"].rpartition(".")[2]:
            case "DescribeTable":
                answer: dict[str, Any] = TABLE
            case "BatchWriteItem":
                answer = {"UnprocessedItems": {}}
            case _:
                entries = json.loads(body)["Entries"]
                done = [{"Id": one["Id"], "MessageId": "m", "MD5OfMessageBody": ""} for one in entries]
                answer = {"Successful": done, "Failed": []}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def server() -> Iterator[str]:
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


def rows_of(count: int) -> pa.RecordBatch:
    """Return rows of some 150 bytes."""
    numbers = range(count)
    return pa.record_batch(
        {
            "id": pa.array(numbers, pa.int64()),
            "customer": pa.array([f"customer-{n % 1009}" for n in numbers]),
            "amount": pa.array([Decimal(n % 100_000) / 100 for n in numbers], pa.decimal128(12, 2)),
            "paid": pa.array([n % 3 == 0 for n in numbers]),
            "tags": pa.array([["a", "b", str(n % 7)] for n in numbers]),
            "address": pa.array([{"city": f"city {n % 97}", "zip": str(n % 9973)} for n in numbers]),
        }
    )


def ours(kind: str, options: dict[str, Any], batch: pa.RecordBatch) -> Callable[[], object]:
    """Return what a task does with the rows."""
    store = connector(kind).new_document_store(options)

    def put() -> None:
        chunks = (Chunk(batch.slice(at, CHUNK_ROWS)) for at in range(0, batch.num_rows, CHUNK_ROWS))
        UnrecordedSink(store, CommitKey("q", 0, "write")).write(chunks, 0, "a")

    return put


def dynamodb_client(url: str, rows: list[dict[str, Any]]) -> Callable[[], object]:
    """Return the loop with boto3's own writer of batches."""
    table = boto3.resource("dynamodb", endpoint_url=url, region_name=REGION).Table("orders")

    def put() -> None:
        with table.batch_writer() as batch:
            for row in rows:
                batch.put_item(Item=row)

    return put


def sqs_client(url: str, rows: list[dict[str, Any]]) -> Callable[[], object]:
    """Return the loop that sends ten messages at a time."""
    client = boto3.client("sqs", endpoint_url=url, region_name=REGION)

    def put() -> None:
        for at in range(0, len(rows), 10):
            some = rows[at : at + 10]
            entries = [{"Id": str(n), "MessageBody": json.dumps(row, default=str)} for n, row in enumerate(some)]
            client.send_message_batch(QueueUrl=f"{url}/123/orders", Entries=entries)

    return put


def measure(name: str, sides: dict[str, Callable[[], object]], rows: int) -> None:
    """Run the sides in turns and print the medians."""
    secs: dict[str, list[float]] = {side: [] for side in sides}
    for run in range(RUNS + 1):
        for side, put in sides.items():
            began = time.perf_counter()
            put()
            if run:  # the first warms up
                secs[side].append(time.perf_counter() - began)
    for side, taken in secs.items():
        print(f"{name:>8} {side:>5}: {rows / statistics.median(taken):>8,.0f} rows/s")
    ratio = statistics.median(theirs / our for our, theirs in zip(secs["ours"], secs["boto3"], strict=True))
    print(f"{name:>8} ratio: {ratio:.2f} (goal 0.8)")


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    os.environ.update(AWS_ACCESS_KEY_ID="testing", AWS_SECRET_ACCESS_KEY="testing")
    batch = rows_of(count)
    rows = batch.to_pylist()
    with server() as url:
        where = {"endpointUrl": url, "region": REGION}
        measure(
            "dynamodb",
            {
                "ours": ours("dynamodb", {"dynamodb.output.tableName": "orders", **where}, batch),
                "boto3": dynamodb_client(url, rows),
            },
            count,
        )
        measure(
            "sqs",
            {
                "ours": ours("sqs", {"queueUrl": f"{url}/123/orders", **where}, batch),
                "boto3": sqs_client(url, rows),
            },
            count,
        )


if __name__ == "__main__":
    main()
