from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

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

    def send_numbers(self, numbers: Iterable[int]) -> None:
        """Send a record `{"n": number}` for each; returns when the broker has them all."""
        self.send(json.dumps({"n": number}).encode() for number in numbers)

    def send(self, payloads: Iterable[bytes]) -> None:
        with_acks = KafkaProducer(bootstrap_servers=self.bootstrap, acks="all")
        for payload in payloads:
            with_acks.send(self.name, payload)
        with_acks.flush()
        with_acks.close()


def new_topic_at(bootstrap: str, name: str | None = None, partitions: int = 2) -> Topic:
    topic = Topic(bootstrap, name or f"e2e-{uuid4().hex[:8]}")
    create_topic(bootstrap, topic.name, partitions)
    return topic


@pytest.fixture
def topic(kafka: str) -> Topic:
    return new_topic_at(kafka)
