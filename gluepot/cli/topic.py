"""`gluepot topic`: creates, lists and describes topics of Kafka, and shows their records."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from awsglue.options import kafka_read_settings
from gluepot.cli.cluster import cluster_options
from gluepot.cli.output import Output, Row, show, time_of
from gluepot.cli.pairs import pair
from gluepot.cli.servers import AT_LEAST_ONE
from gluepot.connectors.kafka.broker import Broker
from gluepot.connectors.kafka.positions import Bounds
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.topics import create as create_topic
from gluepot.connectors.kafka.topics import records
from gluepot.connectors.options import epoch_ms
from gluepot.connectors.positions import Span
from gluepot.connectors.values import OriginalRecord
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.core.plural import counted

app = App(name="topic", help="Topics of Kafka: create, list, describe, consume.")

FOLLOW_SECS = 0.5
_EVERY_TOPIC = {"subscribePattern": ".*"}


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster that a command talks to.

    Args:
        bootstrap: a broker, host:port; by default the one that `gluepot up kafka` started.
        connection: a connection that names the brokers, instead of --bootstrap.
        connections: the connections file, if it is not in one of the usual places.
    """

    bootstrap: str | None = None
    connection: str | None = None
    connections: Path | None = None

    def settings(self, reading: Mapping[str, str]) -> KafkaReadSettings:
        """Return the settings of a read of this cluster."""
        return kafka_read_settings({**cluster_options(self.bootstrap, self.connection), **reading}, self.connections)


DEVELOPMENT = Cluster()


@app.command
def create(
    topic: str,
    *,
    partitions: Annotated[int, Parameter(validator=AT_LEAST_ONE)] = 1,
    replication_factor: int = -1,
    config: Sequence[str] = (),
    if_missing: bool = False,
    cluster: Cluster = DEVELOPMENT,
) -> None:
    """Create a topic.

    Args:
        topic: its name.
        partitions: number of its partitions; a job reads them side by side.
        replication_factor: number of brokers that hold each partition; -1 for the cluster's default.
        config: NAME=VALUE of a property of the topic, such as retention.ms=86400000. May be repeated.
        if_missing: do nothing if there is a topic of this name already.
        cluster: the cluster.
    """
    properties = dict(pair("config", one) for one in config)
    settings = cluster.settings({"topicName": topic})
    if create_topic(settings.client, topic, partitions, replication_factor, properties):
        print(f"Topic {topic} has {counted(partitions, 'partition')} at {settings.bootstrap}.")
        return
    there = len(Broker(settings).partitions()[1])
    if not if_missing:
        raise ConfigError(
            f"Kafka at {settings.bootstrap} has a topic {topic} already, with {counted(there, 'partition')}; choose"
            " another name, or add --if-missing."
        )
    print(f"Topic {topic} exists already, with {counted(there, 'partition')}, at {settings.bootstrap}.")


@app.command(name="list")
def list_(*, internal: bool = False, cluster: Cluster = DEVELOPMENT, output: Output = "text") -> None:
    """List the topics of a cluster with their sizes.

    Args:
        internal: list the topics that Kafka keeps for itself, too.
        cluster: the cluster.
        output: text for people; json for a list of objects.
    """
    settings = cluster.settings(_EVERY_TOPIC)
    now = Broker(settings).bounds()
    rows: list[Row] = [
        {"topic": topic, "partitions": len(spans), "records": sum(one.width for one in spans)}
        for topic in sorted(now.topic_ids)
        if internal or not topic.startswith("__")
        for spans in [[span for (of, _), span in _held(now).items() if of == topic]]
    ]
    show(rows, output, f"Kafka at {settings.bootstrap} has no topics; create one with `gluepot topic create NAME`.")


@app.command
def describe(topic: str, *, cluster: Cluster = DEVELOPMENT, output: Output = "text") -> None:
    """Show the partitions of a topic: the offsets that they hold, and the brokers that hold them.

    Args:
        topic: its name.
        cluster: the cluster.
        output: text for people; json for a list of objects.
    """
    broker = Broker(cluster.settings({"topicName": topic}))
    broker.require_topics()
    replicas, held = broker.replicas(), _held(broker.bounds())
    rows: list[Row] = [
        {
            "partition": partition,
            "first_offset": span.start,
            "end_offset": span.end,
            "records": span.width,
            "leader": replicas[topic, partition].leader,
            "replicas": list(replicas[topic, partition].all),
            "in_sync": list(replicas[topic, partition].in_sync),
        }
        for (_, partition), span in sorted(held.items())
    ]
    show(rows, output, "")


@app.command
def consume(
    topic: str,
    *,
    count: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    latest: bool = False,
    since: str | None = None,
    partition: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    follow: bool = False,
    cluster: Cluster = DEVELOPMENT,
    output: Output = "text",
) -> None:
    """Print the records of a topic, oldest first, one a line. No consumer group is joined and nothing is committed.

    Args:
        topic: its name.
        count: end after this number of records.
        latest: leave out the records that are there already; needs --follow.
        since: begin with the records of this time, such as 2026-01-31T12:00:00Z, instead of the oldest ones.
        partition: read this partition only.
        follow: when all records are printed, wait for further ones, until Ctrl-C or --count.
        cluster: the cluster.
        output: text for the values; json for an object a line, with partition, offset, timestamp, key, value, headers.
    """
    if latest and since:
        raise ConfigError(f"--latest and --since {since} both say where to begin; remove one of them.")
    if latest and not follow:
        raise ConfigError("--latest leaves nothing to print without --follow; add it.")
    if since:
        epoch_ms("--since", since)
    starting = {"startingTimestamp": since} if since else {"startingOffsets": "latest" if latest else "earliest"}
    which = {"topicName": topic} if partition is None else {"assign": json.dumps({topic: [partition]})}
    settings = cluster.settings({**which, **starting})
    broker = Broker(settings)
    broker.require_topics()
    line = _json_line if output == "json" else _text_line
    for record in islice(_read(settings, broker, follow=follow), count):
        print(line(record), flush=follow)


def _read(settings: KafkaReadSettings, broker: Broker, *, follow: bool) -> Iterator[OriginalRecord]:
    clock = SystemClock()
    now = broker.bounds()
    position = {at: span.start for at, span in broker.resolve(settings.starting, now).spans.items()}
    while True:
        yield from records(settings, {at: Span(position.get(at, 0), end) for at, end in now.latest.items()}, clock)
        if not follow:
            return
        position |= now.latest
        clock.sleep(FOLLOW_SECS)
        now = broker.bounds()


def _held(now: Bounds) -> dict[tuple[str, int], Span]:
    return {at: Span(now.earliest[at], end) for at, end in now.latest.items()}


def _text_line(record: OriginalRecord) -> str:
    """Return the value on one line. No control character of a record reaches the terminal."""
    text = (record.value or b"").decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def _json_line(record: OriginalRecord) -> str:
    plain: dict[str, Any] = {
        "partition": int(record.shard),
        "offset": record.position,
        "timestamp": time_of(record.epoch_ms),
        **_member("key", record.key),
        **_member("value", record.value),
        "headers": [{"name": name, **_member("value", value)} for name, value in record.headers],
    }
    return json.dumps(plain, ensure_ascii=False)


def _member(name: str, value: bytes | None) -> dict[str, str | None]:
    """Return bytes as a text, or in base64 under another name if they are no UTF-8."""
    try:
        return {name: None if value is None else value.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(value or b"").decode()}
