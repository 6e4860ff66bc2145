"""Shards that are split and merged at random while records arrive and queries end and begin: every record once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from uuid import uuid4

import pytest

from gluepot.servers.kinesis import KinesisServer
from gluepot.streaming.query import session
from tests.crash.kinesis_stream import KinesisStream
from tests.integration.conftest import Stream

SEED = int(os.environ.get("GLUEPOT_RESHARD_SEED", "20261121"))
RESHARDS = 8


@pytest.fixture(params=["embedded", "localstack"])
def endpoint(request, tmp_path, aws_credentials) -> Iterator[str]:
    if request.param == "localstack":
        yield request.getfixturevalue("localstack")
    else:
        with KinesisServer(tmp_path / "kinesis") as server:
            yield server.url


@pytest.fixture
def stream(endpoint) -> Stream:
    made = KinesisStream.create(endpoint, f"s-{uuid4().hex[:8]}", 2)
    return Stream(endpoint, made.name, made.client)


@contextmanager
def reshards(stream: Stream) -> Iterator[threading.Event]:
    """Reshard so many times; yields what is set when that is done."""
    done, failures = threading.Event(), []
    reshard = KinesisStream(stream.endpoint, stream.name, stream.client).reshard

    def run() -> None:
        chance = Random(SEED)
        try:
            for _ in range(RESHARDS):
                reshard(chance)
                stream.rest(chance.uniform(0.0, 1.0))
        except Exception as error:  # noqa: BLE001  raised below, in the test
            failures.append(error)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield done
    finally:
        thread.join()
    if failures:
        raise failures[0]


def test_every_record_is_in_the_table_once(job, stream):
    print(f"seed {SEED}; GLUEPOT_RESHARD_SEED=N runs another one")
    told = {"connection_type": "kinesis", "windowSize": "0 seconds", "batchMaxRetries": 0}
    with stream.records_arriving() as sent, reshards(stream) as done:
        while not done.is_set():
            job.drain(stream.options(), drain=session.Drain(max_batches=4), **told)
    job.drain(stream.options(), **told)

    assert len(stream.client.list_shards(StreamName=stream.name)["Shards"]) >= 2 + RESHARDS
    assert sorted(n for (n,) in job.rows("n")) == sent
