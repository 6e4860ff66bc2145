"""Sends records to a topic as fast as the client takes them, without waiting for each answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from gluepot.connectors.kafka.errors import from_kafka
from gluepot.connectors.kafka.sender import ANY_PARTITION, producer_settings
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.core.errors import EtlError, TransientError

LINGER_MS = 20
"""How long the client waits unless it is told otherwise. At the rates for which this is made, requests fill sooner."""
FULL_WAIT_SECS = 0.01
Taken = Callable[[int, int, int], None]
"""A function called for an acknowledged record with its number in order of sending from 0, partition and offset."""


class KafkaFeed:
    """Sends to one topic. A record that is not acknowledged may still have arrived.

    Args:
        settings: give the bootstrap servers and the security settings.
        topic: the topic to send to.
        partition: partition of the topic; with `ANY_PARTITION` the key decides, or chance for a record without a key.
        linger_ms: how long the client waits for a request to fill.
        taken: called for each acknowledged record. None halves the time; then only failures are reported.
        timeout_secs: how long the broker may take for a record.
    """

    def __init__(
        self,
        settings: KafkaReadSettings,
        topic: str,
        *,
        partition: int = ANY_PARTITION,
        linger_ms: float = LINGER_MS,
        taken: Taken | None = None,
        timeout_secs: float = 30.0,
    ) -> None:
        self._bootstrap, self._topic, self._partition = settings.bootstrap, topic, partition
        self._taken, self._timeout_secs = taken, timeout_secs
        self._sent = 0
        self._error: EtlError | None = None
        self._producer = Producer(
            {
                **producer_settings(settings, timeout_secs),
                "linger.ms": linger_ms,
                "delivery.report.only.error": taken is None,
                "on_delivery": partial(self._answered, None),
            }
        )

    def send(self, records: Iterable[tuple[bytes, bytes | None]]) -> None:
        """Give records, each a value and a key, to the client; wait if the client's queue is full.

        Raises:
            EtlError: the broker did not take one of the earlier records.
        """
        produce, topic, partition = self._producer.produce, self._topic, self._partition
        number = self._sent
        for value, key in records:
            told: dict[str, Any] = {} if self._taken is None else {"on_delivery": partial(self._answered, number)}
            while True:
                try:
                    produce(topic, value, key, partition, **told)
                except BufferError:
                    self._poll(FULL_WAIT_SECS)
                else:
                    break
            number += 1
        self._sent = number
        self._poll(0)

    def finish(self) -> int:
        """Wait for the last answers; return how many records were sent, each of them acknowledged.

        Raises:
            EtlError: the broker did not take a record, or not in time.
        """
        unanswered = self._producer.flush(self._timeout_secs)
        self._raise()
        if unanswered:
            raise TransientError(
                f"Kafka at {self._bootstrap} did not acknowledge {unanswered} records within"
                f" {self._timeout_secs:.0f} s; check that the broker runs."
            )
        return self._sent

    def _poll(self, secs: float) -> None:
        self._producer.poll(secs)
        self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _answered(self, number: int | None, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._error = self._error or from_kafka(error, f"sending to topic {self._topic}", self._bootstrap)
        elif self._taken is not None and number is not None:
            self._taken(number, message.partition() or 0, message.offset() or 0)
