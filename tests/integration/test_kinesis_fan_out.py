"""Enhanced fan-out through real connections: events that boto3 understands too, reshards, cuts, throttling, renewals."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3
import pytest

from gluepot.connectors.kinesis.planner import KinesisPlanner
from gluepot.connectors.kinesis.source import kinesis_source
from gluepot.core.clock import SystemClock
from gluepot.servers.kinesis import KinesisServer
from gluepot.streaming.query import session
from tests.integration.conftest import Stream
from tests.integration.test_kinesis_reshards import reshards
from tests.kinesis_fan_out import FanOut, fan_out

CLOCK = SystemClock()
WAIT_SECS = 60.0
BY_NAME = {"fanoutConsumerName": "job"}


@pytest.fixture(scope="module")
def emulator(tmp_path_factory, aws_credentials) -> Iterator[str]:
    with KinesisServer(tmp_path_factory.mktemp("kinesis")) as server:
        yield server.url


@pytest.fixture
def front(emulator) -> Iterator[FanOut]:
    with fan_out(emulator) as front:
        yield front


def new_stream(url: str, name: str, shards: int = 1) -> Stream:
    client = boto3.client("kinesis", endpoint_url=url, region_name="us-east-1")
    client.create_stream(StreamName=name, ShardCount=shards)
    client.get_waiter("stream_exists").wait(StreamName=name, WaiterConfig={"Delay": 1})
    return Stream(url, name, client)


@contextmanager
def reading(stream: Stream, folder: Path) -> Iterator[Reading]:
    source = kinesis_source(stream.options(**BY_NAME, retryIntervalMs="50"), lambda *_: None).in_folder(folder)
    planner = source.planner(None, CLOCK)
    try:
        yield Reading(source, planner)
    finally:
        planner.close()


class Reading:
    """A query without Spark: what its batches hold."""

    def __init__(self, source, planner: KinesisPlanner) -> None:
        self.source, self.planner = source, planner
        self.numbers: list[int] = []
        self.ranges = []
        self.last = None

    def until(self, count: int) -> list[int]:
        deadline = CLOCK.monotonic() + WAIT_SECS
        while len(self.numbers) < count and CLOCK.monotonic() < deadline:
            batch = self.planner.latest()
            if batch is self.last or not batch.width():
                CLOCK.sleep(0.02)
                continue
            self.last = batch
            for wanted in self.source.split(batch):
                self.ranges.append(wanted)
                self.numbers += self.values(wanted)
            self.planner.committed(batch)
        return self.numbers

    def values(self, wanted) -> list[int]:
        return [json.loads(v)["n"] for raw in self.source.reading().reader.read(wanted) for v in raw.values]


def numbered(start: int, end: int) -> list[dict[str, int]]:
    return [{"n": n} for n in range(start, end)]


def test_boto3_reads_the_events_of_the_server_that_these_tests_use(front):
    stream = new_stream(front.url, "boto3")
    stream.send_json(*numbered(0, 20))
    (shard,) = stream.client.list_shards(StreamName="boto3")["Shards"]
    summary = stream.client.describe_stream_summary(StreamName="boto3")["StreamDescriptionSummary"]
    register = {"StreamARN": summary["StreamARN"], "ConsumerName": "theirs"}
    arn = stream.client.register_stream_consumer(**register)["Consumer"]["ConsumerARN"]
    while stream.client.describe_stream_consumer(ConsumerARN=arn)["ConsumerDescription"]["ConsumerStatus"] != "ACTIVE":
        CLOCK.sleep(0.05)
    asked = {"ConsumerARN": arn, "ShardId": shard["ShardId"], "StartingPosition": {"Type": "TRIM_HORIZON"}}
    events = stream.client.subscribe_to_shard(**asked)["EventStream"]
    told = next(iter(events))["SubscribeToShardEvent"]

    assert [json.loads(one["Data"]) for one in told["Records"]] == numbered(0, 20)
    CLOCK.sleep(front.call_secs)
    with pytest.raises(stream.client.exceptions.ResourceInUseException):
        stream.client.subscribe_to_shard(**asked)
    events.close()


def test_a_batch_is_pushed_and_read_again_from_the_stream(front, tmp_path):
    stream = new_stream(front.url, "again")
    stream.send_json(*numbered(0, 20))
    with reading(stream, tmp_path) as query:
        assert query.until(20) == list(range(20))
        assert "GetRecords" not in front.calls
        pushed = {wanted: query.values(wanted) for wanted in query.ranges}
        for file in tmp_path.rglob("*.arrow"):
            file.unlink()
        assert {wanted: query.values(wanted) for wanted in query.ranges} == pushed
        assert front.calls["GetRecords"]


def test_subscriptions_that_end_break_and_are_refused_lose_and_repeat_nothing(front, tmp_path):
    chance = random.Random(5)
    front.lasting_secs, front.event_records = 5.5, 7
    front.cut = lambda: chance.random() < 0.02
    codes = ["LimitExceededException", "ResourceInUseException"]
    front.refusal = lambda name: (
        (400, chance.choice(codes)) if name == "SubscribeToShard" and chance.random() < 0.2 else None
    )
    stream = new_stream(front.url, "broken", shards=2)
    with reading(stream, tmp_path) as query:
        for start in range(0, 200, 20):
            stream.send_json(*numbered(start, start + 20))
            CLOCK.sleep(0.7)
        assert sorted(query.until(200)) == list(range(200))
    assert front.continued > 0


def test_every_record_is_in_the_table_once_while_shards_are_split_and_merged(job, front):
    chance = random.Random(3)
    front.lasting_secs, front.again_secs, front.call_secs, front.poll_secs = 2.0, 0.5, 0.1, 0.05
    front.cut = lambda: chance.random() < 0.02
    stream = new_stream(front.url, "resharded", shards=2)
    told = {"connection_type": "kinesis", "windowSize": "0 seconds", "batchMaxRetries": 0}
    with stream.records_arriving() as sent, reshards(stream) as done:
        while not done.is_set():
            job.drain(stream.options(**BY_NAME), drain=session.Drain(max_batches=4), **told)
    job.drain(stream.options(**BY_NAME), **told)

    assert sorted(n for (n,) in job.rows("n")) == sent
    assert front.calls["RegisterStreamConsumer"] == 1
    assert "DeregisterStreamConsumer" not in front.calls


def test_an_emulator_that_never_tells_of_a_shards_end_is_read_to_its_end(emulator, tmp_path):
    stream = new_stream(emulator, "simple")
    stream.send_json(*numbered(0, 20))
    with reading(stream, tmp_path) as query:
        query.until(20)
        (shard,) = stream.client.list_shards(StreamName="simple")["Shards"]
        stream.client.split_shard(StreamName="simple", ShardToSplit=shard["ShardId"], NewStartingHashKey=str(1 << 127))
        stream.client.get_waiter("stream_exists").wait(StreamName="simple", WaiterConfig={"Delay": 1})
        stream.send_json(*numbered(20, 40))
        assert sorted(query.until(40)) == list(range(40))
