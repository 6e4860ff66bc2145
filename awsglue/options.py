"""Reads the options that scripts give as a dict, or as the JSON text of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from awsglue.declared import declared_payload
from gluepot.catalog.connections import load
from gluepot.connectors.contracts import BatchRead, RecordSink, StreamSource
from gluepot.connectors.documents.sink import DocumentTarget
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.registry import connector
from gluepot.connectors.streams.registries import registry_of
from gluepot.core.on_malformed import OnMalformed
from gluepot.frames.time_zone import UTC, TimeZone
from gluepot.streaming.query import session


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


def overridden(options: Mapping[str, Any], overrides: Mapping[str, str]) -> dict[str, Any]:
    """Return a script's options with those of the run in their place, whatever the letter case of their names.

    An empty text takes an option away.
    """
    replaced = {name.lower() for name in overrides}
    kept = {name: value for name, value in options.items() if name.lower() not in replaced}
    return {**kept, **{name: value for name, value in overrides.items() if value}}


def kafka_read_settings(options: Mapping[str, Any], connections_file: Path | None = None) -> KafkaReadSettings:
    """Check a script's Kafka options, completed by the properties of its connection.

    Raises:
        ConfigError: the connection is not in the connections file, or an option is wrong.
    """
    return KafkaReadSettings.from_options(_given("kafka", options, connections_file))


def stream_source(connection_type: str, options: Mapping[str, Any], zone: TimeZone = UTC) -> StreamSource:
    """Return the source of a stream, from the script's options, completed by the properties of its connection.

    Args:
        connection_type: Glue's.
        options: of the script.
        zone: the zone of times without one in declared columns.

    Raises:
        ConfigError: the connection is not in the connections file, or an option is wrong.
    """
    given = dict(_given(connection_type, options))
    on_malformed = session.current().on_malformed
    if on_malformed is not OnMalformed.KEEP and "onmalformed" not in map(str.lower, given):
        given["onMalformed"] = on_malformed.value
    registry = registry_of(given)
    if registry is None:
        return connector(connection_type).new_stream_source(given, partial(declared_payload, zone=zone))
    from awsglue.registered import registered_options, registered_payload  # noqa: PLC0415  most streams have none

    declare = partial(registered_payload, registry=registry)
    return connector(connection_type).new_stream_source(registered_options(given, registry), declare)


def record_sink(connection_type: str, options: Mapping[str, Any]) -> RecordSink:
    """Return the sink of a stream, from the script's options, completed by the properties of its connection.

    Raises:
        ConfigError: the connection is not in the connections file, or an option is wrong.
    """
    return connector(connection_type).new_record_sink(_given(connection_type, options))


def batch_read(connection_type: str, options: Mapping[str, Any]) -> BatchRead:
    """Return a bounded read of a connector of its own, its options completed by the properties of its connection.

    Raises:
        ConfigError: the connection is not in the connections file, or an option is wrong.
        TransientError: the source does not answer.
    """
    return connector(connection_type).new_batch_read(_given(connection_type, options))


def document_target(connection_type: str, options: Mapping[str, Any]) -> DocumentTarget:
    """Return the store that the script's options name, completed by the properties of its connection.

    Raises:
        ConfigError: the connection is not in the connections file, or an option is wrong.
    """
    given = dict(_given(connection_type, options))
    rejects_path = given.pop("rejectsPath", None)
    return DocumentTarget(connector(connection_type).new_document_store(given), rejects_path and str(rejects_path))


def _given(connection_type: str, options: Mapping[str, Any], connections_file: Path | None = None) -> Mapping[str, Any]:
    return connector(connection_type).with_connection(options, lambda name: load(connections_file).get(name))
