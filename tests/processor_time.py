"""Measures the processor time of each file of tests, of the processes that it starts included.

`scripts.test_run` sets `FOLDER_VARIABLE`; each process of pytest then writes a file of JSON lines into that folder, with
a `name` and `secs` each. A server that several files share counts where it was started and where it runs on. What has
lost its parent, as the JVM of a job that has ended, is left to `scripts.reaping`.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

FOLDER_VARIABLE = "GLUEPOT_TEST_PROCESSOR_TIMES"
COLLECTION = "collection"
"""The name of what a process used before its first test."""


def tree_secs() -> float:
    """Return the processor time that this process and its descendants have used so far, those that ended included."""
    secs = sum(sum(resource.getrusage(of)[:2]) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            secs += sum(child.cpu_times()[:4])
    return secs


class ProcessorTimes:
    """Notes the processor time between the first test of a file and the first of the next.

    Args:
        path: the file that takes the lines.
        used_secs: tells the processor time used so far. It may shrink when a process loses its parent.
    """

    def __init__(self, path: Path, used_secs: Callable[[], float] = tree_secs) -> None:
        self._path = path
        self._used_secs = used_secs
        self._name = COLLECTION
        self._began_secs = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        name = item.nodeid.partition("::")[0]
        if name != self._name:
            self._note()
            self._name = name
        return (yield)

    def pytest_sessionfinish(self) -> None:
        self._note()

    def _note(self) -> None:
        now_secs = self._used_secs()
        secs, self._began_secs = max(0.0, now_secs - self._began_secs), now_secs
        with self._path.open("a") as file:
            file.write(json.dumps({"name": self._name, "secs": round(secs, 2)}) + "\n")


def register(config: pytest.Config) -> None:
    """Measure this process of pytest if it was asked to. The process that hands tests out to others runs none."""
    if config.getoption("numprocesses", None):
        return
    folder = os.environ.pop(FOLDER_VARIABLE, None)  # processes that the tests start are part of this one
    if folder is not None:
        config.pluginmanager.register(ProcessorTimes(Path(folder) / f"{os.getpid()}.jsonl"), "processor-times")
