"""The JVMs of a job host: what a job needs of one, which are free, and which one it gets. Starts none by itself."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gluepot.spark import early_jvm

MOST_JOBS = 25
"""A JVM that has run so many jobs ends, because it never frees what a driver that has ended held in it."""
MOST_FREE = 2
"""JVMs that wait for a job; each takes some hundred MB."""
OF_JAVA = ("AWS_", "JAVA_", "SPARK_", "HADOOP_", "HOME", "LD_", "PATH", "PYSPARK_SUBMIT_ARGS", "TMPDIR", "TZ")
"""How the names of variables begin that Java code reads."""


def properties_file(environ: Mapping[str, str]) -> Path:
    """Return the file with Spark's settings of a run."""
    arguments = shlex.split(environ["PYSPARK_SUBMIT_ARGS"])
    return Path(arguments[arguments.index("--properties-file") + 1])


def settings(text: str) -> dict[str, str]:
    """Return the settings in the text of a properties file."""
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {line[0]: line[1] if len(line) > 1 else "" for line in lines}


def key(properties: Mapping[str, str], environ: Mapping[str, str]) -> str:
    """Return what two jobs have in common that can use the same JVM."""
    given = {n: v for n, v in properties.items() if not early_jvm.can_be_set_later({n: v}, is_local=True)}
    variables = of_java(environ)
    arguments = variables.pop("PYSPARK_SUBMIT_ARGS").replace(str(properties_file(environ)), "")
    return json.dumps([sorted(given.items()), sorted(variables.items()), arguments])


def of_java(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a JVM is started with."""
    return {name: value for name, value in environ.items() if name.startswith(OF_JAVA)}


@dataclass
class Jvm:
    """A JVM that was started.

    Args:
        key: of the jobs that it can run.
        started: what ends it.
        jobs: how many it has run.
    """

    key: str
    started: early_jvm.EarlyJvm
    jobs: int = 0

    def lease(self) -> dict[str, Any]:
        """Return the message that hands it to a job."""
        return {"pid": self.started.process.pid, "told": str(self.started.told)}


class FreeJvms:
    """JVMs that wait for a job; the one that waits longest ends when there are too many."""

    def __init__(self) -> None:
        self._free: list[Jvm] = []

    def take(self, wanted: str) -> Jvm | None:
        """Return a free JVM for a key, the one that ran last; None if there is none."""
        for jvm in reversed(self._free):
            if jvm.key == wanted:
                self._free.remove(jvm)
                return jvm
        return None

    def put_back(self, jvm: Jvm) -> None:
        """Keep a JVM for the next job, unless it has run enough of them."""
        jvm.jobs += 1
        if jvm.jobs >= MOST_JOBS or jvm.started.process.poll() is not None:
            jvm.started.stop()
            return
        self._free.append(jvm)
        if len(self._free) > MOST_FREE:
            self._free.pop(0).started.stop()

    def stop(self) -> None:
        """End all that are free."""
        while self._free:
            self._free.pop().started.stop()
