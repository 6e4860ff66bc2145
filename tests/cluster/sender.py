"""A producer's client that goes on when brokers do not answer: kafka-python, idempotent, `acks=all`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from random import Random
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError

from tests.cluster.history import History
from tests.crash.kafka_topic import KafkaTopic
from tests.crash.streams import Place

ACK_SECS = 120
REQUEST_MS = 5_000
READ_MS = 20_000


class PatientSender:
    """Sends each record once; one whose answer did not come is looked for at the end.

    Args:
        topic: where to.
        chance: of the partitions.
        history: takes what was acknowledged.
    """

    def __init__(self, topic: KafkaTopic, chance: Random, history: History) -> None:
        self._topic = topic
        self._chance = chance
        self._history = history
        self._client = self._connected()

    def _connected(self) -> KafkaProducer:
        return KafkaProducer(
            bootstrap_servers=self._topic.bootstrap.split(","),
            acks="all",
            enable_idempotence=True,
            linger_ms=2,
            request_timeout_ms=REQUEST_MS,
            delivery_timeout_ms=ACK_SECS * 1000,
            max_block_ms=ACK_SECS * 1000,
        )

    def send(self, payloads: Sequence[bytes]) -> list[Place | None]:
        places = [self._place(future) for future in [self._sent(payload) for payload in payloads]]
        answered = list(zip(payloads, places, strict=True))
        good = [number for payload, place in answered if place and (number := number_of(payload)) is not None]
        self._history.note(
            "sent",
            ids=good,
            malformed=sum(place is not None for place in places) - len(good),
            unanswered=[number_of(payload) for payload, place in answered if place is None],
        )
        if None in places:  # what the client knows of the broker's state may be wrong now
            self._client.close(timeout=1)
            self._client = self._connected()
        return places

    def _sent(self, payload: bytes) -> Any:
        try:
            partition = self._chance.randrange(self._topic.partitions)
            return self._client.send(self._topic.name, payload, partition=partition)
        except KafkaError:
            return None

    def _place(self, future: Any) -> Place | None:
        if future is None:
            return None
        try:
            at = future.get(ACK_SECS + 5)
        except KafkaError:
            return None
        return Place(at.topic, str(at.partition), str(at.offset))

    def found(self, payloads: Sequence[bytes]) -> list[tuple[bytes, Place]]:
        """Look for records in the whole topic."""
        wanted = set(payloads)
        there = [
            (value, Place(self._topic.name, str(partition), str(offset)))
            for partition, offset, value in topic_records(self._topic)
            if value in wanted
        ]
        self._history.note("found", ids=[n for value, _ in there if (n := number_of(value)) is not None])
        return there

    def close(self) -> None:
        self._client.close(timeout=5)


def topic_records(topic: KafkaTopic) -> list[tuple[int, int, bytes]]:
    """Return partition, offset and value of every record."""
    consumer = KafkaConsumer(bootstrap_servers=topic.bootstrap.split(","), enable_auto_commit=False)
    with closing(consumer):
        places = [TopicPartition(topic.name, number) for number in range(topic.partitions)]
        consumer.assign(places)
        ends = consumer.end_offsets(places)
        consumer.seek_to_beginning(*places)
        found: list[tuple[int, int, bytes]] = []
        while any(consumer.position(place) < ends[place] for place in places):
            for place, records in consumer.poll(timeout_ms=READ_MS).items():
                found += [(place.partition, one.offset, one.value) for one in records]
        return found


def number_of(payload: bytes) -> int | None:
    """Return the number of a good record, None for a malformed one. Pure."""
    try:
        record = json.loads(payload)
    except ValueError:
        return None
    return int(record["id"]) if isinstance(record, dict) else None
