"""A standalone Spark cluster on this machine: a master and workers of one core, each a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from gluepot.spark.class_archive import archive_path, with_archive
from gluepot.spark.java import ensure_java
from tests.e2e.jobs import wait_until

LOOPBACK = "127.0.0.1"
CLASSES = "org.apache.spark.deploy"
WORKER_MEMORY = "512m"
# Master, workers and executors live for a minute or two. The optimising compiler and the threads of the default
# collector do not pay for themselves in that time.
JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


@contextmanager
def spark_cluster(folder: Path, workers: int) -> Iterator[str]:
    """Yield the URL of a master whose workers are registered; they end with the context."""
    folder.mkdir()
    with ExitStack() as running:
        master = running.enter_context(_daemon(folder / "master", "master.Master", "--port", "0", "--webui-port", "0"))
        url = _found(master, r"Starting Spark master at (spark://\S+)")
        resources = ("--cores", "1", "--memory", WORKER_MEMORY, "--webui-port", "0")
        logs = [
            running.enter_context(
                _daemon(
                    folder / f"worker-{at}", "worker.Worker", *resources, "--work-dir", str(folder / f"work-{at}"), url
                )
            )
            for at in range(workers)
        ]
        for log in logs:
            _found(log, r"(Successfully registered with master)")
        yield url


@contextmanager
def _daemon(log: Path, name: str, *arguments: str) -> Iterator[Path]:
    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    java = ensure_java(os.environ)
    environment = {
        **os.environ,
        "JDK_JAVA_OPTIONS": with_archive(JAVA, archive_path(java.version)),  # executors inherit it from their workers
        "JAVA_HOME": str(java.home),
        "SPARK_DAEMON_MEMORY": "128m",
        "SPARK_LOCAL_IP": LOOPBACK,
    }
    command = [str(spark_class), f"{CLASSES}.{name}", "--host", LOOPBACK, *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
    try:
        yield log
    finally:
        process.terminate()
        process.wait()


def _found(log: Path, pattern: str) -> str:
    wait_until(lambda: re.search(pattern, log.read_text()), f"{pattern} in {log}")
    match = re.search(pattern, log.read_text())
    assert match
    return match[1]
