"""Shards that are split and merged at random while records arrive and queries end and begin: every record once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from uuid import uuid4

import boto3
import pytest

from gluepot.servers.kinesis import KinesisServer
from streaming import session
from tests.integration.conftest import Stream

SEED = int(os.environ.get("GLUEPOT_RESHARD_SEED", "20261121"))
RESHARDS, MOST_OPEN = 8, 5


@pytest.fixture
def stream(tmp_path, aws_credentials) -> Iterator[Stream]:
    with KinesisServer(tmp_path / "kinesis") as server:
        client = boto3.client("kinesis", endpoint_url=server.url, region_name="us-east-1")
        made = Stream(server.url, f"s-{uuid4().hex[:8]}", client)
        client.create_stream(StreamName=made.name, ShardCount=2)
        until_active(made)
        yield made


def until_active(stream: Stream) -> None:
    while stream.client.describe_stream_summary(StreamName=stream.name)["StreamDescriptionSummary"]["StreamStatus"] != (
        "ACTIVE"
    ):
        stream.rest(0.1)


def open_shards(stream: Stream) -> list[dict]:
    """Shards that take in records, in the order of their hash keys."""
    listed = stream.client.list_shards(StreamName=stream.name)["Shards"]
    living = [one for one in listed if "EndingSequenceNumber" not in one["SequenceNumberRange"]]
    return sorted(living, key=lambda one: int(one["HashKeyRange"]["StartingHashKey"]))


def reshard(stream: Stream, chance: Random) -> None:
    """Split a shard or merge two neighbours, and wait until that is done."""
    shards = open_shards(stream)
    if len(shards) > 1 and (len(shards) >= MOST_OPEN or chance.random() < 0.5):
        at = chance.randrange(len(shards) - 1)
        one, other = shards[at], shards[at + 1]
        stream.client.merge_shards(
            StreamName=stream.name, ShardToMerge=one["ShardId"], AdjacentShardToMerge=other["ShardId"]
        )
    else:
        one = chance.choice(shards)
        low, high = (int(one["HashKeyRange"][f"{end}HashKey"]) for end in ("Starting", "Ending"))
        middle = chance.randint(low + 1, high)
        stream.client.split_shard(StreamName=stream.name, ShardToSplit=one["ShardId"], NewStartingHashKey=str(middle))
    until_active(stream)


@contextmanager
def reshards(stream: Stream) -> Iterator[threading.Event]:
    """Reshard so many times; yields what is set when that is done."""
    done, failures = threading.Event(), []

    def run() -> None:
        chance = Random(SEED)
        try:
            for _ in range(RESHARDS):
                reshard(stream, chance)
                stream.rest(chance.uniform(0.0, 1.0))
        except Exception as error:  # noqa: BLE001  raised below, in the test
            failures.append(error)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield done
    finally:
        thread.join()
    if failures:
        raise failures[0]


def test_every_record_is_in_the_table_once(job, stream):
    print(f"seed {SEED}; GLUEPOT_RESHARD_SEED=N runs another one")
    told = {"connection_type": "kinesis", "windowSize": "0 seconds", "batchMaxRetries": 0}
    with stream.records_arriving() as sent, reshards(stream) as done:
        while not done.is_set():
            job.drain(stream.options(), drain=session.Drain(max_batches=4), **told)
    job.drain(stream.options(), **told)

    assert len(stream.client.list_shards(StreamName=stream.name)["Shards"]) >= 2 + RESHARDS
    assert sorted(n for (n,) in job.rows("n")) == sent
