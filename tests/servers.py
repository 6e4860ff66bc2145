"""Servers that tests talk to: named in the environment, else in containers, else embedded."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gluepot.servers.kafka import KafkaBroker

ENDPOINT = "GLUEPOT_TEST_KAFKA"
IMAGE = "confluentinc/cp-kafka:7.9.0"
LOCALSTACK_IMAGE = "localstack/localstack:4.14.0"
"""The last one that wants no token."""
DOCKER_ANSWER_SECS = 2


def docker_answers() -> bool:
    """Tell whether a Docker engine can be reached."""
    import docker
    from docker.errors import DockerException

    try:
        with_engine = docker.from_env(timeout=DOCKER_ANSWER_SECS)
        try:
            return bool(with_engine.ping())
        finally:
            with_engine.close()
    except DockerException:
        return False


@contextmanager
def kafka_in_container() -> Iterator[str]:
    """Run a broker in a container for as long as the context lasts; yield its `host:port`."""
    from testcontainers.community.kafka import KafkaContainer

    container = KafkaContainer(IMAGE).with_kraft()
    for name, value in {
        "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
        "KAFKA_MESSAGE_MAX_BYTES": "16777216",
        "KAFKA_LOG_RETENTION_MS": "-1",
        "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
    }.items():
        container.with_env(name, value)
    with container:
        yield container.get_bootstrap_server()


@contextmanager
def localstack_in_container() -> Iterator[str]:
    """Run LocalStack in a container for as long as the context lasts; yield its URL."""
    from testcontainers.community.localstack import LocalStackContainer

    with LocalStackContainer(LOCALSTACK_IMAGE).with_services("kinesis") as container:
        yield container.get_url()


@contextmanager
def kafka_endpoint(folder: Path) -> Iterator[str]:
    """Yield the `host:port` of a broker that tests share; topics in it must have names of their own."""
    if endpoint := os.environ.get(ENDPOINT):
        yield endpoint
    elif docker_answers():
        with kafka_in_container() as bootstrap:
            yield bootstrap
    else:
        with KafkaBroker(folder) as broker:
            yield broker.bootstrap


@contextmanager
def running(command: Sequence[str | Path], folder: Path, **user: Any) -> Iterator[None]:
    """Run a server in its folder, with a file `log`, until the block ends.

    Args:
        command: starts it.
        folder: its working folder.
        user: as whom it runs, as `subprocess.Popen` takes it.
    """
    with (folder / "log").open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, **user)
    try:
        yield
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(20)
        server.kill()
