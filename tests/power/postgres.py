"""A PostgreSQL server whose data lie on a disk that forgets, for the ledger."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psycopg

from gluepot.core.sockets import LOOPBACK
from gluepot.core.storage.filesystem import OsFileSystem
from gluepot.servers.ports import free_port
from tests.crash.driver import wait_until
from tests.postgresql import lent_user, make_cluster, server_program
from tests.power.machine import Machine

START_SECS = 60.0

# Small logs, because the disk is in memory; few connections, because each start makes room for all.
CLUSTER = ("--wal-segsize=1",)
SETTINGS = {"max_connections": "20", "shared_buffers": "4MB", "max_wal_size": "8MB", "min_wal_size": "2MB"}


@dataclass
class Postgres:
    """A server that is started again after each cut.

    Args:
        data: its data folder, on the disk that forgets.
        own: a folder that does not forget, for its socket and its log.
        port: on loopback.
    """

    data: Path
    own: Path
    port: int
    _server: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://postgres@{LOOPBACK}:{self.port}/postgres"

    def start(self) -> None:
        """Start it and wait until it has recovered what it had written."""
        postgres = server_program("postgres")
        assert postgres is not None
        with suppress(FileNotFoundError):
            (self.data / "postmaster.pid").unlink()  # as the scripts of a machine's start do
        settings = SETTINGS | {"port": str(self.port), "unix_socket_directories": str(self.own)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.own / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [postgres, "-D", self.data, *options],
                cwd=self.own, stdout=log, stderr=log, start_new_session=True, **lent_user(),
            )  # fmt: skip
        wait_until(self._answers, "PostgreSQL after a cut", START_SECS)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:  # it is still starting, or writes again what its log has
            return False
        return True

    def kill(self) -> None:
        """SIGKILL all its processes. Those that wait for the disk end when the disk is gone; see `wait`."""
        if self._server is not None:
            for one in _children(self._server.pid):
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until none of its processes is left."""
        if self._server is not None:
            self._server.wait()
            self._server = None


def _children(pid: int) -> list[int]:
    """The server, first, so that it starts no more, and its children, each of which leads a session of its own."""
    below = Path(f"/proc/{pid}/task/{pid}/children")
    return [pid, *map(int, below.read_text().split())] if below.exists() else [pid]


def missing() -> str:
    """Why no server can be started here; empty if one can."""
    return "" if server_program("initdb") else "a ledger on PostgreSQL needs its server programs: make packages"


@contextmanager
def postgres(disk: Path) -> Iterator[Postgres]:
    """Make a cluster on a disk that forgets and start its server."""
    initdb = server_program("initdb")
    assert initdb is not None
    own, folder = Path(tempfile.mkdtemp(prefix="gluepot-pg-", dir="/tmp")), disk / "postgresql"
    folder.mkdir()
    if user := lent_user():
        shutil.chown(own, user["user"], user["group"])
    server = Postgres(folder / "data", own, free_port(Random()))
    try:
        make_cluster(initdb, server.data, *CLUSTER)
        for one in (folder, disk):  # initdb flushes what it makes, not the names above it
            OsFileSystem().sync_folder(one)
        server.start()
        yield server
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(own, ignore_errors=True)


def restart(
    mounted: Machine, server: Postgres | None, seed: str | None, end: Callable[[], object] = lambda: None
) -> None:
    """Bring back what has survived, and a database's server on it.

    Args:
        mounted: what has lost its power.
        server: of a database whose data lie there.
        seed: of what survives; None: all does.
        end: waits for others that were killed, once their files are dead.
    """
    if server is not None:
        server.kill()
    mounted.leave()
    end()
    if server is not None:
        server.wait()
    mounted.restart(seed)
    if server is not None:
        server.start()
