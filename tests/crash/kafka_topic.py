"""A topic as the stream of a job, written by kafka-python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from kafka import KafkaProducer

from tests.crash.streams import Place, Source

ACK_SECS = 60


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A topic.

    Args:
        bootstrap: the broker.
        name: of the topic.
        partitions: how many it has.
    """

    bootstrap: str
    name: str
    partitions: int

    source: ClassVar[Source] = "kafka"
    env: ClassVar[Mapping[str, str]] = {}
    reshard: ClassVar[None] = None

    def options(self, batch_records: int) -> dict[str, str]:
        return {
            "bootstrap.servers": self.bootstrap,
            "topicName": self.name,
            "startingOffsets": "earliest",
            "classification": "json",
            "inferSchema": "true",
            "maxOffsetsPerTrigger": str(batch_records),
        }

    def sender(self, chance: Random) -> KafkaSender:
        return KafkaSender(self, chance)

    def parents(self) -> dict[str, Sequence[str]]:
        return {}


class KafkaSender:
    """Idempotent: a request that is sent again after a lost reply is no second record, so no record is in doubt."""

    def __init__(self, topic: KafkaTopic, chance: Random) -> None:
        self._client = KafkaProducer(
            bootstrap_servers=topic.bootstrap, acks="all", enable_idempotence=True, linger_ms=2
        )
        self._topic = topic
        self._chance = chance

    def send(self, payloads: Sequence[bytes]) -> list[Place | None]:
        sending = [
            self._client.send(self._topic.name, payload, partition=self._chance.randrange(self._topic.partitions))
            for payload in payloads
        ]
        self._client.flush()
        acknowledged = (future.get(ACK_SECS) for future in sending)
        return [Place(at.topic, str(at.partition), str(at.offset)) for at in acknowledged]

    def found(self, payloads: Sequence[bytes]) -> list[tuple[bytes, Place]]:
        assert not payloads
        return []

    def close(self) -> None:
        self._client.close()
