"""`python -m benchmarks.drain`: our drain against another one, interleaved, on one broker in one run."""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import psutil

from connectors.kafka.feed import KafkaFeed
from connectors.kafka.settings import KafkaReadSettings
from etlcore.clock import SystemClock
from gluepot.demo.events import BROKEN_EVERY, events
from gluepot.produce import Unpaced, produce
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic

TOPIC = "bench"
SAMPLE_SECS = 0.1
CHECKSUM = """
SELECT count(*), bit_xor(hash(event_id)), bit_xor(hash(event_id, page)), sum(duration_ms)
FROM read_parquet('{}/**/*.parquet', union_by_name=true)
"""


@dataclass
class Side:
    """A running side and what was measured of it.

    Args:
        name: for the table.
        process: the side's driver; its JVM and workers are its children.
    """

    name: str
    process: subprocess.Popen[str]
    secs: list[float] = field(default_factory=list)
    whole_secs: list[float] = field(default_factory=list)
    cpu_secs: list[float] = field(default_factory=list)
    rss_bytes: list[list[int]] = field(default_factory=list)

    @classmethod
    def start(cls, name: str, module: str, *arguments: str) -> Side:
        """Start a side and wait until its Spark is up."""
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        side = cls(name, process)
        side._answer()
        return side

    def drain(self, folder: Path, *, counts: bool) -> Path:
        """Drain once into a new folder; the measurements are kept if the round counts."""
        cpu_before = _cpu_secs(self.process.pid)
        memory = _Memory(self.process.pid)
        assert self.process.stdin is not None
        table = folder / "table"
        request = {"checkpoint": str(folder / "checkpoint"), "table": str(table)}
        with memory:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            answer = self._answer()
        if counts:
            self.secs.append(answer["secs"])
            self.whole_secs.append(answer["whole_secs"])
            self.cpu_secs.append(_cpu_secs(self.process.pid) - cpu_before)
            self.rss_bytes.append(memory.quarters())
        return table

    def _answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with {self.process.wait()}")
        return dict(json.loads(line))

    def stop(self) -> None:
        """End the side."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class _Memory:
    """Resident memory of a process tree, sampled: driver, JVM and workers together."""

    def __init__(self, pid: int) -> None:
        self._samples: list[int] = []
        self._pid = pid
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._done.wait(SAMPLE_SECS):
            self._samples.append(round(_sum_over_tree(self._pid, lambda one: one.memory_info().rss)))

    def quarters(self) -> list[int]:
        """Return the peak of each quarter of the time, so that growth from batch to batch shows."""
        size = max(1, -(-len(self._samples) // 4))
        return [max(self._samples[i : i + size]) for i in range(0, len(self._samples), size)]


def _sum_over_tree(pid: int, read: Callable[[psutil.Process], float]) -> float:
    """Add up a figure of a process and all that descend from it; one that ends meanwhile counts as nothing."""
    total = 0.0
    root = psutil.Process(pid)
    for one in [root, *root.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            total += read(one)
    return total


def _cpu_secs(pid: int) -> float:
    return _sum_over_tree(pid, lambda one: sum(one.cpu_times()[:4]))  # its own and that of its children that ended


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
                    found = _checksum(side.drain(work, counts=round_number > 0))
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
        "ratio_median": _ratio(ours.secs, other.secs),
        "whole_ratio_median": _ratio(ours.whole_secs, other.whole_secs),
        "cpu_ratio_median": _ratio(ours.cpu_secs, other.cpu_secs),
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


def _ratio(ours: list[float], other: list[float]) -> float:
    return round(statistics.median(b / a for a, b in zip(ours, other, strict=True)), 2)


def _rounded(values: list[float]) -> list[float]:
    return [round(value, 2) for value in values]


if __name__ == "__main__":
    main()
