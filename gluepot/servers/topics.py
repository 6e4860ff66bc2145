"""Creates topics on a development broker."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic


def create_topic(bootstrap: str, topic: str, partitions: int, config: Mapping[str, str] | None = None) -> None:
    """Create a topic without replication.

    Raises:
        confluent_kafka.KafkaException: the topic already exists, or the broker cannot be reached.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for created in admin.create_topics([NewTopic(topic, partitions, 1, config=dict(config or {}))]).values():
        created.result()
