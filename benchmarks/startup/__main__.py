"""`python -m benchmarks.startup`: from the start of a process to its first rows in a table, ours and stock in turns.

Each round a new process of each side reads the same small topic. Ours is `gluepot run` with a script; its rows are
there when their manifest is, stock's when the first file has its final name. The time is the file system's own.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import duckdb

from benchmarks.drain.shapes import SHAPES
from benchmarks.paired import ratio
from benchmarks.topics import preload
from benchmarks.trial import parser_for, rounded, trial
from etlcore.clock import SystemClock
from gluepot.servers.kafka import KafkaBroker

TOPIC = "startup"
PARTITIONS = 4
JOB = Path(__file__).parent / "job.py"
OURS, STOCK = "gluepot", "stock"


def main() -> int:
    """Run the rounds, print the times and their ratio."""
    parser = parser_for(__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    with trial("startup", asked.save) as (folder, result):
        secs = measure(asked, folder)
        ours, stock = secs[OURS], secs[STOCK]
        result |= {
            "records": asked.records,
            "secs": {name: rounded(one) for name, one in secs.items()},
            "time": ratio(stock, ours),
        }
    print(f"{OURS} {rounded(ours)}, median {statistics.median(ours):.2f} s; {STOCK} {rounded(stock)}")
    print(f"start to first rows: {result['time']} of stock's time (median of the rounds' ratios)")
    return 0


def measure(asked: argparse.Namespace, folder: Path) -> dict[str, list[float]]:
    """Run all rounds, of which the first fills the disk's cache and does not count."""
    secs: dict[str, list[float]] = {OURS: [], STOCK: []}
    with KafkaBroker(folder / "kafka") as broker:
        preload(broker.bootstrap, TOPIC, SHAPES["e500"].payloads(asked.records), PARTITIONS)
        for round_number in range(asked.pairs + 1):
            for name in (OURS, STOCK) if round_number % 2 else (STOCK, OURS):
                work = folder / f"{name}-{round_number}"
                took = started(command(name, broker.bootstrap, work, asked.cores), work / "table", asked.records)
                if round_number > 0:
                    secs[name].append(took)
    return secs


def command(side: str, bootstrap: str, work: Path, cores: int) -> list[str]:
    """Return what starts a side that writes to `work`/table and ends when it has written what there is."""
    checkpoint, table = str(work / "checkpoint"), str(work / "table")
    if side == STOCK:
        return [sys.executable, "-m", "benchmarks.startup.stock", bootstrap, TOPIC, checkpoint, table, str(cores)]
    given = {"JOB_NAME": "startup", "bootstrap": bootstrap, "topic": TOPIC, "checkpoint": checkpoint, "table": table}
    options = [text for name, value in given.items() for text in (f"--{name}", value)]
    run = ["run", str(JOB), "--until-caught-up", "--master", f"local[{cores}]"]
    return [sys.executable, "-m", "gluepot", *run, "--", *options]


def started(given: Sequence[str], table: Path, records: int) -> float:
    """Run a side and return the seconds until its first rows were there; all of them have to be at the end."""
    began = SystemClock().epoch()
    subprocess.run(given, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    files = list(table.glob("*/*.parquet"))
    (written,) = duckdb.sql(f"SELECT count(*) FROM read_parquet('{table}/*/*.parquet')").fetchall()[0]
    if written != records:
        raise SystemExit(f"{' '.join(given)} wrote {written} of {records} records")
    manifests = list(table.glob("_gluepot/commits/**/*.json"))
    return min(one.stat().st_ctime for one in manifests or files) - began


if __name__ == "__main__":
    raise SystemExit(main())
