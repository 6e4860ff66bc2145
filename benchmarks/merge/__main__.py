"""`python -m benchmarks.merge`: batches of changes merged into a table by us and by stock PySpark, in turns.

All sides read one topic, have one catalog and run the same statements on each batch (`orders.merge`); only how its rows
come about is each side's own. After each round PyIceberg or delta-rs reads the table, which must be what DuckDB makes
of the same changes, or the time does not count. Returns 1 where the goal is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.merge import changes, orders
from benchmarks.paired import Side, ratio
from benchmarks.side import Drain
from benchmarks.topics import spread
from benchmarks.trial import parser_for, rounded, trial
from gluepot.servers.kafka import KafkaBroker

TOPIC = "changes"
FORMATS = ("iceberg", "delta")
MOST_TIME = 0.35
"""The share of stock PySpark's time, of the faster of its two ways."""
SIDES = {"gluepot": "ours", "stock": "stock", "stock-jvm": "stock_jvm"}
"""Modules by the names of the sides."""


def main() -> int:
    """Preload, warm up, run the pairs, verify each table, print times and their ratio."""
    parser = parser_for(__doc__)
    parser.add_argument("--format", choices=FORMATS, default="iceberg", dest="form")
    parser.add_argument("--rows", type=int, default=2_000_000, help="of the table")
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--batch-rows", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--short", action="store_true", help="a try: small, one pair, no verdict worth telling")
    asked = parser.parse_args()
    if asked.short:
        asked.rows, asked.batches, asked.batch_rows, asked.pairs = 200_000, 3, 20_000, 1
    with trial("merge", asked.save) as (folder, result):
        sides = measure(asked, folder)
        ours, *others = sides
        ratios = {
            one.name: {"secs": ratio(one.secs, ours.secs), "cpu_secs": ratio(one.cpu_secs, ours.cpu_secs)}
            for one in others
        }
        time = max(one["secs"] for one in ratios.values())
        result |= {
            **{name: getattr(asked, name) for name in ("form", "rows", "batches", "batch_rows")},
            "secs": {side.name: rounded(side.secs) for side in sides},
            "cpu_secs": {side.name: rounded(side.cpu_secs) for side in sides},
            "load": rounded(os.getloadavg()),
            "ratios": ratios,
            "time": time,
            "goal": MOST_TIME,
        }
    report(sides, asked)
    for name, one in ratios.items():
        print(f"merge: {one['secs']} of the time of {name} (median, goal {MOST_TIME}), CPU {one['cpu_secs']}")
    return int(time > MOST_TIME)


def measure(asked: argparse.Namespace, folder: Path) -> Sequence[Side]:
    """Run all rounds, of which the first is for warming up, and return the sides with their times."""
    files = changes.write(folder, asked.batches * asked.batch_rows, asked.rows)
    warehouse = folder / "warehouse"
    with KafkaBroker(folder / "kafka") as broker:
        spread(broker.bootstrap, TOPIC, [lines(file) for file in files])
        arguments = (asked.form, broker.bootstrap, TOPIC, asked.batch_rows, asked.cores, warehouse, asked.rows)
        sides = [Side.start(name, f"benchmarks.merge.{module}", *map(str, arguments)) for name, module in SIDES.items()]
        wanted = changes.expected(files, orders.rows_of(asked.form, warehouse, table_name(sides[0].name)))
        for round_number in range(asked.pairs + 1):
            for side in sides if round_number % 2 else reversed(sides):
                given = Drain(str(folder / f"checkpoint-{side.name}-{round_number}"), table_name(side.name))
                side.run(given, counts=round_number > 0)
                found = changes.checksum(orders.rows_of(asked.form, warehouse, table_name(side.name)))
                if found != wanted:
                    raise SystemExit(f"{side.name} left {found} in the table, {wanted} was expected")
        for side in sides:
            side.stop()
    return sides


def lines(file: Path) -> Iterator[bytes]:
    """Yield the documents of a file."""
    with file.open("rb") as opened:
        yield from (line.rstrip() for line in opened)


def table_name(side: str) -> str:
    """Return the name of a side's table."""
    return f"orders_{side.replace('-', '_')}"


def report(sides: Sequence[Side], asked: argparse.Namespace) -> None:
    """Print what was measured of each side."""
    print(f"{asked.batches} batches of {asked.batch_rows:,} changes into {asked.rows:,} rows; tables as expected")
    for side in sides:
        times, cpu = rounded(side.secs), rounded(side.cpu_secs)
        peaks = [round(max(quarters) / 1e6) for quarters in side.rss_bytes]
        per_batch = statistics.median(side.secs) / asked.batches
        print(f"{side.name:8} {times} s, {per_batch:.2f} s a batch, CPU {cpu} s, peak RSS {peaks} MB")


if __name__ == "__main__":
    sys.exit(main())
