"""python -m benchmarks.crawl: crawl very many small files, then one new folder, on a disk and on an S3 server.

The files are hard links, so that a million of them take no room, and the S3 server serves the same folder. After the
first crawl, each further one finds one new folder: with `--new-folders-only`, beside two listings. Both list every
folder that is not a partition, and the new one, and do nothing else. The bare one is told which folder is new. The one
that knows the partitions reads their names from a file and finds out, as the crawl has to. On S3 they have as many
requests under way as the crawl. With `--again`, everything is crawled once more at the end.

Each side is a process of its own, timed after its imports; the memory shown is the most that a whole process took.
"""

from __future__ import annotations

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import obstore

from benchmarks.gateway import S3Gateway, version
from benchmarks.trial import parser_for, trial
from gluepot.catalog.connect import open_catalog
from gluepot.core.clock import SystemClock
from gluepot.core.storage.s3 import connect
from gluepot.crawl.run import crawl
from gluepot.crawl.settings import EVERYTHING, NEW_FOLDERS, crawl_settings

STORES = ("disk", "s3")
TIMES_BARE = 2
MOST_MB = 500
HOURS = 100
BUCKET = "lake"
# As many as the crawl has.
LISTERS = 8
# A file system lets a file have some 65,000 names.
LINKS = 60_000
TEXT = '{"id": 1, "total": 9.5, "who": "ada"}\n{"id": 2, "total": 20, "who": "bob"}\n'


def main() -> int:
    """Measure, print and save; return 1 where a goal is missed."""
    parser = parser_for(__doc__)
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=10, help="in each partition")
    parser.add_argument("--rounds", type=int, default=5, help="crawls of one new folder")
    parser.add_argument("--again", action="store_true", help="crawl everything once more, which takes as long again")
    parser.add_argument("--on", choices=STORES, action="append", help="default: both")
    asked = parser.parse_args()
    stores: dict[str, dict[str, Any]] = {}
    with trial("crawl", asked.save) as (folder, result):
        lake = folder / "stores" / BUCKET
        made = make(lake, asked.partitions, asked.files)
        names = folder / "known.txt"
        names.write_text("\n".join(f"{one.parent.name}/{one.name}" for one in lake.glob("*/*")))
        for store in asked.on or STORES:
            gateway = S3Gateway(folder / "gateway", lake.parent, takes_parts=False) if store == "s3" else None
            with gateway or nullcontext():
                environ = gateway.environ if gateway else {}
                url = f"s3://{BUCKET}" if gateway else str(lake)
                stores[store] = measured(
                    lake, url, names, folder / f"{store}.db", environ, asked.partitions, asked.rounds, again=asked.again
                )
        result |= {
            "files": made,
            "partitions": asked.partitions,
            "stores": stores,
            "goals": {"ratio": TIMES_BARE, "peak_mb": MOST_MB},
            "server": version() if "s3" in stores else "",
            "load": os.getloadavg(),
        }
    print(json.dumps(stores, indent=1))
    return int(any(one["ratio"] > TIMES_BARE or one["peak_mb"] > MOST_MB for one in stores.values()))


def measured(
    lake: Path,
    url: str,
    names: Path,
    catalog: Path,
    environ: dict[str, str],
    partitions: int,
    rounds: int,
    *,
    again: bool,
) -> dict[str, Any]:
    """Return what the crawls of one store take.

    Args:
        lake: the folder, in which new folders are made.
        url: by which it is crawled.
        names: file of the partitions that exist, one in a line; grows.
        catalog: file of the catalog that the crawls write; new.
        environ: for the sides.
        partitions: that the first crawl has to find, beside the new ones of another store.
        rounds: how many new folders are made, one after the other.
        again: whether everything is crawled once more.
    """
    first = side("crawled", EVERYTHING, url, str(catalog), environ=environ)
    assert first["found"] >= partitions, first
    print(f"{url}: first crawl {first['secs']:.1f} s, {first['peak_mb']:.0f} MB", file=sys.stderr)
    sides: dict[str, list[dict[str, float]]] = {"bare": [], "knowing": [], "new": []}
    for n in range(rounds):
        new = lake / "day=0000" / f"hour=new{n}-{catalog.stem}"
        new.mkdir()
        (new / "part.json").write_text(TEXT)
        sides["bare"].append(side("listed", url, new.name, environ=environ))
        sides["knowing"].append(side("listed_knowing", url, str(names), environ=environ))
        sides["new"].append(side("crawled", NEW_FOLDERS, url, str(catalog), environ=environ))
        last = {name: each[-1] for name, each in sides.items()}
        assert all(one["found"] == 1 for one in last.values()), last
        print(", ".join(f"{name} {one['secs']:.3f} s" for name, one in last.items()), file=sys.stderr)
        with names.open("a") as file:
            file.write(f"\n{new.parent.name}/{new.name}")
    whole = {"first": first}
    if again:
        whole["again"] = side("crawled", EVERYTHING, url, str(catalog), environ=environ)
        assert whole["again"]["found"] == 0, whole
    ours = sides["new"]
    return {
        **{name: _shown(one) for name, one in whole.items()},
        **{name: {"secs": [round(one["secs"], 3) for one in each]} for name, each in sides.items()},
        "ratio": _ratio(ours, sides["knowing"]),
        "ratio_bare": _ratio(ours, sides["bare"]),
        "peak_mb": round(max(one["peak_mb"] for one in (*whole.values(), *ours))),
    }


