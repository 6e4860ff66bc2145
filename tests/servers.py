"""Servers that tests talk to: named in the environment, else in containers, else embedded."""

from __future__ import annotations

import functools
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

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
def one_change_at_a_time() -> Iterator[None]:
    """Make moto, in this process, change each kind of thing in one thread at a time."""
    from moto.kinesis.models import Shard
    from moto.s3.responses import S3Response
    from moto.sqs.models import Message

    # Moto (5.2.5) answers calls in threads. Two that put into a shard at once may get the same sequence number; then it
    # has acknowledged both records and keeps one. Of two that create an object with If-None-Match at once, both may
    # find that there is none. And of two that receive a message at once, one may get a receipt that moto forgets; then
    # the message cannot be deleted with it.
    changed = ((Shard, "put_record"), (S3Response, "put_object"), (Message, "mark_received"))
    with ExitStack() as patches:
        for kind, name in changed:
            patches.enter_context(patch.object(kind, name, _alone(getattr(kind, name))))
        yield


def _alone(method: Callable[..., Any]) -> Callable[..., Any]:
    one_at_a_time = threading.Lock()

    @functools.wraps(method)
    def alone(*given: Any, **named: Any) -> Any:
        with one_at_a_time:
            return method(*given, **named)

    return alone


@contextmanager
def moto_endpoint() -> Iterator[str]:
    """Yield the URL of moto, which answers as S3, Kinesis and other services of AWS."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        with one_change_at_a_time():
            yield f"http://{host}:{port}"
    finally:
        server.stop()


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
