"""A server of H2, a database that only a Java driver reaches, for tests; asked through a program of Java's own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from uuid import uuid4

import httpx
import stamina

from gluepot.core.sockets import LOOPBACK
from gluepot.servers import jars
from gluepot.servers.ports import free_port
from tests.java_server import java_server

START_SECS = 60
ARCHIVE = "h2-server"


@dataclass(frozen=True)
class H2:
    """A running server.

    Args:
        port: of the database.
        client_port: of the program that executes statements.
    """

    port: int
    client_port: int

    def new_database(self, mode: str = "Regular") -> H2Database:
        """A new database in memory, which behaves as a mode of H2 says."""
        return H2Database(
            self, f"jdbc:h2:tcp://{LOOPBACK}:{self.port}/mem:t{uuid4().hex[:12]};MODE={mode};DB_CLOSE_DELAY=-1"
        )


@dataclass(frozen=True)
class H2Database:
    """A database of a server.

    Args:
        server: that has it.
        url: its JDBC URL.
    """

    server: H2
    url: str

    @property
    def options(self) -> dict[str, str]:
        """What a script says of it."""
        (archive,) = jars.ensure(ARCHIVE)
        return {"url": self.url, "customJdbcDriverS3Path": str(archive)}

    def sql(self, *statements: str) -> list[tuple[str | None, ...]]:
        """Execute statements; return the rows of the last one, each value as text."""
        found: list[tuple[str | None, ...]] = []
        for statement in statements:
            answer = httpx.post(
                f"http://{LOOPBACK}:{self.server.client_port}/", content=f"{self.url}\n\n{statement}", timeout=60
            )
            assert answer.status_code == httpx.codes.OK, answer.text
            lines = answer.text.split("\x1e")[:-1]
            found = [tuple(None if one == "\0" else one for one in line.split("\x1f")[:-1]) for line in lines]
        return found


@contextmanager
def h2_server(heap_mb: int = 256) -> Iterator[H2]:
    """Yield a server whose databases are in memory."""
    folder = Path(tempfile.mkdtemp(prefix="gluepot-h2-"))
    chance = Random()
    server = H2(free_port(chance), free_port(chance))
    ports = [str(server.port), str(server.client_port)]
    try:
        with java_server(ARCHIVE, "H2Server.java", folder, [*ports, str(folder)], f"{heap_mb}m"):
            attempts = stamina.retry_context(on=httpx.HTTPError, attempts=None, timeout=START_SECS, wait_max=0.5)
            for attempt in attempts:
                with attempt:
                    server.new_database().sql("SELECT 1")
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)
