"""Enhanced fan-out by AWS's rules, in front of an emulator of Kinesis that has only GetRecords or simpler rules.

What the API reference says of SubscribeToShard holds: a second subscription of a consumer to a shard is refused within
five seconds and takes over later; there is one call a second; a subscription ends after five minutes; its last event
names the shard's children. The continuation sequence numbers are numbers that no record has, as they may be. All other
calls are passed on, and GetRecords may be limited as it is for a shard of AWS.

`python -m tests.kinesis_fan_out URL` runs one until its input ends. GET answers the numbers of calls, as JSON.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
import threading
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import urllib3

from gluepot.core.clock import SystemClock

Refusal = tuple[int, str]
"""Status and code."""

CLOCK = SystemClock()
IN_USE = (400, "ResourceInUseException")
EVENT = "SubscribeToShardEvent"
KEPT_HEADERS = ("Content-Type", "Authorization", "X-Amz-Date")


class RefusedCall(Exception):
    """A call that the server refuses."""

    def __init__(self, status: int, code: str, message: str = "") -> None:
        super().__init__(code)
        self.status, self.body = status, json.dumps({"__type": code, "message": message}).encode()


def message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Encode a message of an event stream."""
    block = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(block) + len(payload), len(block))
    whole = prelude + struct.pack(">I", zlib.crc32(prelude)) + block + payload
    return whole + struct.pack(">I", zlib.crc32(whole))


def event_message(kind: str, content: Mapping[str, Any]) -> bytes:
    """Encode an event."""
    about = {":message-type": "event", ":event-type": kind, ":content-type": "application/json"}
    return message(about, json.dumps(content).encode())


def exception_message(code: str, text: str) -> bytes:
    """Encode an exception that ends a stream."""
    about = {":message-type": "exception", ":exception-type": code, ":content-type": "application/json"}
    return message(about, json.dumps({"message": text}).encode())


