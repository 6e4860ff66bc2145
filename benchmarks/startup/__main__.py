"""`python -m benchmarks.startup`: what a start takes: a small batch job, a stream, and a stream that was killed.

Each round is a new process of each side, in turns: `gluepot run` with a script, the same of another checkout that was
set up (`--old FOLDER`), and stock PySpark for the stream. The batch job reads and writes ten rows and is timed from its
start to its end. A stream reads a small topic and is timed from its start to its first rows: ours are there when their
manifest is, stock's when the first file has its final name; the time is the file system's own. A stream that was killed
after its first batch is timed from its new start to its next manifest. One more round of ours is watched: its phases,
and the processor time of each process.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.drain.shapes import SHAPES
from benchmarks.paired import ratio
from benchmarks.startup.marks import FILE, first_of_each, read
from benchmarks.startup.processes import Watch, by_role
from benchmarks.topics import load, preload
from benchmarks.trial import parser_for, rounded, trial
from gluepot.core.clock import SystemClock
from gluepot.servers.kafka import KafkaBroker

PARTITIONS = 4
BATCH_ROWS = 10
FOLDER = Path(__file__).parent
OURS, OLD, STOCK = "gluepot", "old", "stock"
BATCH, STREAM, RESTART = "batch job", "stream", "stream after a kill"
GOALS_SECS = {BATCH: 4.0, STREAM: 5.0, RESTART: 5.5}
FIRST_BATCH_SECS = 120.0


@dataclass(frozen=True, slots=True)
class Took:
    """What one start took, seconds.

    Args:
        secs: to the end of the batch job, or to the rows of a stream.
        cpu_secs: processor time of all processes until all of them had ended.
    """

    secs: float
    cpu_secs: float


@dataclass(frozen=True, slots=True)
class Ready:
    """A start that only has to be made.

    Args:
        command: what starts it.
        rows: in the table when it has ended.
        files: files of the table, relative to its folder.
    """

    command: Sequence[str]
    rows: int
    files: str = "*/*.parquet"


@dataclass(frozen=True, slots=True)
class Side:
    """A checkout that was set up, or stock PySpark."""

    name: str
    checkout: Path

    @property
    def python(self) -> str:
        """Its interpreter."""
        own = self.checkout / ".venv" / "bin" / "python"
        return str(own) if self.name == OLD else sys.executable


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a measurement works."""

    folder: Path
    broker: KafkaBroker
    cores: int
    records: int

    def run_ours(self, side: Side, script: str, work: Path, *, ends: bool = True, **given: str) -> list[str]:
        """Return the command that runs one of our scripts."""
        given = {"JOB_NAME": "startup", "table": str(work / "table"), **given}
        options = [text for name, value in given.items() for text in (f"--{name}", value)]
        ending = ["--until-caught-up"] if ends else []
        run = ["run", str(side.checkout / "benchmarks" / "startup" / script), *ending]
        return [side.python, "-m", "gluepot", *run, "--master", f"local[{self.cores}]", "--", *options]

    def run_stream(self, side: Side, topic: str, work: Path, *, ends: bool = True) -> list[str]:
        """Return the command that reads a topic to its end, or until it is killed."""
        if side.name == STOCK:
            arguments = [self.broker.bootstrap, topic, str(work / "checkpoint"), str(work / "table"), str(self.cores)]
            return [side.python, "-m", "benchmarks.startup.stock", *arguments]
        places = {"bootstrap": self.broker.bootstrap, "topic": topic, "checkpoint": str(work / "checkpoint")}
        return self.run_ours(side, "job.py", work, ends=ends, **places)

    def filled(self, name: str) -> str:
        """Return the name of a new topic with records."""
        preload(self.broker.bootstrap, name, self._payloads(), PARTITIONS)
        return name

    def fill_further(self, name: str) -> None:
        """Send as many records again."""
        load(self.broker.bootstrap, name, self._payloads())

    def _payloads(self) -> Iterable[bytes]:
        return SHAPES["e500"].payloads(self.records)


