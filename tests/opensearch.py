"""An OpenSearch server for tests: named in the environment, else one node of OpenSearch itself, with its files in memory."""

from __future__ import annotations

import os
import shutil
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import stamina

from gluepot.core.sockets import LOOPBACK
from gluepot.servers.ports import free_port
from tests.java_server import java_server

ENDPOINT = "GLUEPOT_TEST_OPENSEARCH"
START_SECS = 120


@contextmanager
def opensearch_endpoint() -> Iterator[str]:
    """Yield the URL of a server that tests share; indexes in it must have names of their own."""
    if endpoint := os.environ.get(ENDPOINT):
        yield endpoint
        return
    folder = Path(tempfile.mkdtemp(prefix="gluepot-opensearch-"))
    (folder / "config").mkdir()
    chance = Random()
    http, transport = free_port(chance), free_port(chance)
    url = f"http://{LOOPBACK}:{http}"
    try:
        arguments = [str(folder), str(http), str(transport)]
        with java_server("opensearch-server", "OpensearchServer.java", folder, arguments, "512m"):
            for attempt in stamina.retry_context(on=OSError, attempts=None, timeout=START_SECS, wait_max=0.5):
                with attempt, urllib.request.urlopen(f"{url}/_cluster/health?wait_for_status=yellow", timeout=30):
                    pass
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)
