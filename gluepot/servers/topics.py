"""Creates topics on a development broker."""

from __future__ import annotations

from collections.abc import Mapping

from gluepot.connectors.kafka.topics import create
from gluepot.core.errors import ConfigError


def create_topic(bootstrap: str, topic: str, partitions: int, config: Mapping[str, str] | None = None) -> None:
    """Create a topic without replication.

    Raises:
        ConfigError: the topic already exists, or the broker refuses a value.
        TransientError: the broker cannot be reached.
    """
    if not create({"bootstrap.servers": bootstrap}, topic, partitions, config=config):
        raise ConfigError(f"Kafka at {bootstrap} has a topic {topic} already; choose another name.")
