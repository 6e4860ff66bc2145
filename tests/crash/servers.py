"""The one place that uses the product's own code: its embedded broker, and a topic in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic

PARTITIONS = 3


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """An embedded broker; yields its `host:port`."""
    with KafkaBroker(folder) as running:
        yield running.bootstrap


def new_topic(bootstrap: str) -> str:
    """Make a topic of `PARTITIONS` partitions; returns its name."""
    name = f"crash-{uuid4().hex[:8]}"
    create_topic(bootstrap, name, PARTITIONS)
    return name
