"""Reads the options that scripts give as a dict, or as the JSON text of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from awsglue.declared import declared_payload
from gluepot.catalog.connections import kafka_options, load
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.ports import PlannedSource, RecordSink
from gluepot.connectors.registry import connector


def as_options(options: object) -> dict[str, Any]:
    """Return the options as a dict.

    Raises:
        TypeError: the options are neither a dict nor JSON text; Glue's own `makeOptions` raises the same.
    """
    if isinstance(options, Mapping):
        return dict(options)
    if isinstance(options, str):
        plain = json.loads(options)
        if isinstance(plain, dict):
            return plain
    raise TypeError(f"Invalid options: {options!r}; give a dict or the JSON text of one")


def kafka_read_settings(options: Mapping[str, Any], connections_file: Path | None = None) -> KafkaReadSettings:
    """Check a script's Kafka options, completed by the properties of its connection.

    Raises:
        ConfigError: the connection is not in the connections file, or an option is wrong.
    """
    return KafkaReadSettings.from_options(_with_connection(options, connections_file))


def stream_source(connection_type: str, options: Mapping[str, Any]) -> PlannedSource:
    """Return the source of a stream, from the script's options, completed by the properties of its connection.

    Raises:
        ConfigError: the connection is not in the connections file, or an option is wrong.
    """
    return connector(connection_type).new_stream_source(_given(connection_type, options), declared_payload)


def record_sink(connection_type: str, options: Mapping[str, Any]) -> RecordSink:
    """Return the sink of a stream, from the script's options, completed by the properties of its connection.

    Raises:
        ConfigError: the connection is not in the connections file, or an option is wrong.
    """
    return connector(connection_type).new_record_sink(_given(connection_type, options))


def _given(connection_type: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    return _with_connection(options) if connection_type.lower() == "kafka" else options


def _with_connection(options: Mapping[str, Any], connections_file: Path | None = None) -> dict[str, Any]:
    name = options.get("connectionName")
    beneath = kafka_options(load(connections_file).get(str(name))) if name else {}
    return {**beneath, **options}
