"""Looks offsets up at a broker, from the same options that a script gives its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from awsglue.options import kafka_read_settings
from gluepot.connectors.kafka.broker import Broker
from gluepot.connectors.kafka.positions import Positions
from gluepot.core.errors import ConfigError


def resolved(
    client: Mapping[str, str], connections: Path | None, topics: Sequence[str], starting: Mapping[str, Any]
) -> Positions:
    """Return where a source with these options would start now.

    Args:
        client: `bootstrap.servers` or `connectionName`.
        connections: the connections file; None for the usual places.
        topics: the topics to look up.
        starting: `startingOffsets` or `startingTimestamp`.

    Raises:
        ConfigError: no broker or no topic is given, or an option is wrong.
        TransientError: the broker cannot be reached.
    """
    if not client:
        raise ConfigError("Only a broker knows the offsets of a time: give --bootstrap HOST:PORT or --connection NAME.")
    if not topics:
        raise ConfigError("The checkpoint names no topic; give --topic.")
    settings = kafka_read_settings({**client, "topicName": ",".join(topics), **starting}, connections)
    broker = Broker(settings)
    broker.require_topics()
    return broker.resolve(settings.starting, broker.bounds())
