"""The processes of a start, watched from outside: what each one is, when it began and what processor time it took."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import psutil

from gluepot.spark.fork_server import PLANNER_NAME, SERVER_NAME

SAMPLE_SECS = 0.025

_ROLES_BY_NAME = {SERVER_NAME: "server of forks", PLANNER_NAME: "planner: offsets"}
"""Forks bear the command line of the driver."""

_ROLES = (
    ("org.apache.spark.deploy.SparkSubmit", "JVM"),
    ("org.apache.spark.launcher.Main", "Spark's launcher"),
    ("lookup_data_sources", "planner: sources looked up"),
    ("create_data_source", "planner: source made"),
    ("plan_data_source_read", "planner: reads planned"),
    ("python_streaming_source_runner", "planner: offsets"),
    ("worker_daemon", "worker daemon"),
    ("pyspark.daemon", "worker daemon"),
    ("gluepot", "driver"),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A process.

    Args:
        pid: its number.
        role: what it is there for; forks of a daemon bear its name.
        began_secs: seconds since 1970.
        cpu_secs: processor time when it was last seen.
    """

    pid: int
    role: str
    began_secs: float
    cpu_secs: float


def role(command: Sequence[str], name: str = "") -> str:
    """Return what a process is there for, by its command line and its name.

    >>> role(["python", "-m", "pyspark.daemon", "pyspark.sql.worker.create_data_source"])
    'planner: source made'
    """
    if name in _ROLES_BY_NAME:
        return _ROLES_BY_NAME[name]
    text = " ".join(command)
    found = next((role for word, role in _ROLES if word in text), None)
    return found or (command[0].rsplit("/", 1)[-1] if command else "?")


class Watch:
    """Watches a process and all that descend from it, from entering to leaving."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._seen: dict[int, Seen] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def seen(self) -> list[Seen]:
        """All that were seen, in the order in which they began."""
        return sorted(self._seen.values(), key=lambda one: one.began_secs)

    def _sample(self) -> None:
        while not self._done.wait(SAMPLE_SECS):
            try:
                there = [self._root, *self._root.children(recursive=True)]
            except psutil.Error:
                return
            for one in there:
                try:
                    cpu, known = one.cpu_times(), self._seen.get(one.pid)
                    # What a process is shows in its command line only once it has been replaced after the fork.
                    command = one.cmdline()  # empty when it has ended
                    name = role(command, one.name()) if command or not known else known.role
                    began = known.began_secs if known else one.create_time()
                    self._seen[one.pid] = Seen(one.pid, name, began, cpu.user + cpu.system)
                except psutil.Error:
                    continue


def by_role(seen: Sequence[Seen]) -> list[Seen]:
    """Add up processes of one role; they begin when the first of them does."""
    summed: dict[str, Seen] = {}
    for one in sorted(seen, key=lambda each: each.began_secs):
        known = summed.get(one.role)
        summed[one.role] = replace(known, cpu_secs=known.cpu_secs + one.cpu_secs) if known else one
    return list(summed.values())
