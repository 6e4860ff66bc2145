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
from gluepot.connectors.kinesis.positions import Positions
from gluepot.connectors.kinesis.source import kinesis_source
from gluepot.core.clock import SystemClock
from gluepot.servers.kinesis import KinesisServer
from tests.crash.kinesis_stream import KinesisStream
from tests.integration.conftest import Stream
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
def reading(stream: Stream, folder: Path, last: Positions | None = None) -> Iterator[Reading]:
    source = kinesis_source(stream.options(**BY_NAME, retryIntervalMs="50"), lambda *_: None).in_folder(folder)
    planner = KinesisPlanner(source.settings, folder, last, CLOCK)
    try:
        yield Reading(source, planner, last)
    finally:
        planner.close()


class Reading:
    """A query without Spark: what its batches hold."""

    def __init__(self, source, planner: KinesisPlanner, last: Positions | None) -> None:
        self.source, self.planner, self.last = source, planner, last
        self.numbers: list[int] = []
        self.ranges = []

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


def test_reshards_cuts_refusals_and_new_starts_lose_and_repeat_nothing(front, tmp_path):
    chance = random.Random(5)
    front.lasting_secs, front.again_secs, front.call_secs, front.event_records = 2.0, 0.5, 0.1, 7
    front.cut = lambda: chance.random() < 0.05
    codes = ["LimitExceededException", "ResourceInUseException"]
    front.refusal = lambda name: (
        (400, chance.choice(codes)) if name == "SubscribeToShard" and chance.random() < 0.2 else None
    )
    stream = new_stream(front.url, "broken", shards=2)
    reshard = KinesisStream(front.url, stream.name, stream.client).reshard
    numbers, last = [], None
    for start in range(0, 160, 40):
        with reading(stream, tmp_path, last) as query:
            stream.send_json(*numbered(start, start + 20))
            reshard(chance)
            stream.send_json(*numbered(start + 20, start + 40))
            numbers += query.until(chance.randrange(20, 40))
            last = query.last
    with reading(stream, tmp_path, last) as query:
        numbers += query.until(160 - len(numbers))

    assert sorted(numbers) == list(range(160))
    assert front.calls["RegisterStreamConsumer"] == 1
    assert "DeregisterStreamConsumer" not in front.calls


def test_a_job_writes_what_is_pushed_once(job, front):
    stream = new_stream(front.url, "job")
    told = {"connection_type": "kinesis", "windowSize": "0 seconds", "batchMaxRetries": 0}
    for start in (0, 20):
        stream.send_json(*numbered(start, start + 20))
        job.drain(stream.options(**BY_NAME), **told)

    assert sorted(n for (n,) in job.rows("n")) == list(range(40))


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
