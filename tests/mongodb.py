"""A server of MongoDB's protocol for tests: named in the environment, else mongo-java-server, which keeps all in memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pymongo
import stamina

from gluepot.core.sockets import LOOPBACK
from gluepot.servers.ports import free_port
from tests.java_server import java_server

ENDPOINT = "GLUEPOT_TEST_MONGODB"
START_SECS = 60


@contextmanager
def mongodb_endpoint() -> Iterator[str]:
    """Yield the URI of a server that tests share; databases in it must have names of their own."""
    if endpoint := os.environ.get(ENDPOINT):
        yield endpoint
        return
    folder = Path(tempfile.mkdtemp(prefix="gluepot-mongodb-"))
    port = free_port(Random())
    uri = f"mongodb://{LOOPBACK}:{port}"
    try:
        with java_server("mongodb-server", "MongodbServer.java", folder, [str(port)], "512m"):
            attempts = stamina.retry_context(
                on=pymongo.errors.PyMongoError, attempts=None, timeout=START_SECS, wait_max=0.5
            )
            for attempt in attempts:
                with attempt, pymongo.MongoClient(uri, serverSelectionTimeoutMS=500) as client:
                    client.admin.command("ping")
            yield uri
    finally:
        shutil.rmtree(folder, ignore_errors=True)
