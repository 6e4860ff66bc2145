"""Sending events at a steady rate, to a topic or to a stream."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol

from confluent_kafka import KafkaError, Message, Producer

from connectors.kinesis.client import KinesisClient
from connectors.kinesis.put import Put, calls
from connectors.kinesis.settings import StreamAddress
from connectors.kinesis.sink import put_all
from etlcore.clock import Clock
from etlcore.errors import TransientError
from gluepot.demo.events import Event

SLICES_PER_SEC = 20
MAX_SLICE = 10_000
FULL_WAIT_SECS = 0.1


class SteadyProducer(Protocol):
    """Sends events, so many a second, and counts those that arrived.

    Attributes:
        acknowledged: events that the source has for sure.
    """

    acknowledged: int

    def send(self, events: Iterable[Event]) -> None:
        """Send all events; returns when each of them is acknowledged.

        Raises:
            TransientError: some were not.
        """


def slices(events: Iterable[Event], rate: int, clock: Clock) -> Iterator[list[Event]]:
    """Yield events in the parts that are due together, a twentieth of a second's at a time; waits in between.

    Args:
        events: in order.
        rate: events a second.
        clock: paces them.
    """
    began, sent, left = clock.monotonic(), 0, iter(events)
    while part := list(islice(left, min(MAX_SLICE, max(1, rate // SLICES_PER_SEC)))):
        yield part
        sent += len(part)
        clock.sleep(max(0.0, began + sent / rate - clock.monotonic()))


class KafkaProducer:
    """A `SteadyProducer` into a topic.

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
        """See `SteadyProducer`."""
        sent = 0
        for part in slices(events, self._rate, self._clock):
            for event in part:
                self._produce(event)
            sent += len(part)
            self._producer.poll(0)
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


class KinesisProducer:
    """A `SteadyProducer` into a stream.

    Args:
        address: of the stream.
        rate: events a second.
        clock: paces the sending.
    """

    def __init__(self, address: StreamAddress, rate: int, clock: Clock) -> None:
        self._client = KinesisClient(address)
        self._rate = rate
        self._clock = clock
        self._chance = random.Random().random  # noqa: S311  jitter
        self.acknowledged = 0

    def send(self, events: Iterable[Event]) -> None:
        """See `SteadyProducer`."""
        for part in slices(events, self._rate, self._clock):
            for call in calls(Put(str(event.number), event.payload) for event in part):
                put_all(self._client, call, self._clock, self._chance)
                self.acknowledged += len(call)
