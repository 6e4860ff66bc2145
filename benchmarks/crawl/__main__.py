"""python -m benchmarks.crawl [partitions] [files in each]: crawl very many small files, then one new folder.

The files are hard links, so that a million of them take no room. After the first crawl, each further one finds one new
folder: with `--new-folders-only`, beside a walk of the folders that are not those of known partitions, and at last one
crawl of everything. Each side is a process of its own; the memory shown is the most that a whole process took.
"""

from __future__ import annotations

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gluepot.catalog.connect import open_catalog
from gluepot.core.clock import SystemClock
from gluepot.crawl.run import crawl
from gluepot.crawl.settings import EVERYTHING, NEW_FOLDERS, crawl_settings

RUNS = 3
TIMES_BARE = 2
MOST_MB = 500
HOURS = 100
# A file system lets a file have some 65,000 names.
LINKS = 60_000
TEXT = '{"id": 1, "total": 9.5, "who": "ada"}\n{"id": 2, "total": 20, "who": "bob"}\n'


def main() -> int:
    """Measure and print; return 1 where a goal is missed."""
    partitions, files = (int(one) for one in (*sys.argv[1:], *("100000", "10")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp) / "lake"
        made = make(folder, partitions, files)
        first = side(EVERYTHING, temp)
        assert first["added"] == partitions, first
        print(f"first crawl: {made} files, {partitions} partitions in {first['secs']:.1f} s, {first['peak_mb']:.0f} MB")
        ratios, peaks = [], [first["peak_mb"]]
        for n in range(RUNS):
            (folder / "day=0000" / f"hour=new{n}").mkdir()
            (folder / "day=0000" / f"hour=new{n}" / "part.json").write_text(TEXT)
            walk, ours = side("walk", temp), side(NEW_FOLDERS, temp)
            assert ours["added"] == 1, ours
            ratios.append(ours["secs"] / walk["secs"])
            peaks.append(ours["peak_mb"])
            print(f"walk of folders {walk['secs']:.2f} s, crawl of one new folder {ours['secs']:.2f} s")
        again = side(EVERYTHING, temp)
        peaks.append(again["peak_mb"])
        print(f"crawl of everything again: {again['secs']:.1f} s, {again['peak_mb']:.0f} MB")
    ratio, peak = statistics.median(ratios), max(peaks)
    print(f"{ratio:.2f}x the walk (goal {TIMES_BARE}), at most {peak:.0f} MB (goal {MOST_MB})")
    return int(ratio > TIMES_BARE or peak > MOST_MB)


def make(folder: Path, partitions: int, files: int) -> int:
    """Write small files, equally many in each partition, and return how many there are."""
    made, source = 0, folder.parent / "source"
    for partition in range(partitions):
        place = folder / f"day={partition // HOURS:04d}" / f"hour={partition % HOURS:02d}"
        place.mkdir(parents=True)
        for file in range(files):
            if made % LINKS == 0:
                source = folder.parent / f"source-{made // LINKS}.json"
                source.write_text(TEXT)
            os.link(source, place / f"part-{file}.json")
            made += 1
    return made


def side(what: str, folder: str) -> dict[str, float]:
    """Run one side as a process of its own."""
    code = f"from benchmarks.crawl.__main__ import measure; measure({what!r}, {folder!r})"
    run = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def measure(what: str, folder: str) -> None:
    """Walk or crawl, and print what it took."""
    began = time.perf_counter()
    added = walk(Path(folder) / "lake") if what == "walk" else crawled(what, folder)
    secs = time.perf_counter() - began
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"secs": secs, "added": added, "peak_mb": peak_mb}))


def walk(lake: Path) -> int:
    """List the folders above the partitions, which is the least that finds a new one; return how many they hold."""
    return sum(1 for day in os.scandir(lake) for _ in os.scandir(day))


def crawled(recrawl: str, folder: str) -> int:
    """Crawl and return the number of new partitions."""
    log = {"UpdateBehavior": "LOG", "DeleteBehavior": "LOG"}
    settings = crawl_settings(
        {
            "Name": "big",
            "DatabaseName": "big",
            "Targets": {"S3Targets": [{"Path": f"{folder}/lake"}]},
            "RecrawlPolicy": {"RecrawlBehavior": recrawl},
            **({"SchemaChangePolicy": log} if recrawl == NEW_FOLDERS else {}),
        }
    )
    catalog = open_catalog(f"sqlite:///{folder}/catalog.db", SystemClock())
    try:
        report = crawl(settings, catalog, random.Random(1), "run", make_database=True)
    finally:
        catalog.close()
    return sum(len(one.added) for one in report.tables)


if __name__ == "__main__":
    sys.exit(main())
