"""`python -m benchmarks.batch`: batch jobs over files, unchanged Glue scripts beside stock Spark and DuckDB, in turns.

Four jobs: JSON lines and CSV, each mapped into a partitioned table and aggregated by SQL. What each side writes is read
by DuckDB and must be equal, or the time does not count. Returns 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.batch import orders
from benchmarks.paired import BEFORE, BEFORE_HELP, Side, ratio
from benchmarks.side import Drain
from benchmarks.trial import parser_for, rounded, trial

SIDES = {"gluepot": "ours", "stock": "stock", "duckdb": "duck"}
"""Modules by the names of the sides."""
TITLES = {
    "mapping json": "JSON lines, ApplyMapping, glueparquet",
    "mapping csv": "CSV, ApplyMapping, glueparquet",
    "sql json": "JSON lines, toDF, SQL, glueparquet",
    "sql csv": "CSV, toDF, SQL, glueparquet",
}
GOALS = {
    **{job: {"stock": 6.67, "duckdb": 0.77} for job in ("mapping json", "mapping csv")},
    **{job: {"stock": 4.0, "duckdb": 0.5} for job in ("sql json", "sql csv")},
}
"""How many times as long the others should take at least: 0.15 and 0.25 of stock's time, 1.3 and 2 times DuckDB's."""


def main() -> int:
    """Write the rows, warm up, run the rounds, print times and ratios."""
    parser = parser_for(__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--job", action="append", choices=TITLES, help="all by default, several allowed")
    parser.add_argument("--before", type=Path, help=BEFORE_HELP)
    asked = parser.parse_args()
    with trial("batch", asked.save) as (folder, result):
        found = measure(asked, folder)
        result |= {
            "rows": asked.rows,
            "files": orders.FILES,
            "cores": asked.cores,
            "jobs": found,
            "load": os.getloadavg(),
        }
    for job in found:
        for name, side in job["sides"].items():
            print(f"{job['title']:50} {name:8} {side['secs']} s, CPU {side['cpu_secs']} s")
        for name, one in job["ratios"].items():
            goal = "" if one["goal"] is None else f", goal {one['goal']}"
            print(f"{job['title']:50} {name} takes {one['secs']} times as long, CPU {one['cpu_secs']}{goal}")
    ratios = [one for job in found for one in job["ratios"].values() if one["goal"] is not None]
    return int(any(one["secs"] < one["goal"] for one in ratios))


def measure(asked: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Run all rounds of all jobs, of which the first is for warming up."""
    orders.write(folder, asked.rows)
    arguments = (str(folder), str(asked.cores))
    if asked.before:
        started = [
            Side.start("gluepot", "benchmarks.batch.ours", *arguments),
            Side.start(BEFORE, "benchmarks.batch.ours", *arguments, checkout=asked.before.resolve()),
        ]
    else:
        started = [Side.start(name, f"benchmarks.batch.{module}", *arguments) for name, module in SIDES.items()]
    of_jobs = {job: [Side(one.name, one.process, job) for one in started] for job in asked.job or TITLES}
    for round_number in range(asked.pairs + 1):
        for sides in of_jobs.values():
            found = {}
            for side in sides if round_number % 2 else reversed(sides):
                table = folder / "table"
                side.run(Drain("", str(table)), counts=round_number > 0)
                found[side.name] = checksum(table)
                shutil.rmtree(table)
            if len(set(found.values())) > 1:
                raise SystemExit(f"the sides wrote other rows: {found}")
    for side in started:
        side.stop()
    return [figures(job, sides) for job, sides in of_jobs.items()]


def figures(job: str, sides: Sequence[Side]) -> dict[str, Any]:
    """Return what was measured of a job."""
    ours, *others = sides
    ratios: Mapping[str, Any] = {
        one.name: {
            "secs": ratio(ours.secs, one.secs),
            "cpu_secs": ratio(ours.cpu_secs, one.cpu_secs),
            "goal": GOALS[job].get(one.name),
        }
        for one in others
    }
    measured = {
        side.name: {
            "secs": rounded(side.secs),
            "cpu_secs": rounded(side.cpu_secs),
            "median_secs": round(statistics.median(side.secs), 2),
            "median_cpu_secs": round(statistics.median(side.cpu_secs), 2),
        }
        for side in sides
    }
    return {"job": job, "title": TITLES[job], "sides": measured, "ratios": ratios}


def checksum(table: Path) -> tuple[object, ...]:
    """Return the rows, and a sum over the values of each column with the others that two equal rows do not cancel."""
    source = f"read_parquet('{table}/**/*.parquet', hive_partitioning = true, union_by_name = true)"
    with duckdb.connect() as db:
        columns = sorted(row[0] for row in db.execute(f"DESCRIBE SELECT * FROM {source}").fetchall())
        every = ", ".join(f'"{name}"::VARCHAR' for name in columns)
        found = db.execute(f"SELECT count(*), sum(hash({every}) % 1000003) FROM {source}").fetchall()
        return (*columns, *found[0])


if __name__ == "__main__":
    sys.exit(main())
