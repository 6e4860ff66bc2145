from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
from kafka import KafkaProducer

from gluepot.servers.topics import create_topic
from tests.e2e.jobs import Launcher, launcher


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launcher]:
    with launcher(tmp_path) as start:
        yield start


@dataclass(frozen=True)
class Topic:
    """A topic of one test, written by a client that is not the product's."""

    bootstrap: str
    name: str

    def options(self) -> dict[str, str]:
        """The connection options of a job that reads all of it."""
        return {"bootstrap.servers": self.bootstrap, "topicName": self.name, "startingOffsets": "earliest"}

    def send_numbers(self, numbers: Iterable[int]) -> None:
        """Send a record `{"n": number}` for each; returns when the broker has them all."""
        self.send(json.dumps({"n": number}).encode() for number in numbers)

    def send(self, payloads: Iterable[bytes]) -> None:
        with_acks = KafkaProducer(bootstrap_servers=self.bootstrap, acks="all")
        for payload in payloads:
            with_acks.send(self.name, payload)
        with_acks.flush()
        with_acks.close()


@dataclass(frozen=True)
class KinesisStream:
    """A stream of one test, written by boto3."""

    endpoint: str
    name: str

    @classmethod
    def at(cls, endpoint: str) -> KinesisStream:
        stream = cls(endpoint, f"e2e-{uuid4().hex[:8]}")
        stream._client().create_stream(StreamName=stream.name, ShardCount=2)
        stream._client().get_waiter("stream_exists").wait(StreamName=stream.name, WaiterConfig={"Delay": 1})
        return stream

    def options(self) -> dict[str, str]:
        """The connection options of a job that reads all of it."""
        return {"streamName": self.name, "endpointUrl": self.endpoint, "startingPosition": "TRIM_HORIZON"}

    def send(self, payloads: Iterable[bytes]) -> None:
        records = [{"Data": payload, "PartitionKey": str(n)} for n, payload in enumerate(payloads)]
        assert not self._client().put_records(StreamName=self.name, Records=records)["FailedRecordCount"]

    def _client(self) -> Any:
        return boto3.client("kinesis", endpoint_url=self.endpoint, region_name="us-east-1")


def new_topic_at(bootstrap: str, name: str | None = None, partitions: int = 2) -> Topic:
    topic = Topic(bootstrap, name or f"e2e-{uuid4().hex[:8]}")
    create_topic(bootstrap, topic.name, partitions)
    return topic


@pytest.fixture
def topic(kafka: str) -> Topic:
    return new_topic_at(kafka)
