"""`python -m benchmarks.files`: what a stream that commits each second leaves, ours compacted and that of foreachBatch.

Both write the same records for the same time. Then ours is compacted, by `gluepot table compact`, and both tables are
read whole by DuckDB, in turns. The rows that both have must be equal.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import orjson

from benchmarks.drain.shapes import SHAPES, Shape
from benchmarks.paired import Side
from benchmarks.side import Drain
from benchmarks.topics import fed
from benchmarks.trial import parser_for, sums, trial
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic

SIDES = {"gluepot": "ours", "stock": "stock"}
GOALS = {"files": 0.05, "bytes": 0.60, "scan": 0.40}
"""Of foreachBatch's, at most."""
PARTITIONS = 4
WINDOW_SECS = 1


def main() -> int:
    """Write, compact, compare, print; return 1 where a goal is missed."""
    parser = parser_for(__doc__)
    parser.add_argument("--events", choices=SHAPES, default="e500")
    parser.add_argument("--rate", type=int, default=1_000, help="records a second")
    parser.add_argument("--secs", type=int, default=120)
    parser.add_argument("--scans", type=int, default=5)
    asked = parser.parse_args()
    with trial("files", asked.save) as (folder, result):
        found = measure(asked, folder)
        ours, stock = found["gluepot"], found["stock"]
        ratios = {name: round(ours[name] / stock[name], 3) for name in GOALS}
        result |= {"sides": found, "ratios": ratios, "goals": GOALS}
    for name, one in found.items():
        print(
            f"{name:8} {one['rows']:,} rows, {one['files']:,} files, {one['bytes']:,} bytes, scan {one['scan']:.3f} s"
        )
    for name, goal in GOALS.items():
        print(f"{name}: {ratios[name]} of foreachBatch's (goal {goal})")
    return int(any(ratios[name] > goal for name, goal in GOALS.items()))


def measure(asked: argparse.Namespace, folder: Path) -> dict[str, dict[str, float]]:
    """Return rows, files, bytes and the median time of a scan of each side's table."""
    tables = {name: folder / name for name in SIDES}
    with KafkaBroker(folder / "kafka") as broker:
        for name, module in SIDES.items():
            create_topic(broker.bootstrap, name, PARTITIONS)
            arguments = map(str, (broker.bootstrap, name, asked.secs, asked.cores, asked.events, WINDOW_SECS))
            side = Side.start(name, f"benchmarks.latency.{module}", *arguments)
            with fed(broker.bootstrap, name, events(SHAPES[asked.events]), asked.rate):
                side.run(Drain(str(folder / f"checkpoint-{name}"), str(tables[name])), counts=True)
            side.stop()
    subprocess.run([sys.executable, "-m", "gluepot", "table", "compact", str(tables["gluepot"])], check=True)
    common = min(newest(table) for table in tables.values())
    checked = SHAPES[asked.events].checked
    rows = {name: sums(f"{_read(table)} WHERE event_id < {common}", checked) for name, table in tables.items()}
    if len(set(rows.values())) > 1:
        raise SystemExit(f"the rows differ: {rows}")
    secs: dict[str, list[float]] = {name: [] for name in tables}
    for _ in range(asked.scans):
        for name, table in tables.items():
            secs[name].append(scan(table)[0])
    return {name: {**size(table), "scan": statistics.median(secs[name])} for name, table in tables.items()}


def events(shape: Shape) -> Iterator[tuple[bytes, bytes]]:
    """Yield records without end, the same each time."""
    return ((orjson.dumps(event), str(number).encode()) for number, event in enumerate(shape.events()))


def size(table: Path) -> dict[str, float]:
    """Return how many rows, files and bytes a reader of the folder finds."""
    files = [one for one in table.glob("*/*.parquet") if not one.parent.name.startswith("_")]
    return {"rows": scan(table)[1], "files": len(files), "bytes": sum(one.stat().st_size for one in files)}


def newest(table: Path) -> int:
    """Return a number below which every record is in the table: partitions are not read equally far."""
    with duckdb.connect() as db:
        found = db.execute(
            f"SELECT min(n) FROM (SELECT event_id, row_number() OVER (ORDER BY event_id) - 1 AS n FROM {_read(table)})"
            " WHERE event_id <> n"
        ).fetchone()
        every = db.execute(f"SELECT count(*) FROM {_read(table)}").fetchone()
    assert found is not None
    assert every is not None
    return int(every[0] if found[0] is None else found[0])


def scan(table: Path) -> tuple[float, int]:
    """Read every value; return the seconds that took, and the rows."""
    with duckdb.connect() as db:
        columns = [row[0] for row in db.execute(f"DESCRIBE SELECT * FROM {_read(table)}").fetchall()]
        began = time.perf_counter()
        rows = db.execute(f"SELECT count(*), bit_xor(hash({', '.join(columns)})) FROM {_read(table)}").fetchall()
        return time.perf_counter() - began, rows[0][0]


def _read(table: Path) -> str:
    return f"read_parquet('{table}/*/*.parquet', union_by_name = true, hive_partitioning = true)"


if __name__ == "__main__":
    sys.exit(main())
