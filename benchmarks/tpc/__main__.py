"""`python -m benchmarks.tpc`: queries of TPC-H or TPC-DS by a Glue script, by stock Spark and by DuckDB, in turns.

Each query is a job of its own that reads its tables from Parquet and writes its result. What a side writes must be what
stock Spark writes, and for TPC-H what DuckDB says, or the time does not count. Returns 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.paired import Side
from benchmarks.side import Drain
from benchmarks.tpc.suite import SUITES, make_tables, queries_of
from benchmarks.trial import parser_for, rounded, trial

SIDES = {"tpch": ("ours", "stock", "duck"), "tpcds": ("ours", "stock")}
"""Modules of the sides; DuckDB does not understand all queries of TPC-DS as Spark has them."""
NAMES = {"ours": "gluepot", "stock": "stock", "duck": "duckdb"}
GOALS = {"tpch": {"stock": 2.5}, "tpcds": {}}
"""How many times as long the others should take at least."""
# Averages of decimals have other types in DuckDB.
_TOLERANCE = 1e-6


def main() -> int:
    """Make the tables, warm up, run the rounds, print times and ratios."""
    parser = parser_for(__doc__)
    parser.add_argument("--suite", choices=SUITES, default=SUITES[0])
    parser.add_argument("--scale", type=float, default=1.0, help="1 is a gigabyte of text")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--query", action="append", help="all by default, several allowed")
    asked = parser.parse_args()
    with trial(asked.suite, asked.save) as (folder, result):
        result.update(measure(asked, folder))
    for name, side in result["sides"].items():
        print(f"{name:8} {side['secs']} s, CPU {side['cpu_secs']} s")
    for name, ratio in result["ratios"].items():
        print(f"{name} takes {ratio['secs']} times as long, CPU {ratio['cpu_secs']}, goal {ratio['goal']}")
    return int(any(one["goal"] is not None and one["secs"] < one["goal"] for one in result["ratios"].values()))


def measure(asked: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run all rounds, of which the first is for warming up."""
    known = queries_of(asked.suite, make_tables(folder, asked.suite, asked.scale))
    queries = asked.query or list(known)
    started = [
        Side.start(NAMES[module], f"benchmarks.tpc.{module}", str(folder), asked.suite, str(asked.cores))
        for module in SIDES[asked.suite]
    ]
    of_queries = {query: [Side(one.name, one.process, query) for one in started] for query in queries}
    for round_number in range(asked.pairs + 1):
        for query, sides in of_queries.items():
            _run(query, sides if round_number % 2 else sides[::-1], folder / f"result-{query}", counts=round_number > 0)
    for side in started:
        side.stop()
    return {
        "suite": asked.suite,
        "scale": asked.scale,
        "cores": asked.cores,
        "load": os.getloadavg(),
        "sides": {one.name: _figures(of_queries, at) for at, one in enumerate(started)},
        "ratios": {
            one.name: {**_ratio(of_queries, at), "goal": GOALS[asked.suite].get(one.name)}
            for at, one in enumerate(started)
            if at
        },
    }


def _run(query: str, sides: Sequence[Side], table: Path, *, counts: bool) -> None:
    found = {}
    for side in sides:
        side.run(Drain("", str(table)), counts=counts)
        found[side.name] = rows_of(table)
        shutil.rmtree(table, ignore_errors=True)  # of a result without rows, our side writes nothing
    wanted = found.pop("stock")
    for name, rows in found.items():
        if not are_equal(rows, wanted):
            raise SystemExit(f"{name} gives another answer to {query} than stock Spark: {rows[:3]} and {wanted[:3]}")


def _totals(of_queries: Mapping[str, Sequence[Side]], at: int, figure: str) -> list[float]:
    """Return what all queries take together in each round."""
    return [sum(one) for one in zip(*(getattr(sides[at], figure) for sides in of_queries.values()), strict=True)]


def _figures(of_queries: Mapping[str, Sequence[Side]], at: int) -> dict[str, Any]:
    return {
        **{figure: rounded(_totals(of_queries, at, figure)) for figure in ("secs", "cpu_secs")},
        "medians": {query: round(statistics.median(sides[at].secs), 3) for query, sides in of_queries.items()},
    }


def _ratio(of_queries: Mapping[str, Sequence[Side]], at: int) -> dict[str, float]:
    """Return how many times as long a side takes as ours: all queries together, and the geometric mean of each."""

    def total(figure: str) -> float:
        pairs = zip(_totals(of_queries, 0, figure), _totals(of_queries, at, figure), strict=True)
        return round(statistics.median(other / ours for ours, other in pairs), 2)

    each = [statistics.median(sides[at].secs) / statistics.median(sides[0].secs) for sides in of_queries.values()]
    return {
        "secs": total("secs"),
        "cpu_secs": total("cpu_secs"),
        "geometric_mean": round(statistics.geometric_mean(each), 2),
    }


def rows_of(table: Path) -> list[tuple[Any, ...]]:
    """Return what a side wrote, sorted, numbers as floating-point numbers."""
    if not any(table.glob("*.parquet")):
        return []
    with duckdb.connect() as db:
        columns = db.execute(f"DESCRIBE SELECT * FROM read_parquet('{table}/*.parquet')").fetchall()
        names = ", ".join(sorted((row[0] for row in columns), key=lambda name: int(name[1:])))
        rows = db.execute(f"SELECT {names} FROM read_parquet('{table}/*.parquet')").fetchall()
    plain = [tuple(_plain(row)) for row in rows]
    return sorted(plain, key=lambda row: [f"{one:.4e}" if isinstance(one, float) else str(one) for one in row])


def _plain(row: Sequence[Any]) -> Iterator[Any]:
    for value in row:
        yield float(value) if hasattr(value, "__float__") else value


def are_equal(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> bool:
    """Return whether two results are the same but for the last digits of numbers."""
    return len(left) == len(right) and all(
        len(one) == len(other) and all(map(_is_same, one, other)) for one, other in zip(left, right, strict=True)
    )


def _is_same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        same_nan = math.isnan(left) and math.isnan(right)
        return same_nan or math.isclose(left, right, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return bool(left == right)


if __name__ == "__main__":
    sys.exit(main())
