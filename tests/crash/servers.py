"""The one place that uses the product's own code: its embedded servers, and a topic in one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.kinesis import KinesisServer
from gluepot.servers.topics import create_topic
from tests.crash.kafka_topic import KafkaTopic
from tests.crash.kinesis_stream import KinesisStream
from tests.crash.streams import Server, Stream
from tests.kinesis_fan_out import fan_out

PARTITIONS, SHARDS = 3, 2
LASTING_SECS, PUSHED_SECS = 20.0, 0.1
"""Subscriptions of enhanced fan-out end often, and push seldom, as the machine has more to do."""

NewStream = Callable[[], Stream]


@contextmanager
def new_streams(sources: Collection[Server], folder: Path) -> Iterator[Mapping[Server, NewStream]]:
    """Run a server of each system; yields what makes a new stream in it."""
    with ExitStack() as stack:
        made: dict[Server, NewStream] = {}
        if "kafka" in sources:
            bootstrap = stack.enter_context(broker(folder / "kafka"))
            made["kafka"] = lambda: new_topic(bootstrap)
        if not {"kinesis", "fan-out"}.isdisjoint(sources):
            url = stack.enter_context(KinesisServer(folder / "kinesis")).url
            made["kinesis"] = lambda: KinesisStream.create(url, _new_name(), SHARDS)
        if "fan-out" in sources:
            front = stack.enter_context(fan_out(url, lasting_secs=LASTING_SECS, poll_secs=PUSHED_SECS))
            made["fan-out"] = lambda: replace(made["kinesis"](), endpoint=front.url, consumer="crash")
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
