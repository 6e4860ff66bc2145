"""python -m benchmarks.planning [files] [partitions]: plan runs of a bookmarked job that each find one new file.

The first run reads everything. Each of the following ones gets one new file; timed is what its read does, from asking
the ledger to the list of tasks. Beside each of them, in turn, two bare listings of the same folders: ours, which a
read without bookmarks does too, and `os.walk` with the size and the time of every file. Each side is a process of its
own; the memory shown is the most that a whole process took.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gluepot.bookmarks.files_input import files_input
from gluepot.bookmarks.jobrun import Bookmarks, JobRun
from gluepot.bookmarks.ledger import Owner, RunStart, open_ledger
from gluepot.bookmarks.ledger.lease import Heartbeat
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.core.clock import SystemClock

RUNS = 5
TIMES_BARE = 1.5
MOST_MB = 500


def main() -> int:
    """Measure and print; return 1 where a goal is missed."""
    files, partitions = (int(one) for one in (*sys.argv[1:], *("200000", "2000")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp) / "in"
        make(folder, files, partitions)
        first = side("run", temp)
        print(f"first run: {first['read']} files in {first['secs']:.2f} s, {first['peak_mb']:.0f} MB")
        ratios, to_walk, peaks = [], [], []
        for n in range(RUNS):
            (folder / "day=0" / f"new-{n}.json").write_text("{}")
            walk, bare, ours = side("walk", temp), side("list", temp), side("run", temp)
            assert ours["read"] == 1, ours
            assert walk["read"] == bare["read"] == files + n + 1, (walk, bare)
            ratios.append(ours["secs"] / bare["secs"])
            to_walk.append(ours["secs"] / walk["secs"])
            peaks.append(ours["peak_mb"])
            print(f"os.walk {walk['secs']:.2f} s, listing {bare['secs']:.2f} s, next run {ours['secs']:.2f} s")
    ratio, peak = statistics.median(ratios), max(peaks)
    print(f"{files} files, {partitions} partitions: {ratio:.2f}x the bare listing (goal {TIMES_BARE}),")
    print(f"{statistics.median(to_walk):.2f}x os.walk, {peak:.0f} MB")
    return int(ratio > TIMES_BARE or peak > MOST_MB)


def make(folder: Path, files: int, partitions: int) -> None:
    """Write small files, equally many in each partition."""
    for day in range(partitions):
        partition = folder / f"day={day}"
        partition.mkdir(parents=True)
        for n in range(files // partitions):
            (partition / f"part-{n:05}.json").write_text("{}")


def side(name: str, temp: str) -> dict[str, float]:
    """Run one side in a process of its own."""
    ended = subprocess.run([sys.executable, "-m", "benchmarks.planning", name, temp], check=True, capture_output=True)
    return json.loads(ended.stdout.splitlines()[-1])


def measured(name: str, temp: Path) -> dict[str, float]:
    """Do what a side does and return what it took; saving a bookmark is not part of the time."""
    secs, read = {"walk": walk, "list": bare, "run": planned}[name](temp)
    return {"secs": secs, "read": read, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def bare(temp: Path) -> tuple[float, int]:
    """List as a read without bookmarks does; return the time and how many there are."""
    began = time.perf_counter()
    found = sum(1 for _ in list_files(settings(temp).listing, ListingStats()))
    return time.perf_counter() - began, found


def walk(temp: Path) -> tuple[float, int]:
    """List as quickly as Python can; return the time and how many there are."""
    began = time.perf_counter()
    found = 0
    for folder, _, names in os.walk(temp / "in"):
        for name in names:
            stat = os.stat(f"{folder}/{name}")  # noqa: PTH116  the fastest there is
            found += stat.st_size > 0 and stat.st_mtime_ns > 0
    return time.perf_counter() - began, found


def planned(temp: Path) -> tuple[float, int]:
    """Run a job that only plans; return the time of that and how many files it would read."""
    clock = SystemClock()
    ledger = open_ledger(f"sqlite:///{temp}/ledger.db", clock)
    run = ledger.begin(RunStart("copy", f"jr_{time.time_ns()}", "enable"), Owner("here", os.getpid()), None)
    marks = Bookmarks(ledger, run, Heartbeat(ledger, run, ttl_secs=3600))
    began = time.perf_counter()
    made = files_input(settings(temp), "source", JobRun("copy", "", None, marks), 2, clock)
    secs = time.perf_counter() - began
    marks.commit()
    return secs, sum(len(split.files) for split in made.splits)


def settings(temp: Path) -> FileReadSettings:
    """Return those of the read."""
    return FileReadSettings.from_glue({"paths": [str(temp / "in")]}, "json", {})


if __name__ == "__main__":
    if sys.argv[1:2] in (["walk"], ["list"], ["run"]):
        print(json.dumps(measured(sys.argv[1], Path(sys.argv[2]))))
    else:
        sys.exit(main())
