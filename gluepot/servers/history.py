"""Spark's own history server on this machine: it shows the event logs of runs as Spark's UI."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gluepot.core.clock import Clock
from gluepot.core.disk import GIB_BYTES
from gluepot.core.errors import ConfigError
from gluepot.core.private import make_private_folder
from gluepot.core.sockets import LOOPBACK
from gluepot.core.storage.urls import LocalRoot, parse_url
from gluepot.servers import log_mirror
from gluepot.servers.embedded import HttpServer
from gluepot.spark.class_archive import archive_path, with_archive
from gluepot.spark.java import ensure_java
from gluepot.spark.spark_env import spark_home

_CLASS = "org.apache.spark.deploy.history.HistoryServer"
_JVM_OPTIONS = "SPARK_DAEMON_JAVA_OPTS"
_LOOK_EVERY_SECS = 5


class HistoryServer(HttpServer):
    """One server; see `EmbeddedServer`.

    Args:
        folder: as for `EmbeddedServer`.
        logs: the folder of the event logs, local or `s3://`. What is on S3 is copied to this machine all the time.
        port: as for `EmbeddedServer`.
        outlives_us: as for `EmbeddedServer`.
        clock: as for `EmbeddedServer`.
    """

    TITLE = "history server"
    NEEDED_BYTES = GIB_BYTES
    READY_PATH = "/api/v1/applications?limit=1"

    def __init__(
        self, folder: Path, logs: str, *, port: int = 0, outlives_us: bool = False, clock: Clock | None = None
    ) -> None:
        super().__init__(folder, port=port, outlives_us=outlives_us, clock=clock)
        self._logs = logs

    def _prepared(self) -> tuple[list[str], dict[str, str]]:
        make_private_folder(self.folder)
        command = [str(spark_home(os.environ) / "bin" / "spark-class"), _CLASS]
        match parse_url(self._logs):
            case LocalRoot(path):
                if not path.is_dir():
                    raise ConfigError(f"There is no folder {path} with event logs; give another one with --logs.")
                local = path.absolute()
            case _:
                local = self.folder / "logs"
                command = [sys.executable, "-m", log_mirror.__name__, self._logs, str(local), *command]
                local.mkdir(exist_ok=True)
        java = ensure_java(os.environ)
        options = with_archive(os.environ.get(_JVM_OPTIONS, ""), archive_path(java.version))
        return command, {**settings(local, self._port, java.home), _JVM_OPTIONS: options}


def settings(logs: Path, port: int, java_home: Path) -> dict[str, str]:
    """Return the server's environment variables; they reach its JVM through Spark's own start script."""
    options = {
        "spark.history.fs.logDirectory": logs.as_uri(),
        "spark.history.fs.update.interval": f"{_LOOK_EVERY_SECS}s",
        "spark.history.ui.port": str(port),
        "spark.ui.showConsoleProgress": "false",
    }
    return {
        "SPARK_HISTORY_OPTS": " ".join(f"-D{name}={value}" for name, value in options.items()),
        # Spark's pages listen on the address that this variable names.
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_PUBLIC_DNS": LOOPBACK,
        "JAVA_HOME": str(java_home),
    }
