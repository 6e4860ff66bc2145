"""A MariaDB server for tests: started from programs installed here."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pymysql
import pytest
import stamina

from gluepot.core.sockets import LOOPBACK
from gluepot.servers.ports import free_port
from tests.servers import running

PROGRAM = "GLUEPOT_TEST_MARIADBD"
HOW_TO = f"install MariaDB's server programs (Debian: mariadb-server-core), or set {PROGRAM} to the path of mariadbd"
START_SECS = 60


@contextmanager
def mariadb_server() -> Iterator[int]:
    """Yield the port of a server on which root needs no password."""
    program = os.environ.get(PROGRAM) or shutil.which("mariadbd")
    if not program:
        pytest.skip(f"no MariaDB server: {HOW_TO}")
    folder = Path(tempfile.mkdtemp(prefix="gluepot-mariadb-", dir="/tmp"))
    port = free_port(Random())
    options = ["--no-defaults", f"--datadir={folder}/data", f"--socket={folder}/socket", "--skip-grant-tables"]
    if os.geteuid() == 0:
        options.append("--user=root")
    try:
        (folder / "data" / "mysql").mkdir(parents=True)
        command = [
            program, *options, f"--port={port}", f"--bind-address={LOOPBACK}", "--skip-networking=0",
            "--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=4M", "--innodb-buffer-pool-size=16M",
            f"--lc-messages-dir={Path(program).resolve().parents[1]}/share/mysql",
        ]  # fmt: skip
        with running(command, folder):
            for attempt in stamina.retry_context(on=pymysql.err.OperationalError, timeout=START_SECS, wait_max=0.5):
                with attempt, pymysql.connect(host=LOOPBACK, port=port, user="root"):
                    pass
            yield port
    finally:
        shutil.rmtree(folder, ignore_errors=True)
