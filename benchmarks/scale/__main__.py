"""`python -m benchmarks.scale`: what a record costs by the partitions of its topic and by the size of its batch.

Each shape is a process of its own that drains its topic some times, the first one for warming up; its table is counted
and summed by DuckDB before the figures count. Processor time and memory are those of driver, JVM and workers together.
There is no goal: costs should be flat, and memory should follow from settings and not from the size of a batch.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.drain.shapes import SHAPES
from benchmarks.paired import Side
from benchmarks.side import Drain
from benchmarks.topics import preload
from benchmarks.trial import parser_for, rounded, sums, trial
from gluepot.servers.kafka import KafkaBroker

PARTITIONS, BATCH_ROWS = 4, 250_000
"""Of what the others are compared with."""


@dataclass(frozen=True, slots=True)
class Load:
    """A topic's partitions, and the rows of a batch."""

    partitions: int
    batch_rows: int


BY_PARTITIONS = tuple(Load(partitions, BATCH_ROWS) for partitions in (1, 2, PARTITIONS, 16, 64))
BY_BATCH = tuple(Load(PARTITIONS, rows) for rows in (10_000, 50_000, 1_000_000))


def main() -> int:
    """Measure all loads and print them."""
    parser = parser_for(__doc__)
    parser.add_argument("--events", choices=SHAPES, default="e500")
    parser.add_argument("--records", type=int, default=1_000_000, help="of each topic but the largest")
    parser.add_argument("--largest", type=int, default=5_000_000, help="records that are one batch at the end")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    loads = [(load, asked.records) for load in (*BY_PARTITIONS, *BY_BATCH)]
    loads.append((Load(PARTITIONS, asked.largest), asked.largest))
    with trial("scale", asked.save) as (folder, result), KafkaBroker(folder / "kafka") as broker:
        result |= {"events": asked.events, "cores": asked.cores, "loads": []}
        filled: set[str] = set()
        for load, records in loads:
            topic = f"bench-{load.partitions}-{records}"
            if topic not in filled:
                preload(broker.bootstrap, topic, SHAPES[asked.events].payloads(records), load.partitions)
                filled.add(topic)
            found = measure(asked, folder / "work", (broker.bootstrap, topic), load, records)
            result["loads"].append(found)
            print(as_text(found), flush=True)
    return 0


def measure(
    asked: argparse.Namespace, folder: Path, topic: tuple[str, str], load: Load, records: int
) -> dict[str, Any]:
    """Return what the drains of one load took."""
    shape = SHAPES[asked.events]
    side = Side.start(
        "gluepot", "benchmarks.drain.ours", *topic, *map(str, (load.batch_rows, asked.cores)), asked.events
    )
    seen: set[Sequence[int]] = set()
    for round_number in range(asked.rounds + 1):
        side.run(Drain(str(folder / "checkpoint"), str(folder / "table")), counts=round_number > 0)
        seen.add(sums(f"read_parquet('{folder}/table/**/*.parquet', union_by_name=true)", shape.checked))
        shutil.rmtree(folder)
    side.stop()
    if len(seen) != 1 or next(iter(seen))[0] != records:
        raise SystemExit(f"{load} left {seen}, the same {records} records each time were expected")
    return {
        "partitions": load.partitions,
        "batch_rows": load.batch_rows,
        "records": records,
        "secs": rounded(side.secs),
        "records_per_sec": round(records / statistics.median(side.secs)),
        "cpu_secs_per_million": round(statistics.median(side.cpu_secs) * 1e6 / records, 2),
        "peak_rss_mb": round(max(map(max, side.rss_bytes)) / 1e6),
    }


def as_text(found: Mapping[str, Any]) -> str:
    """Return the line of one load."""
    shape = f"{found['partitions']:2} partitions, batches of {found['batch_rows']:9,}"
    cost = f"CPU {found['cpu_secs_per_million']:5} s a million, peak RSS {found['peak_rss_mb']} MB"
    return f"{shape}: {found['records_per_sec']:7,} records/s, {cost}"


if __name__ == "__main__":
    raise SystemExit(main())
