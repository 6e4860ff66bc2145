"""What a job does differently on the host: it takes its JVM from there, and gives it back as it got it."""

from __future__ import annotations

import atexit
import os
import runpy
import socket
import sys
import threading
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from gluepot.spark import early_jvm
from tests.job_host.jvms import key, of_java, properties_file, settings
from tests.job_host.messages import receive, send

POLL_SECS = 0.01
EXECUTOR_VARIABLE = "spark.executorEnv."
LEFT_TO_THE_JVM = ("spark.submit.", "spark.app.submitTime")
"""Settings that spark-submit makes itself."""


class LentJvm:
    """A JVM of the host, as `gluepot.spark.early_jvm` expects it."""

    def __init__(self, host: socket.socket, environ: Mapping[str, str]) -> None:
        self.process = None
        self._host = host
        self._properties = settings(properties_file(environ).read_text())
        self._wanted = dict(environ)
        send(host, {"key": key(self._properties, environ), "environ": of_java(environ)})
        lease, _ = receive(host)
        assert lease is not None, "the job host has ended"
        self._lease = lease
        self._surroundings = early_jvm.Surroundings.now()

    def suits(self, given: Mapping[str, str], environ: Mapping[str, str], surroundings: early_jvm.Surroundings) -> bool:
        is_same = dict(environ) == self._wanted and surroundings == self._surroundings
        return is_same and early_jvm.can_be_set_later(given, is_local=True)

    def ready(self, clock: object) -> tuple[int, str] | None:
        told = Path(self._lease["told"])
        while not told.exists():
            if not Path(f"/proc/{self._lease['pid']}").exists():
                return None
            time.sleep(POLL_SECS)
        content = told.read_bytes()
        return int.from_bytes(content[:4], "big"), content[8:].decode()

    def stop(self) -> None:
        """Leave it; the host ends a JVM that is not given back."""

    def forget(self) -> None:
        """Keep its folder, which the next job reads."""

    def set_up(self, gateway: Any) -> None:
        """Give it the settings of this job, and its workers the environment."""
        system = gateway.jvm.java.lang.System
        workers = {
            f"{EXECUTOR_VARIABLE}{name}": value
            for name, value in self._wanted.items()
            if name not in of_java(self._wanted)
        }
        for name, value in {**self._properties, **workers, "user.dir": str(Path.cwd())}.items():
            system.setProperty(name, value)

    def give_back(self, gateway: Any) -> None:
        """Take back what this job has set, and tell the host that the next one can have it."""
        jvm = gateway.jvm
        jvm.org.apache.hadoop.fs.FileSystem.closeAll()
        jvm.org.apache.spark.sql.SparkSession.clearActiveSession()
        jvm.org.apache.spark.sql.SparkSession.clearDefaultSession()
        for name in list(jvm.java.lang.System.getProperties().stringPropertyNames()):
            if name.startswith("spark.") and not name.startswith(LEFT_TO_THE_JVM):
                jvm.java.lang.System.clearProperty(name)
        send(self._host, {"released": True})


def run(arguments: list[str], host: socket.socket) -> int:
    """Run a module in this process, such as the command line of the product; return its exit code."""
    lent: list[LentJvm] = []
    gateways: list[Any] = []
    context: Any = import_module("pyspark.core.context")
    launch = context.launch_gateway

    def start(environ: Mapping[str, str], *, is_local: bool) -> LentJvm:
        lent.append(LentJvm(host, environ))
        return lent[-1]

    def launch_gateway(conf: Any = None, popen_kwargs: Any = None) -> Any:
        is_lent = "PYSPARK_GATEWAY_PORT" in os.environ
        gateway = launch(conf, popen_kwargs)
        if is_lent:
            gateways.append(gateway)
            lent[-1].set_up(gateway)
        return gateway

    early_jvm.start = start  # type: ignore[assignment]
    context.launch_gateway = launch_gateway
    code = _exit_code(arguments)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if gateways and context.SparkContext._active_spark_context is None:
        lent[-1].give_back(gateways[-1])
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _exit_code(arguments: list[str]) -> int:
    """Run a module as `python -m` does; return the exit code that Python would end with."""
    option, module, *others = arguments
    assert option == "-m"
    sys.argv = [module, *others]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001  as Python does at its end
        sys.excepthook(*sys.exc_info())
        return 1
    return 0
