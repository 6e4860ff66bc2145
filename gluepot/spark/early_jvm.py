"""Starts Spark's JVM before a script needs it. The JVM takes a second to start, in which Python loads its modules.

By itself, PySpark starts the JVM with the first SparkContext, from the script's SparkConf and the environment at that
moment. So PySpark gets the early JVM only if neither would make a difference to it, and if the working folder and the
output files are still the same. Otherwise the early JVM ends, and PySpark starts its own as usual.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError
from gluepot.spark.spark_env import spark_home

_POLL_SECS = 0.01
_TOLD = "gateway"
_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
"""Variables by which PySpark connects to a JVM that is already running; `pyspark.java_gateway` reads them."""

_AFTER_START = (
    "spark.app.",
    "spark.cleaner.",
    "spark.default.",
    "spark.driver.maxResultSize",
    "spark.dynamicAllocation.",
    "spark.eventLog.",
    "spark.executor.",
    "spark.hadoop.",
    "spark.kryo",
    "spark.memory.",
    "spark.network.",
    "spark.rdd.",
    "spark.rpc.",
    "spark.scheduler.",
    "spark.serializer",
    "spark.shuffle.",
    "spark.speculation",
    "spark.sql.",
    "spark.streaming.",
    "spark.task.",
    "spark.ui.",
)
"""Settings that only the SparkContext reads, neither the JVM's command line nor spark-submit."""


def can_be_set_later(settings: Mapping[str, str], *, is_local: bool) -> bool:
    """Return whether a running JVM can accept a script's settings.

    Args:
        settings: the settings by name.
        is_local: the JVM was started for a local master, so it accepts any other local master.
    """
    return all(
        name.startswith(_AFTER_START) or (name == "spark.master" and is_local and value.startswith("local"))
        for name, value in settings.items()
    )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a process that is started inherits beside its environment.

    Args:
        working_folder: of this process.
        outputs: device and number of the files behind standard output and error; None for one that is closed.
    """

    working_folder: str
    outputs: tuple[tuple[int, int] | None, ...]

    @classmethod
    def now(cls) -> Surroundings:
        """Return the surroundings of this process at this moment."""
        return cls(str(Path.cwd()), tuple(map(_file_behind, (1, 2))))


def _file_behind(descriptor: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@dataclass(frozen=True, slots=True)
class EarlyJvm:
    """A JVM that is starting, and what it was started with.

    Args:
        process: `spark-submit`, which becomes the JVM.
        folder: where it writes its port and secret.
        environ: its environment.
        surroundings: what else it inherited.
        is_local: the settings of the run name a local master.
    """

    process: subprocess.Popen[bytes]
    folder: Path
    environ: Mapping[str, str]
    surroundings: Surroundings
    is_local: bool

    @property
    def told(self) -> Path:
        """The file that it writes when it is ready."""
        return self.folder / _TOLD

    def suits(self, settings: Mapping[str, str], environ: Mapping[str, str], surroundings: Surroundings) -> bool:
        """Return whether a JVM that PySpark started now, with these settings of a script, would be the same."""
        is_same = dict(environ) == self.environ and surroundings == self.surroundings
        return is_same and can_be_set_later(settings, is_local=self.is_local)

    def ready(self, clock: Clock) -> tuple[int, str] | None:
        """Wait until the JVM is ready and return its port and secret; None if it has ended."""
        while not self.told.exists():
            if self.process.poll() is not None:
                return None
            clock.sleep(_POLL_SECS)
        content = self.told.read_bytes()
        return int.from_bytes(content[:4], "big"), content[8:].decode()

    def stop(self) -> None:
        """End the JVM."""
        self.process.kill()
        self.process.wait()
        self.forget()

    def forget(self) -> None:
        """Remove the JVM's folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def start(environ: Mapping[str, str], *, is_local: bool) -> EarlyJvm:
    """Start a JVM as PySpark does.

    The JVM ends with this process, because its standard input closes then. It ignores SIGINT and SIGTERM, and so do the
    processes that it starts: shells, `timeout` and systemd signal all processes of a job, and what follows is the
    driver's decision.

    Args:
        environ: the environment of the driver, with PYSPARK_SUBMIT_ARGS.
        is_local: the master is local.

    Raises:
        ConfigError: `spark-submit` cannot be started; nothing of the attempt is left.
    """
    home = spark_home(environ)
    folder = Path(tempfile.mkdtemp(prefix="gluepot-jvm-"))
    own = {"SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(folder / _TOLD)}
    arguments = shlex.split(environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    try:
        process = subprocess.Popen(
            [f"{home}/bin/spark-submit", *arguments],
            env={**environ, **own},
            preexec_fn=_leave_signals_to_driver,  # noqa: PLW1509  PySpark does so too, and later, with more threads
            stdin=subprocess.PIPE,
        )
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise ConfigError(
            f"{home}/bin/spark-submit cannot be started: {error.strerror}. Unset SPARK_HOME, or let it name the folder"
            " of a Spark."
        ) from error
    return EarlyJvm(process, folder, dict(environ), Surroundings.now(), is_local)


def _leave_signals_to_driver() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def handed_over(master: str, clock: Clock) -> Iterator[None]:
    """Start a JVM and have PySpark use it for its first gateway; stop it at the end if PySpark has not asked for it.

    Nothing is started if this process has a gateway already, or if the environment names one.

    Args:
        master: Spark's master in this run.
        clock: for the wait until the JVM is ready.
    """
    if _PORT in os.environ or _has_gateway():
        yield
        return
    jvm = start(os.environ, is_local=master.startswith("local"))
    context: Any = import_module("pyspark.core.context")  # takes a while, during which the JVM starts
    launch, is_asked_for = context.launch_gateway, False

    def launch_or_take(conf: Any = None, popen_kwargs: Any = None) -> Any:
        nonlocal is_asked_for
        context.launch_gateway, is_asked_for = launch, True
        settings = dict(conf.getAll()) if conf else {}
        told = jvm.ready(clock) if jvm.suits(settings, os.environ, Surroundings.now()) else None
        if told is None:
            jvm.stop()
            # PySpark lets its JVM ignore SIGINT only. In a group of its own it gets no signal that is meant for ours.
            return launch(conf, {"process_group": 0, **(popen_kwargs or {})})
        jvm.forget()
        port, secret = told
        os.environ[_PORT], os.environ[_SECRET] = str(port), secret
        try:
            gateway = launch(conf, popen_kwargs)
        finally:
            del os.environ[_PORT], os.environ[_SECRET]
        gateway.proc = jvm.process
        return gateway

    context.launch_gateway = launch_or_take
    try:
        yield
    finally:
        if not is_asked_for:
            context.launch_gateway = launch
            jvm.stop()


def _has_gateway() -> bool:
    pyspark = sys.modules.get("pyspark")
    context = getattr(pyspark, "SparkContext", None)
    return getattr(context, "_gateway", None) is not None