def main() -> int:
    """Run the rounds, print the times, the phases and the goals."""
    parser = parser_for(__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--old", type=Path, metavar="FOLDER", help="another checkout, set up, to compare with")
    parser.add_argument("--case", action="append", choices=[BATCH, STREAM, RESTART], help="only this one")
    asked = parser.parse_args()
    with trial("startup", asked.save) as (folder, result):
        result |= {"records": asked.records, "cores": asked.cores, "cases": measure(asked, folder)}
    for name, case in result["cases"].items():
        _print(name, case)
    return 0


def measure(asked: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run all rounds, of which the first fills the disk's cache and does not count."""
    found = {}
    here = Path.cwd()
    with KafkaBroker(folder / "kafka") as broker:
        bench = Bench(folder, broker, asked.cores, asked.records)
        for case in asked.case or list(CASES):
            sides = [Side(OURS, here)]
            sides += [Side(OLD, asked.old.resolve())] if asked.old else []
            sides += [Side(STOCK, here)] if case == STREAM else []
            took: dict[str, list[Took]] = {side.name: [] for side in sides}
            for number in range(asked.pairs + 1):
                for side in sides if number % 2 else reversed(sides):
                    work = folder / f"{case}-{side.name}-{number}".replace(" ", "-")
                    one = timed(bench, case, side, work)
                    if number > 0:
                        took[side.name].append(one)
            found[case] = _result(case, took) | watched(bench, case, sides[0])
    return found


def _result(case: str, took: dict[str, list[Took]]) -> dict[str, Any]:
    ours = [one.secs for one in took[OURS]]
    others = {name: ratio([one.secs for one in of], ours) for name, of in took.items() if name != OURS}
    return {
        "goal_secs": GOALS_SECS[case],
        "secs": {name: rounded([one.secs for one in of]) for name, of in took.items()},
        "cpu_secs": {name: rounded([one.cpu_secs for one in of]) for name, of in took.items()},
        "time": others,
    }


def _print(name: str, case: dict[str, Any]) -> None:
    for side, secs in case["secs"].items():
        cpu = case["cpu_secs"][side]
        medians = f"median {statistics.median(secs):.2f} s, processor time {statistics.median(cpu):.2f} s"
        print(f"{name}, {side}: {medians}; {secs}, {cpu}")
    print(f"  of the time of {case['time']}, goal {case['goal_secs']} s")
    for phase in case["phases"]:
        print(f"  {phase['secs']:6.2f} s  {phase['name']}")
    for process in case["processes"]:
        print(
            f"  {process['cpu_secs']:6.2f} s of processor time, from {process['began_secs']:.2f} s: {process['name']}"
        )


def ready_batch_job(bench: Bench, side: Side, work: Path) -> Ready:
    """Lay out ten rows that a job will read and write."""
    rows = work / "rows.json"
    work.mkdir(parents=True)
    rows.write_text("".join(f'{{"id": {number}, "name": "n{number}"}}\n' for number in range(BATCH_ROWS)))
    return Ready(bench.run_ours(side, "batch_job.py", work, rows=str(rows)), BATCH_ROWS, "*.parquet")


def ready_stream(bench: Bench, side: Side, work: Path) -> Ready:
    """Fill a topic that a stream has not seen."""
    return Ready(bench.run_stream(side, bench.filled(f"topic-{work.name}"), work), bench.records)


def ready_restart(bench: Bench, side: Side, work: Path) -> Ready:
    """Kill the processes of a stream after its first batch, and give it more to read."""
    clock, topic = SystemClock(), bench.filled(f"topic-{work.name}")
    running = subprocess.Popen(
        bench.run_stream(side, topic, work, ends=False),
        cwd=side.checkout,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = clock.monotonic() + FIRST_BATCH_SECS
        while not list((work / "checkpoint").glob("commits/[0-9]*")):
            if clock.monotonic() > deadline or running.poll() is not None:
                raise SystemExit(f"the stream that was to be killed committed nothing in {FIRST_BATCH_SECS:.0f} s")
            clock.sleep(0.1)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    bench.fill_further(topic)
    return Ready(bench.run_stream(side, topic, work), 2 * bench.records)


CASES = {BATCH: ready_batch_job, STREAM: ready_stream, RESTART: ready_restart}


def timed(bench: Bench, case: str, side: Side, work: Path) -> Took:
    """Start a side once and look at what it wrote."""
    ready = CASES[case](bench, side, work)
    before = len(_written(work / "table"))
    began_epoch = SystemClock().epoch()
    ended = subprocess.run(
        [sys.executable, str(FOLDER / "reaped.py"), *ready.command],
        check=True,
        cwd=side.checkout,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    told = json.loads(ended.stdout)
    files = work / "table" / ready.files
    (rows,) = duckdb.sql(f"SELECT count(*) FROM read_parquet('{files}')").fetchall()[0]
    if rows != ready.rows:
        raise SystemExit(f"{files} has {rows} rows instead of {ready.rows}")
    secs = told["wall_secs"] if case == BATCH else _written(work / "table")[before] - began_epoch
    return Took(secs, told["cpu_secs"])


def watched(bench: Bench, case: str, side: Side) -> dict[str, Any]:
    """Run our side once more and return its phases and its processes."""
    work = bench.folder / f"watched-{case}".replace(" ", "-")
    marks = bench.folder / f"{work.name}.marks"
    ready = CASES[case](bench, side, work)
    last_epoch = SystemClock().epoch()
    running = subprocess.Popen(
        ready.command,
        cwd=side.checkout,
        env={**os.environ, FILE: str(marks)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with Watch(running.pid) as watch:
        running.wait()
    phases = []
    for name, at_epoch in first_of_each([*read(marks), ("end of the process", SystemClock().epoch())]):
        phases.append({"name": name, "secs": round(at_epoch - last_epoch, 2)})
        last_epoch = at_epoch
    start = watch.seen[0].began_secs
    return {
        "phases": phases,
        "processes": [
            {"name": one.role, "began_secs": round(one.began_secs - start, 2), "cpu_secs": round(one.cpu_secs, 2)}
            for one in by_role(watch.seen)
        ],
    }


def _written(table: Path) -> list[float]:
    """Return when rows became visible, in order: manifests; files where there are none."""
    manifests = list(table.glob("_gluepot/commits/**/*.json"))
    return sorted(one.stat().st_ctime for one in manifests or table.glob("*/*.parquet"))


if __name__ == "__main__":
    raise SystemExit(main())
