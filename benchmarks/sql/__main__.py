"""`python -m benchmarks.sql`: batches that are used as rows, `fromDF(frame).toDF()` and SQL like a MERGE, in turns.

Both run the same statements on each batch (`upsert.merge`); only how its rows come about is each side's own. What both
wrote must be equal, read by DuckDB, or the time does not count.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import duckdb

from benchmarks.paired import Side, ratio
from benchmarks.side import Drain
from benchmarks.sql.upsert import COLUMNS, SHAPE
from benchmarks.topics import spread
from benchmarks.trial import parser_for, rounded, trial
from gluepot.servers.kafka import KafkaBroker

TOPIC = "clicks"
LEAST = 3.0
"""How many times as long stock PySpark should take, the faster of its two ways."""
SIDES = {"gluepot": "ours", "stock": "stock", "stock-jvm": "stock_jvm"}


def main() -> int:
    """Preload, run the pairs, print times and their ratio; return 1 where the goal is missed."""
    parser = parser_for(__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--batch-rows", type=int, default=250_000)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    with trial("sql", asked.save) as (folder, result):
        sides = measure(asked, folder)
        ours, *others = sides
        ratios = {
            one.name: {"secs": ratio(ours.secs, one.secs), "cpu_secs": ratio(ours.cpu_secs, one.cpu_secs)}
            for one in others
        }
        times = min(one["secs"] for one in ratios.values())
        result |= {
            "records": asked.records,
            "batch_rows": asked.batch_rows,
            "secs": {side.name: rounded(side.secs) for side in sides},
            "cpu_secs": {side.name: rounded(side.cpu_secs) for side in sides},
            "ratios": ratios,
            "times": times,
            "goal": LEAST,
        }
    for side in sides:
        print(f"{side.name:8} {rounded(side.secs)} s, CPU {rounded(side.cpu_secs)} s")
    for name, one in ratios.items():
        print(f"rows and SQL: {name} takes {one['secs']} times as long (median), CPU {one['cpu_secs']}, goal {LEAST}")
    return int(times < LEAST)


def measure(asked: argparse.Namespace, folder: Path) -> Sequence[Side]:
    """Run all rounds, of which the first is for warming up."""
    with KafkaBroker(folder / "kafka") as broker:
        # Partitions of equal length, so that the batches of both sides hold the same records.
        each = asked.records // asked.partitions
        spread(broker.bootstrap, TOPIC, [SHAPE.payloads(each, seed) for seed in range(asked.partitions)])
        arguments = (broker.bootstrap, TOPIC, str(asked.batch_rows), str(asked.cores))
        sides = [Side.start(name, f"benchmarks.sql.{module}", *arguments) for name, module in SIDES.items()]
        for round_number in range(asked.pairs + 1):
            found = {}
            for side in sides if round_number % 2 else reversed(sides):
                table = folder / f"{side.name}-{round_number}"
                given = Drain(str(folder / f"checkpoint-{side.name}-{round_number}"), str(table))
                side.run(given, counts=round_number > 0)
                found[side.name] = checksum(table)
                shutil.rmtree(table)
            if len(set(found.values())) > 1:
                raise SystemExit(f"the sides wrote other rows: {found}")
        for side in sides:
            side.stop()
    return sides


def checksum(table: Path) -> tuple[int, ...]:
    """Return the rows, and a sum over each column's values with their user that two equal rows do not cancel."""
    with duckdb.connect() as db:
        sums = ", ".join(f"sum(hash(user_id, {one}) % 1000003)" for one in COLUMNS)
        return tuple(db.execute(f"SELECT count(*), {sums} FROM read_parquet('{table}/*.parquet')").fetchall()[0])


if __name__ == "__main__":
    sys.exit(main())
