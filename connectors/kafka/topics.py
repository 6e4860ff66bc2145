"""Creates topics, and reads their records for people."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from gluepot.connectors.kafka.broker import admin_config
from gluepot.connectors.kafka.errors import from_kafka
from gluepot.connectors.kafka.messages import MessageConsumer
from gluepot.connectors.kafka.reader import PartitionReader
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.positions import Span
from gluepot.connectors.values import OriginalRecord
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError

_REQUEST_SECS = 10.0
_WRONG = frozenset(
    {
        KafkaError.TOPIC_EXCEPTION,
        KafkaError.INVALID_PARTITIONS,
        KafkaError.INVALID_REPLICATION_FACTOR,
        KafkaError.INVALID_CONFIG,
        KafkaError.POLICY_VIOLATION,
        KafkaError.INVALID_REQUEST,
    }
)


def create(
    client: Mapping[str, Any],
    topic: str,
    partitions: int,
    copies: int = 1,
    config: Mapping[str, str] | None = None,
) -> bool:
    """Create a topic. If there is one of this name already, change nothing and return False.

    Args:
        client: librdkafka configuration, secrets included.
        topic: its name.
        partitions: number of its partitions.
        copies: its replication factor; -1 for the broker's own.
        config: properties of the topic, such as `retention.ms`.

    Raises:
        ConfigError: the broker refuses a value, or this user.
        TransientError: the broker cannot be reached.
    """
    admin = AdminClient(admin_config(client))
    wanted = NewTopic(topic, partitions, copies, config=dict(config or {}))
    (created,) = admin.create_topics([wanted], request_timeout=_REQUEST_SECS).values()
    try:
        created.result()
    except KafkaException as failure:
        error, bootstrap = failure.args[0], str(client["bootstrap.servers"])
        if error.code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        if error.code() in _WRONG:
            raise ConfigError(
                f"Kafka at {bootstrap} refused the topic {topic!r} ({error.name()}: {error.str().rstrip('.')});"
                " correct it and try again."
            ) from failure
        raise from_kafka(error, f"creating topic {topic}", bootstrap) from failure
    return True


def records(
    settings: KafkaReadSettings, spans: Mapping[tuple[str, int], Span], clock: Clock
) -> Iterator[OriginalRecord]:
    """Yield the records of some spans, those of all partitions in the order of their time stamps.

    Args:
        settings: client configuration of the read.
        spans: by topic and partition.
        clock: for deadlines.

    Raises:
        DataLoss: the broker no longer has the records.
        TransientError: the broker does not answer.
    """
    readers = [
        _records(settings, topic, partition, span.start, span.end, clock)
        for (topic, partition), span in sorted(spans.items())
        if span.width > 0
    ]
    return heapq.merge(*readers, key=lambda record: record.epoch_ms or 0)


def _records(
    settings: KafkaReadSettings, topic: str, partition: int, start: int, end: int, clock: Clock
) -> Iterator[OriginalRecord]:
    with closing(PartitionReader(MessageConsumer(settings.client), topic, partition)) as reader:
        for messages in reader.read(start, end, _REQUEST_SECS, clock, settings.bootstrap):
            yield from messages.originals()
