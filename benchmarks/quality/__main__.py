"""`python -m benchmarks.quality`: thirty data quality rules over Parquet files, ours and hand-written PySpark in turns.

Both sides have to agree on which rules hold, or the time does not count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.paired import Side, ratio
from benchmarks.quality.rules import RULES, write_data
from benchmarks.side import Drain
from benchmarks.trial import parser_for, rounded, trial

LEAST = 2.0
"""How many times as long hand-written PySpark should take."""
WARM_UPS = 2


def main() -> int:
    """Make the data, run the pairs, print times and their ratio; return 1 where the goal is missed."""
    parser = parser_for(__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    with trial("quality", asked.save) as (folder, result):
        sides = measure(asked, folder)
        ours, by_hand = sides
        times, cpu = ratio(ours.secs, by_hand.secs), ratio(ours.cpu_secs, by_hand.cpu_secs)
        result |= {
            "rows": asked.rows,
            "rules": len(RULES),
            "secs": {side.name: rounded(side.secs) for side in sides},
            "times": times,
            "goal": LEAST,
        }
    for side in sides:
        print(f"{side.name:8} {rounded(side.secs)} s, CPU {rounded(side.cpu_secs)} s")
    print(f"{len(RULES)} rules: PySpark takes {times} times as long (median of the rounds, goal {LEAST}), CPU {cpu}")
    return int(times < LEAST)


def measure(asked: argparse.Namespace, folder: Path) -> Sequence[Side]:
    """Run all rounds, of which the first ones are for warming up."""
    data = folder / "data"
    write_data(data, asked.rows)
    sides = [
        Side.start(name, f"benchmarks.quality.{module}", str(asked.cores))
        for name, module in (("gluepot", "ours"), ("pyspark", "pyspark"))
    ]
    for round_number in range(asked.pairs + WARM_UPS):
        found = set()
        for side in sides if round_number % 2 else sides[::-1]:
            outcomes = folder / f"{side.name}.json"
            side.run(Drain(str(outcomes), str(data)), counts=round_number >= WARM_UPS)
            found.add(tuple(json.loads(outcomes.read_text())))
        if len(found) > 1:
            raise SystemExit(f"the sides do not agree: {found}")
    for side in sides:
        side.stop()
    return sides


if __name__ == "__main__":
    sys.exit(main())
