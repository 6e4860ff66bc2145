"""The one place that uses the product's own code: its embedded servers, and a topic in one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.kinesis import KinesisServer
from gluepot.servers.topics import create_topic
from tests.crash.kafka_topic import KafkaTopic
from tests.crash.kinesis_stream import KinesisStream
from tests.crash.streams import Source, Stream

PARTITIONS, SHARDS = 3, 2

NewStream = Callable[[], Stream]


@contextmanager
def new_streams(sources: Collection[Source], folder: Path) -> Iterator[Mapping[Source, NewStream]]:
    """Run a server of each system; yields what makes a new stream in it."""
    with ExitStack() as stack:
        made: dict[Source, NewStream] = {}
        if "kafka" in sources:
            bootstrap = stack.enter_context(broker(folder / "kafka"))
            made["kafka"] = lambda: new_topic(bootstrap)
        if "kinesis" in sources:
            server = stack.enter_context(KinesisServer(folder / "kinesis"))
            made["kinesis"] = lambda: KinesisStream.create(server.url, _new_name(), SHARDS)
        yield made


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """An embedded broker; yields its `host:port`."""
    with KafkaBroker(folder) as running:
        yield running.bootstrap


def new_topic(bootstrap: str) -> KafkaTopic:
    """Make a topic of `PARTITIONS` partitions."""
    name = _new_name()
    create_topic(bootstrap, name, PARTITIONS)
    return KafkaTopic(bootstrap, name, PARTITIONS)


def _new_name() -> str:
    return f"crash-{uuid4().hex[:8]}"
