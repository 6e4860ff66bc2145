"""`python -m benchmarks.metrics`: what it costs a job to be looked at; all pairs of one run, in turns.

Drain: the same topic is drained with everything off, and with metrics by partition, page and advisor on (see
`benchmarks.drain.watched`); goal: 0.98 of the rate at least.

Storm: a running stream of a topic with thousands of partitions is scraped hundreds of times a second, while hundreds of
sockets dawdle. In turn the same storm is aimed beside it, at a server of another process with the same series: so the
machine is as busy, and what differs is what the job itself has to bear. Goals: the 99th percentile of batch times moves
by less than 5 %, and memory stays where it is.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psutil

from connectors.kafka.feed import KafkaFeed
from connectors.kafka.settings import KafkaReadSettings
from etlcore.clock import SystemClock
from gluepot.produce import Steady, produce
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic

TOPIC = "storm"
LEAST_RATE = 0.98
MOST_P99 = 1.05
MOST_GROWTH_MB = 200
RECORDS_PER_SEC = 500
SETTLE_SECS = 10.0
SAMPLE_SECS = 0.2


@dataclass
class Watched:
    """A process that serves metrics.

    Args:
        process: it.
        port: of its ops server.
        batch_secs: of its batches since they were taken last.
    """

    process: subprocess.Popen[str]
    port: int
    batch_secs: list[float] = field(default_factory=list)

    @classmethod
    @contextmanager
    def started(cls, module: str, *arguments: str) -> Iterator[Watched]:
        """Start a process and read what it prints until the context is left."""
        command = [sys.executable, "-m", f"benchmarks.metrics.{module}", *arguments]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise SystemExit(f"{module} ended with {process.wait()}")
            watched = cls(process, json.loads(line)["port"])
            threading.Thread(target=watched._listen, daemon=True).start()
            try:
                yield watched
            finally:
                process.stdin.close()
                process.wait()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.batch_secs.append(json.loads(line)["secs"])

    def rss_bytes(self) -> int:
        """Return the resident memory of the process alone, which is the driver's Python."""
        return int(psutil.Process(self.process.pid).memory_info().rss)


