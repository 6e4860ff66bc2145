"""Two sides of a comparison, each a process of its own that is told when to drain (see `benchmarks.side`)."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import psutil

from benchmarks.side import Drain

SAMPLE_SECS = 0.1
BEFORE = "before"
"""The side that runs another version of this project."""
BEFORE_HELP = "a checkout of an earlier version, set up, to compare with in place of the others"


@dataclass
class Side:
    """A running side and what was measured of it.

    Args:
        name: for the table.
        process: the side's driver; its JVM and workers are its children.
        way: the way of draining, which the process is given each time.
    """

    name: str
    process: subprocess.Popen[str]
    way: str = ""
    secs: list[float] = field(default_factory=list)
    whole_secs: list[float] = field(default_factory=list)
    cpu_secs: list[float] = field(default_factory=list)
    rss_bytes: list[list[int]] = field(default_factory=list)

    @classmethod
    def start(cls, name: str, module: str, *arguments: str, checkout: Path | None = None) -> Side:
        """Start a side and wait until its Spark is up.

        Args:
            name: for the table.
            module: what the process runs.
            arguments: of the module.
            checkout: the folder of another version of this project, with its own `.venv`, whose code runs.
        """
        process = subprocess.Popen(
            [str(checkout / ".venv/bin/python") if checkout else sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
        )
        side = cls(name, process)
        side._answer()
        return side

    def another_way(self, way: str) -> Side:
        """Return a side that is this side's process draining in another way, named after it.

        Two processes of the same code differ by 2 % and more from start to end. A price of that size can only be seen
        within one.
        """
        return Side(way, self.process, way)

    def run(self, given: Drain, *, counts: bool) -> float:
        """Drain once and return the seconds it took as a whole; the measurements are kept if the round counts."""
        cpu_before = _cpu_secs(self.process.pid)
        memory = _Memory(self.process.pid)
        assert self.process.stdin is not None
        with memory:
            print(json.dumps(asdict(replace(given, way=self.way))), file=self.process.stdin, flush=True)
            answer = self._answer()
        if counts:
            self.secs.append(answer["secs"])
            self.whole_secs.append(answer["whole_secs"])
            self.cpu_secs.append(_cpu_secs(self.process.pid) - cpu_before)
            self.rss_bytes.append(memory.quarters())
        return answer["whole_secs"]

    def _answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with {self.process.wait()}")
        return dict(json.loads(line))

    def stop(self) -> None:
        """End the side."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class _Memory:
    """Resident memory of a process tree, sampled: driver, JVM and workers together."""

    def __init__(self, pid: int) -> None:
        self._samples: list[int] = []
        self._pid = pid
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._done.wait(SAMPLE_SECS):
            self._samples.append(round(_sum_over_tree(self._pid, lambda one: one.memory_info().rss)))

    def quarters(self) -> list[int]:
        """Return the peak of each quarter of the time, so that growth from batch to batch shows."""
        size = max(1, -(-len(self._samples) // 4))
        return [max(self._samples[i : i + size]) for i in range(0, len(self._samples), size)]


def _sum_over_tree(pid: int, read: Callable[[psutil.Process], float]) -> float:
    """Add up a figure of a process and all that descend from it; one that ends meanwhile counts as nothing."""
    total = 0.0
    root = psutil.Process(pid)
    for one in [root, *root.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            total += read(one)
    return total


def _cpu_secs(pid: int) -> float:
    return _sum_over_tree(pid, lambda one: sum(one.cpu_times()[:4]))  # its own and that of its children that ended


def ratio(ours: Sequence[float], other: Sequence[float]) -> float:
    """Return the median, over the pairs, of how many times as much the other side takes."""
    return round(statistics.median(b / a for a, b in zip(ours, other, strict=True)), 3)