@dataclass
class FanOut:
    """A running server.

    Args:
        url: for clients.
        again_secs: how long a second subscription is refused.
        call_secs: time between two calls for a consumer and shard.
        lasting_secs: how long a subscription lasts.
        heartbeat_secs: longest time without an event.
        poll_secs: how often the server looks for new records that were not sent through it.
        event_records: largest number of records of an event.
        reads_per_sec: how many GetRecords calls a second a shard answers; None for any number.
        refusal: called with each operation; returns what refuses it.
        cut: called with each event; True breaks the connection in the middle of it.
        calls: calls by operation.
        events: number of events.
        continued: subscriptions from a continuation sequence number.
    """

    url: str = ""
    again_secs: float = 5.0
    call_secs: float = 1.0
    lasting_secs: float = 300.0
    heartbeat_secs: float = 5.0
    poll_secs: float = 0.5
    event_records: int = 1000
    reads_per_sec: int | None = None
    refusal: Callable[[str], Refusal | None] = lambda _: None
    cut: Callable[[], bool] = lambda: False
    calls: Counter[str] = field(default_factory=Counter)
    events: int = 0
    continued: int = 0
    closing: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    puts: int = 0
    _put: threading.Condition = field(default_factory=threading.Condition)
    _begun: dict[tuple[str, str], tuple[float, threading.Event]] = field(default_factory=dict)
    _shards: dict[str, str] = field(default_factory=dict)
    _reads: dict[str, deque[float]] = field(default_factory=dict)
    _called: dict[tuple[str, str], float] = field(default_factory=dict)
    _behind: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def put(self) -> None:
        """Wake the subscriptions, since records have come."""
        with self._put:
            self.puts += 1
            self._put.notify_all()

    def wait(self, puts: int) -> None:
        """Wait for records that come after so many calls, or until it is time to look for others."""
        with self._put:
            self._put.wait_for(lambda: self.puts != puts or self.closing.is_set(), self.poll_secs)

    def check(self, operation: str) -> None:
        """Refuse a call that is to be refused."""
        if refused := self.refusal(operation):
            raise RefusedCall(*refused, "made up")

    def read(self, iterator: str, answer: Callable[[], bytes]) -> bytes:
        """Answer a GetRecords call, within the limit of its shard."""
        if self.reads_per_sec is None:
            return answer()
        now = CLOCK.monotonic()
        with self.lock:
            shard = self._shards.pop(iterator, "")
            reads = self._reads.setdefault(shard, deque())
            while reads and now - reads[0] >= 1.0:
                reads.popleft()
            if len(reads) >= self.reads_per_sec:
                self._shards[iterator] = shard
                self.calls["GetRecords, refused"] += 1
                raise RefusedCall(400, "ProvisionedThroughputExceededException", "Rate exceeded for shard")
            reads.append(now)
        body = answer()
        self.know(json.loads(body).get("NextShardIterator") or "", shard)
        return body

    def know(self, iterator: str, shard: str) -> None:
        """Remember whose iterator this is."""
        with self.lock:
            self._shards[iterator] = shard

    def take(self, consumer: str, shard: str) -> threading.Event:
        """Give a subscription to the caller; the event is set when another takes it over."""
        now = CLOCK.monotonic()
        with self.lock:
            key = consumer, shard
            called, self._called[key] = self._called.get(key), now
            if called is not None and now - called < self.call_secs:
                raise RefusedCall(400, "LimitExceededException", "more than one call in a second")
            began, taken = self._begun.get(key, (0.0, threading.Event()))
            if began and now - began < self.again_secs:
                raise RefusedCall(*IN_USE, "Another active subscription exists for this consumer")
            taken.set()
            self._begun[key] = now, threading.Event()
            return self._begun[key][1]

    def place(self, position: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the place for GetShardIterator."""
        with self.lock:
            known = self._behind.get(position.get("SequenceNumber", ""))
            if known is not None:
                self.continued += 1
                return known
        names = {"Type": "ShardIteratorType", "SequenceNumber": "StartingSequenceNumber", "Timestamp": "Timestamp"}
        return {names[name]: value for name, value in position.items()}

    def continuation(self, place: Mapping[str, Any], last: str) -> tuple[str, Mapping[str, Any]]:
        """Return a number behind a record, or for a place before the first one."""
        if last:
            place = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": last}
        with self.lock:
            number = str(int(last or 0) + 1) if last else str(10**40 + len(self._behind))
            self._behind[number] = place
            return number, place


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    front: FanOut
    upstream: str
    pool: urllib3.PoolManager

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        operation = self.headers["X-Amz-Target"].rpartition(".")[2]
        with self.front.lock:
            self.front.calls[operation] += 1
        try:
            self.front.check(operation)
            if operation == "SubscribeToShard":
                self._subscribe(json.loads(body))
            elif operation == "GetRecords":
                iterator = json.loads(body)["ShardIterator"]
                self._answer(200, self.front.read(iterator, lambda: self._call(operation, body)))
            else:
                answer = self._call(operation, body)
                if operation == "GetShardIterator":
                    self.front.know(json.loads(answer)["ShardIterator"], json.loads(body)["ShardId"])
                if operation.startswith("PutRecord"):
                    self.front.put()
                self._answer(200, answer)
        except RefusedCall as refused:
            self._answer(refused.status, refused.body)
        except OSError:
            self.close_connection = True

    def do_GET(self) -> None:
        with self.front.lock:
            self._answer(200, json.dumps(self.front.calls).encode())

    def _call(self, operation: str, body: bytes) -> bytes:
        headers = {name: self.headers[name] for name in KEPT_HEADERS if name in self.headers}
        headers["X-Amz-Target"] = f"Kinesis_20131202.{operation}"
        answer = self.pool.request("POST", self.upstream, body=body, headers=headers)
        if answer.status != 200:
            refused = RefusedCall(answer.status, "")
            refused.body = answer.data
            raise refused
        return bytes(answer.data)

    def _ask(self, operation: str, **parameters: Any) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._call(operation, json.dumps(parameters).encode()) or b"{}")
        return found

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _subscribe(self, asked: Mapping[str, Any]) -> None:
        front, consumer, shard = self.front, asked["ConsumerARN"], asked["ShardId"]
        described = self._ask("DescribeStreamConsumer", ConsumerARN=consumer)["ConsumerDescription"]
        if described["ConsumerStatus"] != "ACTIVE":
            raise RefusedCall(*IN_USE, "the consumer is not ACTIVE")
        stream = {"StreamName": consumer.partition(":stream/")[2].partition("/")[0]}
        place = front.place(asked["StartingPosition"])
        at = self._ask("GetShardIterator", **stream, ShardId=shard, **place)["ShardIterator"]
        taken = front.take(consumer, shard)
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.amazon.eventstream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._send(event_message("initial-response", {}))
        ends = CLOCK.monotonic() + front.lasting_secs
        said = 0.0
        while CLOCK.monotonic() < ends and not front.closing.is_set():
            if taken.is_set():
                self._send(exception_message("ResourceInUseException", "another subscription took over"))
                break
            puts = front.puts
            answer = self._ask("GetRecords", ShardIterator=at, Limit=front.event_records)
            at, records = answer.get("NextShardIterator"), answer["Records"]
            if not records and at and CLOCK.monotonic() - said < front.heartbeat_secs:
                front.wait(puts)
                continue
            number, place = front.continuation(place, records[-1]["SequenceNumber"] if records else "")
            told: dict[str, Any] = {"Records": records, "MillisBehindLatest": answer["MillisBehindLatest"]}
            told |= {"ContinuationSequenceNumber": number} if at else {"ChildShards": self._children(stream, shard)}
            if not self._tell(told):
                return
            said = CLOCK.monotonic()
            if not at:
                break
        self.wfile.write(b"0\r\n\r\n")

    def _tell(self, told: Mapping[str, Any]) -> bool:
        """Send an event; False if the connection is broken in the middle of it."""
        with self.front.lock:
            self.front.events += 1
            cut = self.front.cut()
        whole = event_message(EVENT, told)
        if cut:
            self.wfile.write(b"%x\r\n%s" % (len(whole), whole[: len(whole) // 2]))
            self.close_connection = True
            return False
        self._send(whole)
        return True

    def _send(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))

    def _children(self, stream: Mapping[str, str], shard: str) -> list[dict[str, Any]]:
        children = []
        for one in self._ask("ListShards", **stream)["Shards"]:
            parents = [one[name] for name in ("ParentShardId", "AdjacentParentShardId") if one.get(name)]
            if shard in parents:
                children.append(
                    {"ShardId": one["ShardId"], "ParentShards": parents, "HashKeyRange": one["HashKeyRange"]}
                )
        return children

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name in the base class
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients may be killed at any moment."""


@contextmanager
def fan_out(server_url: str, **rules: Any) -> Iterator[FanOut]:
    """Run a server on loopback for as long as the context lasts.

    Args:
        server_url: the emulator that has the streams.
        rules: see `FanOut`.
    """
    front = FanOut(**rules)
    with urllib3.PoolManager(maxsize=50) as pool:
        about = {"front": front, "upstream": server_url + "/", "pool": pool}
        server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), about))
        front.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield front
        finally:
            front.closing.set()
            front.put()
            server.shutdown()
            with suppress(OSError):
                server.server_close()
            thread.join()


def main() -> None:
    """Run one until its input ends; prints its URL."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--reads-per-sec", type=int)
    asked = parser.parse_args()
    with fan_out(asked.url, reads_per_sec=asked.reads_per_sec) as front:
        print(front.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