def _shown(one: dict[str, float]) -> dict[str, float]:
    return {"secs": round(one["secs"], 1), "peak_mb": round(one["peak_mb"])}


def _ratio(ours: Sequence[dict[str, float]], others: Sequence[dict[str, float]]) -> float:
    return round(statistics.median(mine["secs"] / one["secs"] for mine, one in zip(ours, others, strict=True)), 2)


def make(lake: Path, partitions: int, files: int) -> int:
    """Write small files, equally many in each partition, and return how many there are."""
    made, sources = 0, lake.parent.parent / "sources"
    sources.mkdir(parents=True)
    source = sources
    for partition in range(partitions):
        place = lake / f"day={partition // HOURS:04d}" / f"hour={partition % HOURS:02d}"
        place.mkdir(parents=True)
        for file in range(files):
            if made % LINKS == 0:
                source = sources / f"{made // LINKS}.json"
                source.write_text(TEXT)
            os.link(source, place / f"part-{file}.json")
            made += 1
    return made


def side(what: str, *arguments: str, environ: dict[str, str]) -> dict[str, float]:
    """Run one side as a process of its own."""
    code = f"from benchmarks.crawl import __main__ as one; one.measure(one.{what}, {arguments!r})"
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environ}
    )
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def measure(what: Any, arguments: tuple[str, ...]) -> None:
    """List or crawl, and print what it took."""
    began = time.perf_counter()
    found = what(*arguments)
    secs = time.perf_counter() - began
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"secs": secs, "found": found, "peak_mb": peak_mb}))


def listed(url: str, new: str) -> int:
    """List the folders above the partitions, and the one of them that has this name; return how many files it has."""
    return _files(url, [f"{day}/{hour}" for day, hours in _levels(url) for hour in hours if hour == new])


def listed_knowing(url: str, names: str) -> int:
    """List the folders above the partitions, and those that a file does not name; return how many files these have."""
    known = set(Path(names).read_text().split("\n"))
    return _files(url, [new for day, hours in _levels(url) for hour in hours if (new := f"{day}/{hour}") not in known])


def _levels(url: str) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the names of the folders above the partitions, each with the names of its partitions."""
    if not url.startswith("s3:"):
        for day in os.scandir(url):
            with os.scandir(day) as hours:
                yield day.name, [hour.name for hour in hours]
        return
    store = connect(BUCKET, "")
    above = obstore.list_with_delimiter(store)["common_prefixes"]
    with ThreadPoolExecutor(LISTERS) as pool:
        levels = pool.map(lambda one: obstore.list_with_delimiter(store, one)["common_prefixes"], above)
        for one, inside in zip(above, levels, strict=True):
            yield one.rstrip("/"), [each.rstrip("/").rpartition("/")[2] for each in inside]


def _files(url: str, folders: Iterable[str]) -> int:
    if not url.startswith("s3:"):
        return sum(1 for folder in folders for _ in os.scandir(f"{url}/{folder}"))
    store = connect(BUCKET, "")
    return sum(len(obstore.list_with_delimiter(store, folder)["objects"]) for folder in folders)


def crawled(recrawl: str, url: str, database: str) -> int:
    """Crawl and return the number of new partitions."""
    log = {"UpdateBehavior": "LOG", "DeleteBehavior": "LOG"}
    settings = crawl_settings(
        {
            "Name": "big",
            "DatabaseName": "big",
            "Targets": {"S3Targets": [{"Path": url}]},
            "RecrawlPolicy": {"RecrawlBehavior": recrawl},
            **({"SchemaChangePolicy": log} if recrawl == NEW_FOLDERS else {}),
        }
    )
    catalog = open_catalog(f"sqlite:///{database}", SystemClock())
    try:
        report = crawl(settings, catalog, random.Random(1), "run", make_database=True)
    finally:
        catalog.close()
    return sum(len(one.added) for one in report.tables)


if __name__ == "__main__":
    sys.exit(main())
