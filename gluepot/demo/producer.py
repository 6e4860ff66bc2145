"""Sending events at a steady rate."""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import KafkaError, Message, Producer

from etlcore.clock import Clock
from etlcore.errors import TransientError
from gluepot.demo.events import Event

SLICES_PER_SEC = 20
FULL_WAIT_SECS = 0.1


class SteadyProducer:
    """Sends events with acknowledgement, so many a second, and counts what the broker has.

    Args:
        bootstrap: `host:port`.
        topic: where to.
        rate: events a second.
        clock: paces the sending.
    """

    def __init__(self, bootstrap: str, topic: str, rate: int, clock: Clock) -> None:
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True, "log_level": 0}
        )
        self._topic = topic
        self._rate = rate
        self._clock = clock
        self.acknowledged = 0

    def send(self, events: Iterable[Event]) -> None:
        """Send all events; returns when the broker has acknowledged each of them.

        Raises:
            TransientError: some were not acknowledged.
        """
        began, sent = self._clock.monotonic(), 0
        for event in events:
            self._produce(event)
            sent += 1
            if sent % max(1, self._rate // SLICES_PER_SEC) == 0:
                self._producer.poll(0)
                self._clock.sleep(max(0.0, began + sent / self._rate - self._clock.monotonic()))
        self._producer.flush()
        if self.acknowledged < sent:
            raise TransientError(f"The broker acknowledged {self.acknowledged} of {sent} events; see its log.")

    def _produce(self, event: Event) -> None:
        while True:
            try:
                self._producer.produce(self._topic, event.payload, str(event.number).encode(), on_delivery=self._count)
            except BufferError:  # the client's queue is full: let it send
                self._producer.poll(FULL_WAIT_SECS)
            else:
                return

    def _count(self, error: KafkaError | None, _: Message) -> None:
        self.acknowledged += error is None
