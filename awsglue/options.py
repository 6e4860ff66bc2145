"""Options as scripts give them: a dict, or the JSON text of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog.connections import kafka_options, load
from connectors.kafka.settings import KafkaReadSettings


def as_options(options: object) -> dict[str, Any]:
    """Return the options as a dict.

    Raises:
        TypeError: neither a dict nor JSON text, as in Glue's own `makeOptions`.
    """
    if isinstance(options, Mapping):
        return dict(options)
    if isinstance(options, str):
        plain = json.loads(options)
        if isinstance(plain, dict):
            return plain
    raise TypeError(f"Invalid options: {options!r}; give a dict or the JSON text of one")


def kafka_read_settings(options: Mapping[str, Any], connections_file: Path | None = None) -> KafkaReadSettings:
    """Check a script's Kafka options, with the properties of its connection below them.

    Raises:
        ConfigError: the connection is not in the connections file, or an option is wrong.
    """
    name = options.get("connectionName")
    beneath = kafka_options(load(connections_file).get(str(name))) if name else {}
    return KafkaReadSettings.from_options({**beneath, **options})
