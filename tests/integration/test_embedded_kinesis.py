from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from gluepot.cli.servers import down, status, up
from gluepot.core.cachedir import cache_root
from gluepot.core.clock import SystemClock
from gluepot.core.sockets import LOOPBACK
from gluepot.servers.kinesis import KinesisServer, arn
from gluepot.servers.ports import is_free

CLOCK = SystemClock()
DEADLINE_SECS = 20.0


def client_of(url: str):
    return boto3.client("kinesis", endpoint_url=url, region_name="us-east-1")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, aws_credentials: None) -> Iterator[KinesisServer]:
    with KinesisServer(tmp_path_factory.mktemp("kinesis")) as running:
        yield running


@pytest.fixture
def own_home(tmp_path, monkeypatch, aws_credentials) -> Iterator[Path]:
    """A cache without servers that has the packages of the real one."""
    home = tmp_path / "home"
    home.mkdir()
    packages = cache_root(os.environ) / "npm"
    packages.mkdir(parents=True, exist_ok=True)
    (home / "npm").symlink_to(packages)
    monkeypatch.setenv("GLUEPOT_HOME", str(home))
    yield home
    down()


def running(capsys) -> list[dict[str, object]]:
    capsys.readouterr()
    status(output="json")
    return json.loads(capsys.readouterr().out)


def test_a_stream_has_the_arn_that_is_said(server):
    client = client_of(server.url)
    client.create_stream(StreamName="s", ShardCount=1)
    client.get_waiter("stream_exists").wait(StreamName="s", WaiterConfig={"Delay": 1})
    summary = client.describe_stream_summary(StreamARN=arn("s"))["StreamDescriptionSummary"]
    assert (summary["StreamName"], summary["StreamStatus"]) == ("s", "ACTIVE")


def test_the_emulator_listens_on_loopback_alone(server):
    addresses = {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), server.port, socket.AF_INET)}
    for address in addresses - {LOOPBACK} - {one for one in addresses if one.startswith("127.")}:
        with pytest.raises(OSError), socket.create_connection((address, server.port), timeout=1):
            pass
    assert not is_free(server.port)


def test_the_emulator_ends_while_a_client_keeps_its_connection(tmp_path, aws_credentials):
    own = KinesisServer(tmp_path / "own")
    own.start()
    client = client_of(own.url)
    assert client.list_streams()["StreamNames"] == []
    began = CLOCK.monotonic()
    own.stop()
    assert is_free(own.port)
    assert CLOCK.monotonic() - began < DEADLINE_SECS / 4


def test_the_emulator_ends_after_kill_9_of_its_supervisor(tmp_path, aws_credentials):
    own = KinesisServer(tmp_path / "own")
    own.start()
    os.kill(own.process.pid, signal.SIGKILL)
    deadline = CLOCK.monotonic() + DEADLINE_SECS
    while not is_free(own.port) and CLOCK.monotonic() < deadline:
        CLOCK.sleep(0.05)
    assert is_free(own.port)
    own.stop()


def test_up_starts_an_emulator_that_status_shows_and_down_ends(own_home, capsys):
    up("kinesis")
    (shown,) = running(capsys)
    assert (shown["server"], shown["address"]) == ("kinesis", f"http://{shown['bootstrap']}")
    assert client_of(str(shown["address"])).list_streams()["StreamNames"] == []
    up("kinesis", stream=["clicks"], shards=2)
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("kinesis already runs at http://")
    assert said[1] == f"Stream clicks is created, with 2 shards: {arn('clicks')}"
    assert f"  export AWS_ENDPOINT_URL_KINESIS={shown['address']}" in said
    up("kinesis", stream=["clicks"])
    assert f"Stream clicks exists already, with 2 shards: {arn('clicks')}" in capsys.readouterr().out
    status(output="env")
    assert capsys.readouterr().out.startswith(f"export AWS_ENDPOINT_URL_KINESIS={shown['address']}\n")
    assert client_of(str(shown["address"])).list_streams()["StreamNames"] == ["clicks"]
    down()
    assert running(capsys) == []
