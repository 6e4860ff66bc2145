"""Topics that are full before anybody looks at a clock, or are fed while somebody does."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile

from gluepot.connectors.kafka.feed import LINGER_MS, KafkaFeed
from gluepot.connectors.kafka.sender import ANY_PARTITION
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.core.clock import SystemClock
from gluepot.produce import Steady, Unpaced, produce
from gluepot.servers.topics import create_topic


def preload(bootstrap: str, topic: str, payloads: Iterable[bytes], partitions: int) -> int:
    """Send the records to a new topic; return their bytes."""
    create_topic(bootstrap, topic, partitions)
    return load(bootstrap, topic, payloads)


def load(bootstrap: str, topic: str, payloads: Iterable[bytes]) -> int:
    """Send the records to a topic that is there; return their bytes."""
    settings = KafkaReadSettings.from_options({"bootstrap.servers": bootstrap, "topicName": topic})
    payload_bytes = 0

    def counted(payload: bytes) -> bytes:
        nonlocal payload_bytes
        payload_bytes += len(payload)
        return payload

    sent = ((counted(payload), str(number).encode()) for number, payload in enumerate(payloads))
    produce(sent, Unpaced(), KafkaFeed(settings, topic), SystemClock())
    return payload_bytes


def spread(bootstrap: str, topic: str, lanes: Sequence[Iterable[bytes]]) -> None:
    """Send records to a new topic, those of each lane to a partition of its own."""
    create_topic(bootstrap, topic, len(lanes))
    settings = KafkaReadSettings.from_options({"bootstrap.servers": bootstrap, "topicName": topic})
    for partition, payloads in enumerate(lanes):
        feed = KafkaFeed(settings, topic, partition=partition)
        produce(((payload, b"") for payload in payloads), Unpaced(), feed, SystemClock())


@contextmanager
def fed(
    bootstrap: str,
    topic: str,
    made: Iterable[tuple[bytes, bytes]],
    rate: float,
    partition: int = ANY_PARTITION,
    linger_ms: float = LINGER_MS,
) -> Iterator[None]:
    """Send records, each made when its time has come, at a steady rate while the context lasts.

    Args:
        bootstrap: `host:port` of the broker.
        topic: that is there.
        made: value and key of each, without end.
        rate: records a second.
        partition: partition of the topic; by key unless one is named.
        linger_ms: how long the client waits for a request to fill.
    """
    ended = threading.Event()
    until_then = takewhile(lambda _: not ended.is_set(), made)
    settings = KafkaReadSettings.from_options({"bootstrap.servers": bootstrap, "topicName": topic})
    feed = KafkaFeed(settings, topic, partition=partition, linger_ms=linger_ms)
    sender = threading.Thread(target=produce, args=(until_then, Steady(rate), feed, SystemClock()))
    sender.start()
    try:
        yield
    finally:
        ended.set()
        sender.join()
