"""Writes rows to a Kafka topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gluepot.connectors.kafka.sender import KafkaSender
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.options import ScriptOptions
from gluepot.connectors.values import Outgoing, RecordShape
from gluepot.core.errors import ConfigError, PermanentError

SEND_AT_ONCE = 10_000
"""The sink sends this many records before it waits for their answers; the client's queue takes ten times as many."""

KNOWN = (
    "connectionName", "bootstrap.servers", "security.protocol", "topic", "topicName", "key", "classification",
    "typeOfData",
)  # fmt: skip


@dataclass(frozen=True)
class KafkaSink:
    """A `RecordSink` over Kafka.

    Args:
        settings: give the brokers and the security settings.
        topic: the topic for all rows; empty if each row names its topic.
        shape: how rows become records.
        guarantee: see `RecordSink`.
    """

    settings: KafkaReadSettings
    topic: str
    shape: RecordShape
    guarantee: str = (
        "at least once; in order within a key and a task, what the client itself sends again is stored once"
    )

    def check(self) -> None:
        """See `RecordSink`."""
        if self.topic:
            KafkaSender(self.settings).cluster_of(self.topic)

    def send(self, records: Iterator[Outgoing]) -> int:
        """See `RecordSink`."""
        sender, count = KafkaSender(self.settings), 0
        while batch := list(islice(records, SEND_AT_ONCE)):
            if not self.topic and any(one.topic is None for one in batch):
                raise PermanentError("A row says no topic, and neither does the sink; give connection_options a topic.")
            sent = sender.send(self.topic, batch)
            if sent.error is not None:
                raise sent.error
            count += len(batch)
        return count


def kafka_sink(options: Mapping[str, Any]) -> KafkaSink:
    """Return the sink for a script's options, which include the connection's properties.

    Raises:
        ConfigError: an option is missing, or has a value outside what is allowed.
    """
    given = ScriptOptions(options)
    given.warn_unknown(KNOWN, prefix="kafka.")
    topic = given.text("topic") or given.text("topicName")
    classification = given.text("classification").lower() or "json"
    if classification != "json":
        raise ConfigError(
            f"classification is {classification!r}; records are written as json. Make a column `value` of any other"
            " format yourself."
        )
    client = {name: value for name, value in options.items() if name in _CLIENT or name.startswith("kafka.")}
    where = {"topicName": topic} if topic else {"subscribePattern": ".*"}
    shape = RecordShape(given.text("key") or None, classification)
    return KafkaSink(KafkaReadSettings.from_options({**client, **where}), topic, shape)


_CLIENT = frozenset({"bootstrap.servers", "security.protocol"})
