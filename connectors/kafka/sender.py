"""Sends records to a topic; all in-sync replicas acknowledge each record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from gluepot.connectors.kafka.broker import ADMIN_KEYS
from gluepot.connectors.kafka.client import with_callbacks
from gluepot.connectors.kafka.errors import from_kafka
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.values import Outgoing
from gluepot.core.errors import ConfigError, EtlError, TransientError

ANY_PARTITION = -1  # With this value of librdkafka the key decides the partition.
_GONE = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC})  # noqa: SLF001  librdkafka's own code


@dataclass(slots=True)
class Sent:
    """The result of sending records.

    Args:
        acknowledged: indices of the acknowledged records, in any order.
        error: why the other records were not acknowledged; None if all were.
    """

    acknowledged: list[int] = field(default_factory=list)
    error: EtlError | None = None


def producer_settings(settings: KafkaReadSettings, timeout_secs: float) -> dict[str, Any]:
    """Return the configuration of a producer for a cluster.

    Args:
        settings: give the bootstrap servers and the security settings.
        timeout_secs: how long the broker may take for a record.
    """
    client = {k: v for k, v in with_callbacks(settings.client).items() if k.startswith(ADMIN_KEYS)}
    return {
        **client,
        "enable.idempotence": True,  # This implies acks=all, and a record that the client sends twice is stored once.
        "delivery.timeout.ms": int(timeout_secs * 1000),
        "log_level": 0,
    }


class KafkaSender:
    """Sends to one cluster. A record that is not acknowledged may still have arrived.

    Args:
        settings: give the bootstrap servers and the security settings.
        timeout_secs: how long a call waits for the broker.
    """

    def __init__(self, settings: KafkaReadSettings, timeout_secs: float = 30.0) -> None:
        self._bootstrap = settings.bootstrap
        self._timeout_secs = timeout_secs
        self._producer = Producer(producer_settings(settings, timeout_secs))

    def cluster_of(self, topic: str) -> str:
        """Return the id of the cluster, and make sure that it has the topic.

        Raises:
            ConfigError: the topic does not exist.
            TransientError: the broker cannot be reached.
        """
        try:
            found = self._producer.list_topics(topic, timeout=self._timeout_secs)
        except KafkaException as failure:
            raise from_kafka(failure.args[0], f"looking up topic {topic}", self._bootstrap) from failure
        error = found.topics[topic].error
        if error is not None and error.code() in _GONE:
            raise ConfigError(f"Kafka at {self._bootstrap} has no topic {topic}; create it, or correct the name.")
        if error is not None:
            raise from_kafka(error, f"looking up topic {topic}", self._bootstrap)
        return str(found.cluster_id)

    def send(self, topic: str, records: Sequence[Outgoing]) -> Sent:
        """Send records in order and wait for the answers.

        There may be as many records as the client's queue takes, 100,000 by default.
        """
        sent = Sent()

        def answered(index: int, error: KafkaError | None) -> None:
            if error is None:
                sent.acknowledged.append(index)
            elif sent.error is None:
                sent.error = from_kafka(error, f"sending to topic {topic}", self._bootstrap)

        for index, record in enumerate(records):
            try:
                self._producer.produce(
                    topic or record.topic or "",
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    on_delivery=_answering(answered, index),
                    partition=ANY_PARTITION if record.partition is None else record.partition,
                )
            except KafkaException as refused:  # the client itself refuses a record that is too large
                answered(index, refused.args[0])
                break
        unanswered = self._producer.flush(self._timeout_secs)
        if unanswered and sent.error is None:
            sent.error = TransientError(
                f"Kafka at {self._bootstrap} did not acknowledge {unanswered} records within"
                f" {self._timeout_secs:.0f} s; check that the broker runs."
            )
        return sent


def _answering(answered: Any, index: int) -> Any:
    def on_delivery(error: KafkaError | None, _: Message) -> None:
        answered(index, error)

    return on_delivery
