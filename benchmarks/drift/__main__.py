"""`python -m benchmarks.drift`: our drain of records that change their shape, beside one of records that do not.

Both have the same number of bytes. Every value is compared with that of the documents, both read by DuckDB, before a
time counts. Goal: 0.9 of the rate.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.drift.shapes import Drifting
from benchmarks.paired import Side, ratio
from benchmarks.side import Drain
from benchmarks.topics import preload
from benchmarks.trial import parser_for, rounded, sums, trial
from gluepot.servers.kafka import KafkaBroker

LEAST_RATE = 0.9
SIDES = ("fixed", "drift")


def main() -> int:
    """Preload, run the rounds, print times and their ratio; return 1 where the goal is missed."""
    parser = parser_for(__doc__)
    parser.add_argument("--records", type=int, default=1_050_000)
    parser.add_argument("--batch-rows", type=int, default=250_000)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    with trial("drift", asked.save) as (folder, result):
        sides, bytes_sent = measure(asked, folder)
        fixed, drift = sides
        rate = ratio(drift.secs, fixed.secs)
        result |= {
            "records": asked.records,
            "bytes": dict(zip(SIDES, bytes_sent, strict=True)),
            "secs": {side.name: rounded(side.secs) for side in sides},
            "rate": rate,
            "goal": LEAST_RATE,
        }
    for side, size_bytes in zip(sides, bytes_sent, strict=True):
        print(
            f"{side.name}: {asked.records:,} records of {size_bytes / asked.records:.0f} bytes,"
            f" median {statistics.median(side.secs):.2f} s, rounds {rounded(side.secs)},"
            f" CPU {statistics.median(side.cpu_secs) * 1e6 / asked.records:.2f} s a million"
        )
    print(f"drift: {rate} of the rate (median of the rounds' ratios, goal {LEAST_RATE}); every value found")
    return int(rate < LEAST_RATE)


def measure(asked: argparse.Namespace, folder: Path) -> tuple[Sequence[Side], Sequence[int]]:
    """Run all rounds, of which the first is for warming up; return the sides and the bytes of their records."""
    shapes = [Drifting(asked.records, changes=name == "drift") for name in SIDES]
    wanted, bytes_sent = [], []
    with KafkaBroker(folder / "kafka") as broker:
        for name, shape in zip(SIDES, shapes, strict=True):
            bytes_sent.append(preload(broker.bootstrap, name, shape.payloads(), asked.partitions))
            lines = folder / "documents.json"
            with lines.open("wb") as file:
                file.writelines(payload + b"\n" for payload in shape.payloads())
            wanted.append(sums(shape.documents(str(lines)), [one for one, _ in shape.checked().values()]))
            lines.unlink()
        told = (str(asked.batch_rows), str(asked.cores), "e500")
        sides = [Side.start(name, "benchmarks.drain.ours", broker.bootstrap, name, *told) for name in SIDES]
        turns = list(zip(sides, shapes, wanted, strict=True))
        for round_number in range(asked.pairs + 1):
            for side, shape, expected in turns if round_number % 2 else reversed(turns):
                table = folder / f"{side.name}-{round_number}"
                given = Drain(str(folder / f"checkpoint-{side.name}-{round_number}"), str(table))
                side.run(given, counts=round_number > 0)
                files = f"read_parquet('{table}/*/*.parquet', union_by_name = true)"
                found = sums(files, [one for _, one in shape.checked().values()])
                if found != expected:
                    lost = [name for name, a, b in zip(shape.checked(), found[1:], expected[1:], strict=True) if a != b]
                    raise SystemExit(f"{side.name}: {found[0]:,} of {expected[0]:,} records, other values in {lost}")
                shutil.rmtree(table)
        for side in sides:
            side.stop()
    return sides, bytes_sent


if __name__ == "__main__":
    sys.exit(main())
