"""A running service under patterns, connections and bodies that are made to stop it."""

import asyncio
import contextlib
import os
import signal
import statistics
import threading
import time
from urllib.parse import urlsplit
from urllib.request import urlopen

import psutil
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.service_answers import client_with, shell_of, started, url_in

# Each of them takes a backtracking engine longer than a person waits, with the table `aaa...`.
EXPRESSIONS = [
    "(a+)+b",
    "(a|a)*b",
    "(.*)*(.*)*(.*)*b",
    r"((a|a)+)\1b",
    "(?=(a|a)*b)a",
    "(?<!x)(a|aa)+$(?!a)b",
    "a*" * 50 + "b",
]
HALF = b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 100\r\n"
BODY_BYTES = 2_000_000
HEAD = f"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: {BODY_BYTES}\r\n\r\n".encode()


class Watch(threading.Thread):
    """Asks for /health all the time, and keeps how long each answer took, in seconds."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.url, self.ended, self.took = url, threading.Event(), []

    def run(self):
        while not self.ended.wait(0.02):
            began = time.monotonic()
            with urlopen(f"{self.url}/health", timeout=30) as answer:
                assert answer.read() == b"ok"
            self.took.append(time.monotonic() - began)


@contextlib.contextmanager
def watched(url):
    watch = Watch(url)
    watch.start()
    try:
        yield watch
    finally:
        watch.ended.set()
        watch.join(60)
    assert watch.took


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("hostile"))}
    process, said = started(environ)
    try:
        yield process.pid, url_in(said), shell_of(environ)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@pytest.fixture(scope="module")
def glue(serving):
    client = client_with(serving[2], config=Config(read_timeout=10, retries={"total_max_attempts": 1}))
    client.create_database(DatabaseInput={"Name": "shop"})
    for name in ("a" * 36, "é" + "a" * 200, "orders"):
        client.create_table(DatabaseName="shop", TableInput={"Name": name})
    return client


def seconds_of(call):
    began = time.monotonic()
    with contextlib.suppress(ClientError):
        call()
    return time.monotonic() - began


def calls(glue):
    """One call for each kind of pattern that a client can send."""
    for expression in EXPRESSIONS:
        yield lambda expression=expression: glue.get_tables(DatabaseName="shop", Expression=expression)
        yield lambda expression=expression: glue.get_user_defined_functions(DatabaseName="shop", Pattern=expression)
    for n in range(2):
        yield lambda n=n: glue.create_classifier(
            GrokClassifier={
                "Name": f"grok{n}",
                "Classification": "log",
                "GrokPattern": "%{X}" * 500,
                "CustomPatterns": "X %{Y}%{Y}\nY %{GREEDYDATA}%{GREEDYDATA}",
            }
        )
    yield lambda: glue.create_schema(
        RegistryId={"RegistryName": "default-registry"},
        SchemaName="hostile",
        DataFormat="JSON",
        Compatibility="BACKWARD",
        SchemaDefinition='{"type": "object", "patternProperties": {"^(a|a)*b$": {"type": "string"}}}',
    )
    yield lambda: glue.register_schema_version(
        SchemaId={"RegistryName": "default-registry", "SchemaName": "hostile"},
        SchemaDefinition='{"type": "object", "properties": {"%s": {"type": "string"}}}' % ("a" * 60),
    )


def test_hostile_table_expressions_do_not_stop_the_service(serving, glue):
    with watched(serving[1]) as watch:
        took = [
            seconds_of(lambda expression=expression: glue.get_tables(DatabaseName="shop", Expression=expression))
            for expression in ("(a+)+b", r"((a|a)+)\1b")
        ]
    assert max(took) < 2
    assert statistics.median(watch.took) < 0.1


@pytest.mark.long
def test_no_pattern_of_a_client_stops_the_service(serving, glue):
    with watched(serving[1]) as watch:
        took = [seconds_of(call) for call in calls(glue)]
    assert max(took) < 1
    assert max(watch.took) < 0.1


def test_bodies_without_a_signature_are_not_kept(serving):
    assert asyncio.run(grown(serving, slow=50, bodies=30)) < 30_000_000


@pytest.mark.long
def test_slow_sockets_and_unsigned_bodies_take_little_memory(serving):
    with watched(serving[1]) as watch:
        assert asyncio.run(grown(serving, slow=2000, bodies=500)) < 50_000_000
    assert max(watch.took) < 1


async def grown(serving, slow, bodies):
    """Open connections that stay half open and others with bodies; return by how many bytes the memory grew at most."""
    pid, url, _ = serving
    place = urlsplit(url)
    memory = psutil.Process(pid)
    before, most = memory.memory_info().rss, 0
    writers = []

    async def half_open():
        _, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(HALF)
        writers.append(writer)

    async def body():
        _, writer = await asyncio.open_connection(place.hostname, place.port)
        writers.append(writer)
        with contextlib.suppress(ConnectionError):
            writer.write(HEAD)
            for _ in range(BODY_BYTES // 50_000 - 1):  # the last piece never comes
                writer.write(b"x" * 50_000)
                await writer.drain()
            await asyncio.sleep(0.5)

    async def measure():
        nonlocal most
        while True:
            most = max(most, memory.memory_info().rss)
            await asyncio.sleep(0.01)

    measuring = asyncio.create_task(measure())
    for first in range(0, slow, 100):
        await asyncio.gather(*(half_open() for _ in range(min(100, slow - first))), return_exceptions=True)
    await asyncio.gather(*(body() for _ in range(bodies)), return_exceptions=True)
    await asyncio.sleep(0.5)
    measuring.cancel()
    for writer in writers:
        writer.transport.abort()
    return most - before