@dataclass(frozen=True, slots=True)
class Segment:
    """What was seen while a storm lasted.

    Args:
        batch_secs: of the job.
        peak_bytes: of the job's driver.
        answers: what the storm says came back.
    """

    batch_secs: Sequence[float]
    peak_bytes: int
    answers: str

    def quantile(self, share: float) -> float:
        """Return the time that this share of the batches did not exceed."""
        ordered = sorted(self.batch_secs)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> int:
    """Measure and print; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("drain", "storm"))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--records", type=int, default=1_000_000, help="of each drain")
    parser.add_argument("--secs", type=int, default=30, help="of each storm")
    parser.add_argument("--scrapes", type=int, default=500, help="a second")
    parser.add_argument("--slow", type=int, default=200, help="sockets that dawdle")
    parser.add_argument("--partitions", type=int, default=5_000)
    parser.add_argument("--cores", type=int, default=1, help="of the job in the storm")
    parser.add_argument("--short", action="store_true", help="a try: small, two pairs, no verdict worth telling")
    asked = parser.parse_args()
    if asked.short:
        asked.pairs, asked.records, asked.secs, asked.partitions = 2, 200_000, 8, 500
    missed = []
    if asked.only != "storm":
        missed.append(drained(asked.records, asked.pairs) < LEAST_RATE)
    if asked.only != "drain":
        missed.append(not stormed(asked))
    return int(any(missed))


def drained(records: int, pairs: int) -> float:
    """Compare drains; return the rate with everything on over that with everything off."""
    command = ["--against", "watched", "--output", "json", "--records", str(records), "--pairs", str(pairs)]
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.drain", *command], check=True, stdout=subprocess.PIPE, text=True
    )
    sides = json.loads(ended.stdout.splitlines()[-1])["sides"]
    off, on = sides["gluepot"]["secs"], sides["watched"]["secs"]
    rate = statistics.median(a / b for a, b in zip(off, on, strict=True))
    print(f"drain of {records:,} records, off {off} s, on {on} s")
    print(f"rate with metrics, page and advisor: {rate:.3f} (median of pair ratios, goal {LEAST_RATE})", flush=True)
    return rate


def stormed(asked: argparse.Namespace) -> bool:
    """Compare batch times with a storm on the job and one beside it; return whether the goals are met."""
    folder = Path(tempfile.mkdtemp(prefix="gluepot-storm-"))
    try:
        with KafkaBroker(folder / "kafka") as broker:
            create_topic(broker.bootstrap, TOPIC, asked.partitions)
            arguments = (broker.bootstrap, TOPIC, str(folder), "0.5", str(asked.cores))
            with (
                fed(broker.bootstrap),
                Watched.started("job", *arguments) as job,
                Watched.started("bystander", str(asked.partitions)) as bystander,
            ):
                while not job.batch_secs:
                    rest(SAMPLE_SECS)
                rest(SETTLE_SECS)
                pairs = [(storm(job, bystander.port, asked), storm(job, job.port, asked)) for _ in range(asked.pairs)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return report(pairs, asked)


@contextmanager
def fed(bootstrap: str) -> Iterator[None]:
    """Send records at a steady rate while the context lasts."""
    ended = threading.Event()

    def made() -> Iterator[tuple[bytes, bytes]]:
        for n in count():
            if ended.is_set():
                return
            yield json.dumps({"n": n, "page": f"/products/{n % 1000}"}).encode(), b""

    settings = KafkaReadSettings.from_options({"bootstrap.servers": bootstrap, "topicName": TOPIC})
    feed = KafkaFeed(settings, TOPIC, partition=0)
    sender = threading.Thread(target=produce, args=(made(), Steady(RECORDS_PER_SEC), feed, SystemClock()))
    sender.start()
    try:
        yield
    finally:
        ended.set()
        sender.join()


def storm(job: Watched, port: int, asked: argparse.Namespace) -> Segment:
    """Aim a storm at a port and return what became of the job meanwhile."""
    arguments = map(str, (port, asked.scrapes, asked.slow, asked.secs))
    job.batch_secs.clear()
    peak_bytes = 0
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.metrics.storm", *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None:
            peak_bytes = max(peak_bytes, job.rss_bytes())
            rest(SAMPLE_SECS)
        assert process.stdout is not None
        answers = process.stdout.read().strip()
    return Segment(tuple(job.batch_secs), peak_bytes, answers)


def report(pairs: Sequence[tuple[Segment, Segment]], asked: argparse.Namespace) -> bool:
    """Print what was measured; return whether the goals are met."""
    print(f"{asked.scrapes} scrapes/s for {asked.secs} s, {asked.slow} slow sockets, {asked.partitions:,} partitions")
    for beside, at_job in pairs:
        for name, one in (("beside", beside), ("at job", at_job)):
            times = f"p50 {one.quantile(0.5):.3f} s, p99 {one.quantile(0.99):.3f} s of {len(one.batch_secs)} batches"
            print(f"{name}: {times}, driver {one.peak_bytes / 1e6:.0f} MB, {one.answers}")
    moved = {
        share: statistics.median(at_job.quantile(share) / beside.quantile(share) for beside, at_job in pairs)
        for share in (0.5, 0.99)
    }
    growth_mb = (pairs[-1][1].peak_bytes - pairs[0][0].peak_bytes) / 1e6
    print(f"batch time, p50: {moved[0.5]:.3f}, p99: {moved[0.99]:.3f} (medians of pair ratios, goal {MOST_P99})")
    print(f"memory of the driver: {growth_mb:+.0f} MB over all storms (goal {MOST_GROWTH_MB})")
    return moved[0.99] < MOST_P99 and growth_mb < MOST_GROWTH_MB


def rest(secs: float) -> None:
    """Let time pass for what is measured."""
    time.sleep(secs)  # noqa: TID251  a benchmark's own time


if __name__ == "__main__":
    sys.exit(main())
