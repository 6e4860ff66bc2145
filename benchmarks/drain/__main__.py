"""`python -m benchmarks.drain`: our drain against another one, interleaved, on one broker in one run."""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path

import duckdb

from benchmarks.paired import Side, ratio
from benchmarks.side import Drain
from connectors.kafka.feed import KafkaFeed
from connectors.kafka.settings import KafkaReadSettings
from etlcore.clock import SystemClock
from gluepot.demo.events import BROKEN_EVERY, events
from gluepot.produce import Unpaced, produce
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic

TOPIC = "bench"
CHECKSUM = """
SELECT count(*), bit_xor(hash(event_id)), bit_xor(hash(event_id, page)), sum(duration_ms)
FROM read_parquet('{}/**/*.parquet', union_by_name=true)
"""


def main() -> None:
    """Preload, warm up both sides, run the pairs, verify each output, print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--batch-rows", type=int, default=250_000)
    parser.add_argument("--partitions", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument(
        "--against",
        choices=("stock", "unsafe", "watched"),
        default="stock",
        help="PySpark, us without commits, or us with metrics, page and advisor",
    )
    parser.add_argument("--output", choices=("text", "json"), default="text")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="gluepot-bench-"))
    try:
        with KafkaBroker(folder / "kafka") as broker:
            payload_bytes = _preload(broker.bootstrap, asked.records, asked.partitions)
            arguments = (broker.bootstrap, TOPIC, str(asked.batch_rows), str(asked.cores))
            sides = [
                Side.start("gluepot", "benchmarks.drain.ours", *arguments),
                Side.start(asked.against, f"benchmarks.drain.{asked.against}", *arguments),
            ]
            for round_number in range(asked.pairs + 1):
                for side in sides:
                    work = folder / f"{side.name}-{round_number}"
                    given = Drain(str(work / "checkpoint"), str(work / "table"))
                    side.run(given, counts=round_number > 0)
                    found = _checksum(work / "table")
                    _require(side.name, found, asked.records)
                    shutil.rmtree(work)
            for side in sides:
                side.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _report(sides, asked.records, payload_bytes, asked.output)


def _preload(bootstrap: str, records: int, partitions: int) -> int:
    create_topic(bootstrap, TOPIC, partitions)
    payload_bytes = 0

    def good():  # noqa: ANN202
        nonlocal payload_bytes
        for event in events(records + records // (BROKEN_EVERY - 1) + 2):
            if event.good:
                payload_bytes += len(event.payload)
                yield event

    from itertools import islice  # noqa: PLC0415

    settings = KafkaReadSettings.from_options({"bootstrap.servers": bootstrap, "topicName": TOPIC})
    sent = ((event.payload, str(event.number).encode()) for event in islice(good(), records))
    produce(sent, Unpaced(), KafkaFeed(settings, TOPIC), SystemClock())
    return payload_bytes


def _checksum(table: Path) -> tuple[object, ...]:
    with duckdb.connect() as db:
        return db.execute(CHECKSUM.format(table)).fetchall()[0]


_expected: list[tuple[object, ...]] = []


def _require(name: str, found: tuple[object, ...], records: int) -> None:
    """Refuse a time whose output is not the same records."""
    _expected.append(found)
    if found[0] != records or found != _expected[0]:
        raise SystemExit(f"{name} wrote {found}, {_expected[0]} with {records} records was expected")


def _report(sides: list[Side], records: int, payload_bytes: int, output: str) -> None:
    ours, other = sides
    result = {
        "records": records,
        "bytes_per_record": round(payload_bytes / records),
        "ratio_median": ratio(ours.secs, other.secs),
        "whole_ratio_median": ratio(ours.whole_secs, other.whole_secs),
        "cpu_ratio_median": ratio(ours.cpu_secs, other.cpu_secs),
        "sides": {
            side.name: {
                "secs": _rounded(side.secs),
                "whole_secs": _rounded(side.whole_secs),
                "median_secs": round(statistics.median(side.secs), 2),
                "records_per_sec": round(records / statistics.median(side.secs)),
                "cpu_secs_per_million": round(statistics.median(side.cpu_secs) * 1e6 / records, 2),
                "peak_rss_mb_by_quarter": [[round(b / 1e6) for b in quarters] for quarters in side.rss_bytes],
            }
            for side in sides
        },
    }
    if output == "json":
        print(json.dumps(result))
        return
    print(f"{records:,} records of {result['bytes_per_record']} bytes, {len(ours.secs)} pairs; outputs equal")
    for side in sides:
        median = statistics.median(side.secs)
        print(f"{side.name:8} median {median:.2f} s, {records / median:,.0f} records/s, rounds {_rounded(side.secs)}")
        print(f"{'':8} CPU {_rounded(side.cpu_secs)} s")
        print(f"{'':8} peak RSS by quarter of a round: {[[round(b / 1e6) for b in q] for q in side.rss_bytes]} MB")
        print(f"{'':8} with the start of the query: {_rounded(side.whole_secs)} s")
    print(f"drain: {other.name} takes {result['ratio_median']} times as long (median of pair ratios)")
    print(f"with the start of the query: {result['whole_ratio_median']} times as long")
    print(f"CPU: {other.name} uses {result['cpu_ratio_median']} times as much")


def _rounded(values: list[float]) -> list[float]:
    return [round(value, 2) for value in values]


if __name__ == "__main__":
    main()
