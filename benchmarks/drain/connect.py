"""Kafka Connect's side: Iceberg's sink, which makes the table and its columns from the records, exactly-once.

A worker in a JVM that stays; a connector and its control topic for each drain. A table appears with the first record;
its clock starts there, so that joining a consumer group is no part of it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

from py4j.java_gateway import JavaGateway

from benchmarks.drain.jvm import started
from benchmarks.side import Drain, serve
from gluepot.connectors.kafka.broker import Broker
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.servers.ports import LOOPBACK
from gluepot.servers.topics import create_topic

COMMIT_EVERY_MS = 1_000
"""About as often as the other sides end a batch."""
FETCH_BYTES = 64 << 20
POLL_RECORDS = 50_000
"""Many more than the 500 of the default: the worker and the sink are told of each poll."""
LOOK_SECS = 0.005
ANSWER_SECS = 30.0
DRAIN_SECS = 300.0


def main(bootstrap: str, topic: str, _batch_rows: str, cores: str, _shape: str) -> None:
    """Drain with a connector of as many tasks as there are cores, until all records are in the table's snapshot."""
    connectors = f"{worker(started('connect-baseline'), bootstrap)}connectors"
    records = _records(bootstrap, topic)

    def drain(given: Drain) -> float:
        table = Path(given.table)
        name = f"drain-{uuid4().hex[:8]}"
        create_topic(bootstrap, name, 1)
        _ask(connectors, {"name": name, "config": _connector(name, bootstrap, topic, table, int(cores))})
        _wait(table.exists)
        began = time.perf_counter()
        _wait(lambda: committed(table) >= records)
        _ask(f"{connectors}/{name}", method="DELETE")
        return began

    serve(drain)


def committed(table: Path) -> int:
    """Return the records of a table's newest snapshot, of a table in a Hadoop catalog."""
    metadata = table / "metadata"
    try:
        newest = int((metadata / "version-hint.text").read_text())
        told = json.loads((metadata / f"v{newest}.metadata.json").read_text())
    except (OSError, ValueError):  # there is none, or it is just being written
        return 0
    totals = {one["snapshot-id"]: one["summary"].get("total-records", 0) for one in told.get("snapshots", ())}
    return int(totals.get(told.get("current-snapshot-id"), 0))


def worker(gateway: JavaGateway, bootstrap: str) -> str:
    """Start the worker and return its address."""
    settings = {
        "bootstrap.servers": bootstrap,
        "plugin.discovery": "service_load",  # no scan of all classes
        "listeners": f"http://{LOOPBACK}:0",
        "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "offset.storage.file.filename": os.devnull,  # of sources alone; a sink's are with the broker
        "connector.client.config.override.policy": "All",
        "offset.flush.interval.ms": str(COMMIT_EVERY_MS),
    }
    jvm: Any = gateway.jvm
    in_java = jvm.java.util.HashMap()
    for name, value in settings.items():
        in_java.put(name, value)
    cli = jvm.org.apache.kafka.connect.cli.ConnectStandalone(gateway.new_array(jvm.java.lang.String, 0))
    return str(cli.startConnect(in_java).rest().advertisedUrl())


def _connector(name: str, bootstrap: str, topic: str, table: Path, tasks: int) -> Mapping[str, object]:
    return {
        "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
        "tasks.max": tasks,
        "topics": topic,
        "iceberg.catalog.type": "hadoop",
        "iceberg.catalog.warehouse": table.parent.parent.as_uri(),
        "iceberg.tables": f"{table.parent.name}.{table.name}",
        "iceberg.tables.auto-create-enabled": True,
        "iceberg.tables.evolve-schema-enabled": True,
        "iceberg.tables.default-partition-by": "country",
        "iceberg.tables.auto-create-props.write.parquet.compression-codec": "snappy",
        "iceberg.kafka.bootstrap.servers": bootstrap,
        "iceberg.control.topic": name,
        "iceberg.control.commit.interval-ms": COMMIT_EVERY_MS,
        "consumer.override.auto.offset.reset": "earliest",
        "consumer.override.max.poll.records": POLL_RECORDS,
        "consumer.override.fetch.max.bytes": FETCH_BYTES,
        "consumer.override.max.partition.fetch.bytes": FETCH_BYTES // 4,
    }


def _records(bootstrap: str, topic: str) -> int:
    bounds = Broker(KafkaReadSettings.from_options({"bootstrap.servers": bootstrap, "topicName": topic})).bounds()
    return sum(bounds.latest.values()) - sum(bounds.earliest.values())


def _ask(url: str, body: Mapping[str, object] | None = None, method: str | None = None) -> None:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, {"Content-Type": "application/json"}, method=method), timeout=ANSWER_SECS):
        pass


def _wait(reached: Callable[[], bool]) -> None:
    latest = time.monotonic() + DRAIN_SECS
    while not reached():
        if time.monotonic() > latest:
            raise TimeoutError(f"After {DRAIN_SECS:.0f} s no end is in sight; a task may have failed.")
        time.sleep(LOOK_SECS)  # noqa: TID251  the pace of a measurement, not of the product


if __name__ == "__main__":
    main(*sys.argv[1:])
