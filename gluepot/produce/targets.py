"""Kafka and Kinesis as targets of the load generator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gluepot.connectors.kafka.feed import KafkaFeed
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.put import Put, calls
from gluepot.connectors.kinesis.sink import put_all
from gluepot.core.clock import Clock
from gluepot.produce.journal import Journal
from gluepot.produce.loop import Target
from gluepot.produce.records import Record


def kafka_target(settings: KafkaReadSettings, topic: str, journal: Journal | None = None) -> Target:
    """Return a topic as a target; what is acknowledged goes into the journal where there is one."""
    if journal is None:
        return KafkaFeed(settings, topic)
    return _Journaled(KafkaFeed(settings, topic, taken=journal.taken), journal)


class _Journaled:
    def __init__(self, feed: KafkaFeed, journal: Journal) -> None:
        self._feed, self._journal, self._number = feed, journal, 0

    def send(self, records: Iterable[Record]) -> None:
        self._feed.send(self._noted(records))

    def finish(self) -> int:
        return self._feed.finish()

    def _noted(self, records: Iterable[Record]) -> Iterator[Record]:
        for value, key in records:
            self._journal.sending(self._number, value)
            self._number += 1
            yield value, key


class KinesisTarget:
    """A Kinesis stream; a call at a time, so its rate ends where the service's answers do.

    Args:
        client: client of the stream.
        clock: for waits where the service throttles.
        chance: for their jitter, and for the keys of records that have none.
        journal: takes what is acknowledged; None for nobody.
    """

    def __init__(
        self, client: KinesisClient, clock: Clock, chance: Callable[[], float], journal: Journal | None = None
    ) -> None:
        self._client, self._clock, self._chance, self._journal = client, clock, chance, journal
        self._sent = 0

    def send(self, records: Iterable[Record]) -> None:
        """See `Target`; returns when the stream has them."""
        puts = (Put(key.decode() if key else f"{self._chance():.17f}", value) for value, key in records)
        for call in calls(puts):
            put_all(self._client, call, self._clock, self._chance)
            if self._journal is not None:
                for number, put in enumerate(call, self._sent):
                    self._journal.sending(number, put.data)
                    self._journal.taken(number)
            self._sent += len(call)

    def finish(self) -> int:
        """See `Target`."""
        return self._sent
