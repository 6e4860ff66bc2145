"""A MariaDB server for tests: from programs installed here, else from the archive that `make setup` fetches."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pymysql
import pytest
import stamina

from gluepot.core.cachedir import cache_root
from gluepot.core.errors import EtlError
from gluepot.core.sockets import LOOPBACK
from gluepot.servers import jars
from gluepot.servers.ports import free_port
from tests.servers import running

PROGRAM = "GLUEPOT_TEST_MARIADBD"
HOW_TO = f"install MariaDB's server programs (Debian: mariadb-server-core), or set {PROGRAM} to the path of mariadbd"
START_SECS = 60
ARCHIVE = "mariadb-server"
# What a server needs of the archive: its program and its messages.
MEMBERS = ("/linux/bin/mariadbd", "/linux/share/english/errmsg.sys")


@contextmanager
def mariadb_server(*, encrypts: bool = False) -> Iterator[int]:
    """Yield the port of a server on which root needs no password.

    Args:
        encrypts: whether it makes itself a certificate, which takes some seconds.
    """
    program = _program()
    folder = Path(tempfile.mkdtemp(prefix="gluepot-mariadb-", dir="/tmp"))
    port = free_port(Random())
    options = ["--no-defaults", f"--datadir={folder}/data", f"--socket={folder}/socket", "--skip-grant-tables"]
    if os.geteuid() == 0:
        options.append("--user=root")
    try:
        (folder / "data" / "mysql").mkdir(parents=True)
        command = [
            program, *options, f"--port={port}", f"--bind-address={LOOPBACK}", "--skip-networking=0",
            "--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=64M", "--innodb-buffer-pool-size=64M",
            "--innodb-flush-method=nosync", "--innodb-doublewrite=0", "--innodb-undo-tablespaces=0", "--sync-frm=0",
            "--skip-name-resolve", *([] if encrypts else ["--skip-ssl"]),
            f"--lc-messages-dir={_messages(Path(program))}",
        ]  # fmt: skip
        with running(command, folder):
            refused = pymysql.err.OperationalError
            for attempt in stamina.retry_context(on=refused, attempts=None, timeout=START_SECS, wait_max=0.5):
                with attempt, pymysql.connect(host=LOOPBACK, port=port, user="root", ssl_disabled=True):
                    pass
            yield port
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_schema(port: int) -> Iterator[str]:
    """Yield the JDBC URL of an empty database, dropped afterwards."""
    name = f"t_{uuid4().hex[:12]}"
    with pymysql.connect(host=LOOPBACK, port=port, user="root", autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        try:
            yield f"jdbc:mysql://{LOOPBACK}:{port}/{name}?user=root"
        finally:
            with connection.cursor() as cursor:
                cursor.execute(f"DROP DATABASE {name}")


def schema_of(url: str) -> str:
    """The name of the database that a JDBC URL names."""
    return url.partition("?")[0].rpartition("/")[2]


@contextmanager
def _cursor(url: str) -> Iterator[Any]:
    host, _, port = url.removeprefix("jdbc:mysql://").partition("/")[0].partition(":")
    login = {"host": host, "port": int(port), "user": "root", "database": schema_of(url)}
    with (
        pymysql.connect(**login, autocommit=True, ssl_disabled=True, charset="utf8mb4") as connection,
        connection.cursor() as cursor,
    ):
        yield cursor


def sql(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Execute statements in a database, given by its JDBC URL; return the rows of the last one."""
    with _cursor(url) as cursor:
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall()) if statements else []


def rows(url: str, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    """Return the rows of a statement with `%s` for each value."""
    with _cursor(url) as cursor:
        cursor.execute(statement, tuple(values) or None)
        return list(cursor.fetchall())


def _program() -> str:
    """The server's program; without one the test is skipped."""
    found = os.environ.get(PROGRAM) or shutil.which("mariadbd")
    if not found and (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        found = _of_archive()
    if not found:
        pytest.skip(f"no MariaDB server: {HOW_TO}")
    return found


def _of_archive() -> str | None:
    """The program of the archive, unpacked into the cache; None if it cannot be fetched, or does not start here."""
    try:
        (archive,) = jars.ensure(ARCHIVE)
    except EtlError:
        return None
    folder = cache_root(os.environ) / ARCHIVE / archive.stem
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            _unpack(archive, Path(made) / "linux")
            try:
                (Path(made) / "linux").rename(folder)
            except OSError:  # another process was faster
                if not folder.exists():
                    raise
    program = folder / "bin" / "mariadbd"
    starts = subprocess.run([program, "--no-defaults", "--version"], capture_output=True, check=False).returncode == 0
    return str(program) if starts else None


def _unpack(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        for member in opened.namelist():
            if member.endswith(MEMBERS):
                target = folder / member.partition("/linux/")[2]
                target.parent.mkdir(parents=True)
                with opened.open(member) as source, target.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
                target.chmod(0o755)


def _messages(program: Path) -> Path:
    """The folder of the server's messages: Debian's, or the one beside the program."""
    share = program.resolve().parents[1] / "share"
    return share / "mysql" if (share / "mysql").exists() else share
