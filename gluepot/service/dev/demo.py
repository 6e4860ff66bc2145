"""The demo of the service: a workflow that a schedule starts every five minutes, and a stream beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gluepot.connectors.kafka.feed import KafkaFeed
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.core.clock import Clock
from gluepot.core.examples import example
from gluepot.core.logging import get_logger
from gluepot.core.storage import open_storage
from gluepot.produce import Steady, produce
from gluepot.produce.click_events import events
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic
from gluepot.service.dev.stage import BUCKET

Call = Callable[[str, Mapping[str, Any]], dict[str, Any]]

WORKFLOW = "orders"
TOPIC, PARTITIONS, CLICKS_A_SEC = "clicks", 2, 20
_EVERY_MINUTES = 5
_CLICKS = 10_000_000

log = get_logger(__name__)


@contextmanager
def clicks(folder: Path, clock: Clock) -> Iterator[str]:
    """Run a broker, and send clicks to it, for as long as the context lasts; yield its `host:port`."""
    with KafkaBroker(folder / "kafka") as broker:
        create_topic(broker.bootstrap, TOPIC, PARTITIONS)
        settings = KafkaReadSettings.from_options({"bootstrap.servers": broker.bootstrap, "topicName": TOPIC})
        ended = threading.Event()

        def made() -> Iterator[tuple[bytes, bytes]]:
            for event in events(_CLICKS):
                if ended.is_set():
                    return
                yield event.payload, str(event.number).encode()

        def send() -> None:
            try:
                produce(made(), Steady(CLICKS_A_SEC), KafkaFeed(settings, TOPIC), clock)
            except Exception:
                if not ended.is_set():
                    log.exception("demo_clicks_failed")

        sending = threading.Thread(target=send, name="gluepot-clicks", daemon=True)
        sending.start()
        try:
            yield broker.bootstrap
        finally:
            ended.set()
            sending.join()


def define(call: Call, bootstrap: str, folder: Path, now: datetime) -> None:
    """Define the demo's jobs, its workflow and the connection of its stream, and start the stream.

    Args:
        call: calls an operation of the service.
        bootstrap: `host:port` of the broker.
        folder: for checkpoints.
        now: when; the schedule fires within the next minute.
    """
    scripts = open_storage(f"s3://{BUCKET}/scripts")
    for name in ("new_orders.py", "load_orders.py", "report_orders.py", "clickstream.py"):
        scripts.put(name, example(name).read_bytes())
    for operation, request in definitions(bootstrap, folder, now):
        call(f"AWSGlue.{operation}", request)


def definitions(bootstrap: str, folder: Path, now: datetime) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls that define the demo, with their requests."""
    data = f"s3://{BUCKET}"
    kafka = {"KAFKA_BOOTSTRAP_SERVERS": bootstrap, "KAFKA_SSL_ENABLED": "false"}
    connection = {"Name": "clickstream", "ConnectionType": "KAFKA", "ConnectionProperties": kafka}
    return [
        ("CreateConnection", {"ConnectionInput": connection}),
        _job("new-orders", "pythonshell", "new_orders.py", bucket=BUCKET, prefix="raw", orders="200"),
        _job(
            "load-orders",
            "glueetl",
            "load_orders.py",
            input_path=f"{data}/raw/",
            output_path=f"{data}/orders/",
            **{"job-bookmark-option": "job-bookmark-enable"},
        ),
        _job("report-orders", "glueetl", "report_orders.py", input_path=f"{data}/orders/"),
        _job("clicks", "gluestreaming", "clickstream.py", output_path=f"{data}/clicks/", TempDir=str(folder / "temp")),
        ("CreateWorkflow", {"Name": WORKFLOW, "Description": "New orders are loaded and counted."}),
        _trigger("every-five-minutes", "new-orders", Type="SCHEDULED", Schedule=_next_minute(now)),
        _trigger("when-there-are-new-ones", "load-orders", **_after("new-orders")),
        _trigger("when-they-are-loaded", "report-orders", **_after("load-orders")),
        ("StartJobRun", {"JobName": "clicks"}),
    ]


def _job(name: str, kind: str, script: str, **arguments: str) -> tuple[str, dict[str, Any]]:
    command = {"Name": kind, "ScriptLocation": f"s3://{BUCKET}/scripts/{script}"}
    return "CreateJob", {
        "Name": name,
        "Role": "demo",
        "Command": command,
        "DefaultArguments": {f"--{key}": value for key, value in arguments.items()},
    }


def _trigger(name: str, job: str, **more: Any) -> tuple[str, dict[str, Any]]:
    request = {"Name": name, "WorkflowName": WORKFLOW, "Actions": [{"JobName": job}], "StartOnCreation": True, **more}
    return "CreateTrigger", request


def _after(job: str) -> dict[str, Any]:
    condition = {"LogicalOperator": "EQUALS", "JobName": job, "State": "SUCCEEDED"}
    return {"Type": "CONDITIONAL", "Predicate": {"Conditions": [condition]}}


def _next_minute(now: datetime) -> str:
    """Return a schedule that fires every five minutes, first in the next minute."""
    return f"cron({(now.astimezone(UTC).minute + 1) % _EVERY_MINUTES}/{_EVERY_MINUTES} * * * ? *)"
