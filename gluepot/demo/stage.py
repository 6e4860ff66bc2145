"""What a demo of one source needs: a server, a place for events in it, and the script that reads them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gluepot.connectors.kafka.feed import KafkaFeed
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.settings import StreamAddress
from gluepot.core.clock import Clock
from gluepot.core.environment import environment
from gluepot.core.examples import example
from gluepot.produce.loop import KINESIS_SLICE_SECS, SLICE_SECS, Target
from gluepot.produce.targets import KinesisTarget
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.kinesis import KinesisServer, arn
from gluepot.servers.state import REGION
from gluepot.servers.streams import create_stream
from gluepot.servers.topics import create_topic

NAME, PARTITIONS = "clicks", 2
CONNECTIONS = """\
connections:
  clickstream:
    type: kafka
    properties:
      KAFKA_BOOTSTRAP_SERVERS: {bootstrap}
      KAFKA_SSL_ENABLED: "false"
"""
RATES: Mapping[str, int] = {"kafka": 2000, "kinesis": 250}
"""Events a second, if nobody says otherwise. A call to the emulator takes the longer the more its stream holds: a tenth
of a second at first, a second at 20,000 records."""
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "demo", "AWS_SECRET_ACCESS_KEY": "demo", "AWS_REGION": REGION}
"""Of a user who exists nowhere: whatever goes wrong, the demo reaches no account."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One source, ready.

    Args:
        target: takes what is sent into it.
        script: reads it, as Glue Studio writes it.
        arguments: arguments of the script, besides those that every script gets.
        connections: the connections file, if it has one.
        slice_secs: events that fall due within this time are sent together.
    """

    target: Target
    script: Path
    arguments: tuple[str, ...] = ()
    connections: Path | None = None
    slice_secs: float = SLICE_SECS


@contextmanager
def kafka_stage(folder: Path, _clock: Clock) -> Iterator[Stage]:
    """A broker with a topic, for as long as the context lasts."""
    with KafkaBroker(folder / "kafka") as broker:
        create_topic(broker.bootstrap, NAME, PARTITIONS)
        connections = folder / "connections.yaml"
        connections.write_text(CONNECTIONS.format(bootstrap=broker.bootstrap))
        settings = KafkaReadSettings.from_options({"bootstrap.servers": broker.bootstrap, "topicName": NAME})
        yield Stage(KafkaFeed(settings, NAME), example("clickstream.py"), connections=connections)


@contextmanager
def kinesis_stage(folder: Path, clock: Clock) -> Iterator[Stage]:
    """An emulator with a stream, for as long as the context lasts; the environment leads to it, and nowhere else."""
    with (
        KinesisServer(folder / "kinesis") as server,
        environment({**CREDENTIALS, "AWS_ENDPOINT_URL_KINESIS": server.url}),
    ):
        address = StreamAddress(NAME, arn(NAME), REGION, server.url)
        client = KinesisClient(address)
        create_stream(client, NAME, PARTITIONS, clock)
        target = KinesisTarget(client, clock, random.Random().random)  # noqa: S311  jitter
        script, arguments = example("clickstream_kinesis.py"), ("--stream_arn", arn(NAME))
        yield Stage(target, script, arguments, slice_secs=KINESIS_SLICE_SECS)


STAGES: Mapping[str, Callable[[Path, Clock], AbstractContextManager[Stage]]] = {
    "kafka": kafka_stage,
    "kinesis": kinesis_stage,
}
