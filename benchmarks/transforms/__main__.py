"""python -m benchmarks.transforms [records]: seconds of parse and write, with and without a chain, and their ratio.

One process, no Spark, so that nothing but the work of a task is measured: JSON records in memory are decoded, passed
through the steps and written as one snappy Parquet file. Each way runs three times, in turn; the fastest run counts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.schema import align, merge_schemas, without_nulls
from gluepot.frames.transforms import ApplyMapping, DropNulls, FilterRows, ResolveChoice, Step, run_steps

RECORDS_PER_CHUNK = 10_000
RUNS = 3


def events(count: int) -> list[bytes]:
    """Return click events, one in a hundred with a text where the others have a number."""
    return [
        orjson.dumps(
            {
                "event_id": f"{index:032x}",
                "user": {"id": index % 9973, "country": ("DE", "FR", "US")[index % 3]},
                "page": f"/products/{index % 1000}",
                "price": str(index) if index % 100 == 0 else index,
                "ms": index % 977 / 8,
                "note": None,
                "tags": ["a", "b"],
                "user_agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
            }
        )
        for index in range(count)
    ]


def chain() -> list[Step]:
    """Return ApplyMapping, ResolveChoice, DropNullFields and Filter, as a generated script has them."""
    mapping = ApplyMapping(
        [
            ("event_id", "event_id"),
            ("user.id", "long", "user_id", "long"),
            ("user.country", "string", "country", "string"),
            ("page", "string", "page", "string"),
            ("price", "price"),
            ("ms", "double", "ms", "double"),
            ("note", "note"),
            ("tags", "tags"),
            ("user_agent", "string", "agent", "string"),
        ]
    )
    resolve = ResolveChoice([("price", "cast:long")]).bound(None)
    return [mapping, resolve, DropNulls(), FilterRows(lambda record: record["user_id"] % 10 != 0)]


def drain(values: Sequence[bytes], steps: Sequence[Step], target: Path) -> float:
    """Return the seconds it takes to decode, transform and write the values."""
    began = time.perf_counter()
    decoder, batches, merged = JsonDecoder(), [], pa.schema([])
    for start in range(0, len(values), RECORDS_PER_CHUNK):
        piece = values[start : start + RECORDS_PER_CHUNK]
        rows = run_steps(steps, decoder.decode(piece, range(start, start + len(piece)), "clicks", "0")).batch
        batches.append(without_nulls(rows))
        merged = merge_schemas(merged, batches[-1].schema)
    pq.write_table(pa.Table.from_batches([align(batch, merged) for batch in batches]), target)
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    values = events(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    ways: dict[str, Sequence[Step]] = {"plain": (), "chain": chain()}
    ways["chain without filter"] = ways["chain"][:-1]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.parquet"
        secs: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(RUNS):
            for way, steps in ways.items():
                secs[way].append(drain(values, steps, target))
    fastest = {way: min(runs) for way, runs in secs.items()}
    for way, took in fastest.items():
        print(f"{way:>22}: {took:6.2f} s, {took / fastest['plain']:.2f} x plain, {len(values):,} records")


if __name__ == "__main__":
    main()
