"""A PostgreSQL server for tests: named in the environment, else started from programs installed here, else in a container."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import stamina

from gluepot.core.sockets import LOOPBACK
from gluepot.servers.ports import free_port
from tests.servers import docker_answers, running

ENDPOINT = "GLUEPOT_TEST_POSTGRESQL"
IMAGE = "postgres:16-alpine"
HOW_TO = f"set {ENDPOINT}=postgresql://user@host/database, or install PostgreSQL's server programs, or start Docker"
START_SECS = 60


@contextmanager
def postgresql_endpoint() -> Iterator[str]:
    """Yield the URL of a server that tests share; the user in it may create databases."""
    if endpoint := os.environ.get(ENDPOINT):
        yield endpoint
    elif initdb := server_program("initdb"):
        with _own_server(initdb) as url:
            yield url
    elif docker_answers():
        from testcontainers.community.postgres import PostgresContainer

        with PostgresContainer(IMAGE, driver=None) as container:
            yield container.get_connection_url()
    else:
        pytest.skip(f"no PostgreSQL server: {HOW_TO}")


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """Yield the URL of an empty database, dropped afterwards."""
    name = f"t_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield _of_database(server, name)
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _of_database(server: str, name: str) -> str:
    base, question, options = server.partition("?")
    return f"{base.rsplit('/', 1)[0]}/{name}{question}{options}"


def server_program(name: str) -> Path | None:
    """Return one of PostgreSQL's server programs, the newest that is installed."""
    found = shutil.which(name)
    newest = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return Path(found).resolve() if found else next(iter(newest), None)


def lent_user() -> dict[str, Any]:
    """Return what `subprocess` needs to run the server's programs, which refuse root, as another user."""
    return {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}


def make_cluster(initdb: Path, data: Path, *options: str) -> None:
    """Make a data folder, whose user `postgres` needs no password; the folder that it is made in changes its owner."""
    as_user = lent_user()
    if as_user:
        shutil.chown(data.parent, as_user["user"], as_user["group"])
    made = [initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", *options]
    subprocess.run(made, check=True, capture_output=True, cwd=data.parent, **as_user)


@contextmanager
def _own_server(initdb: Path) -> Iterator[str]:
    """Run a server on a port of this machine alone; it refuses to run as root, so root lends it another user."""
    folder = Path(tempfile.mkdtemp(prefix="gluepot-pg-", dir="/tmp"))
    as_user = lent_user()
    data = folder / "data"
    try:
        make_cluster(initdb, data, "--no-sync")
        port = free_port(Random())
        # A port, because Java's driver knows no sockets of the file system.
        settings = {"listen_addresses": LOOPBACK, "port": port, "unix_socket_directories": str(folder), "fsync": "off"}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        url = f"postgresql://postgres@{LOOPBACK}:{port}/postgres"
        with running([initdb.with_name("postgres"), "-D", data, *options], folder, **as_user):
            for attempt in stamina.retry_context(on=psycopg.OperationalError, timeout=START_SECS, wait_max=0.5):
                with attempt, psycopg.connect(url):
                    pass
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)
