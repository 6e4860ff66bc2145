"""`python -m benchmarks.metrics`: what it costs a job to be looked at; all pairs of one run, in turns.

Drain: the same topic is drained with everything off, and with metrics by partition, page and advisor on (see
`benchmarks.drain.watched`); goal: 0.98 of the rate at least.

Storm: a running stream of a topic with thousands of partitions is scraped hundreds of times a second, while hundreds of
sockets dawdle. In turn the same storm is aimed beside it, at a server of another process with the same series: so the
machine is as busy, and what differs is what the job itself has to bear. Goals: the 99th percentile of batch times moves
by less than 5 %, and memory stays where it is. A storm of 30 s has some fifty batches, whose 99th percentile is the
longest of them, so it is taken over the batches of all storms of a side; of some 400 it was told to 15 % or so, and not
to 40 % where other machines took processor time from this one.
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
from random import Random

import psutil

from benchmarks.topics import fed
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic

TOPIC = "storm"
LEAST_RATE = 0.98
MOST_P99 = 1.05
MOST_GROWTH_MB = 200
RECORDS_PER_SEC = 20_000
"""So that batches are work for Spark: those of few records take 0.02 s, of which each pause of any process is a lot."""
SETTLE_SECS = 10.0
SAMPLE_SECS = 0.2
SIDES = ("beside", "at job")
GOAL_SHARE = 0.99
DRAWS = 1_000


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


def main() -> int:
    """Measure and print; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("drain", "storm"))
    parser.add_argument("--pairs", type=int, default=5, help="of drains; four times as many of storms")
    parser.add_argument("--records", type=int, default=1_000_000, help="of each drain")
    parser.add_argument("--secs", type=int, default=30, help="of each storm")
    parser.add_argument("--scrapes", type=int, default=500, help="a second")
    parser.add_argument("--slow", type=int, default=200, help="sockets that dawdle")
    parser.add_argument("--partitions", type=int, default=5_000)
    parser.add_argument("--cores", type=int, default=1, help="of the job in the storm")
    parser.add_argument("--short", action="store_true", help="a try: small, no verdict worth telling")
    asked = parser.parse_args()
    if asked.short:
        asked.pairs, asked.records, asked.secs, asked.partitions = 1, 200_000, 8, 500
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
                fed(broker.bootstrap, TOPIC, views(), RECORDS_PER_SEC, partition=0),
                Watched.started("job", *arguments) as job,
                Watched.started("bystander", folder.name, str(asked.partitions)) as bystander,
            ):
                while not job.batch_secs:
                    rest(SAMPLE_SECS)
                rest(SETTLE_SECS)
                pairs = [pair(job, bystander, asked, at_job_first=n % 2 == 1) for n in range(4 * asked.pairs)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return report(pairs, asked)


def views() -> Iterator[tuple[bytes, bytes]]:
    """Yield page views without end."""
    for n in count():
        yield json.dumps({"n": n, "page": f"/products/{n % 1000}"}).encode(), b""


def pair(job: Watched, bystander: Watched, asked: argparse.Namespace, *, at_job_first: bool) -> tuple[Segment, Segment]:
    """Return what became of the job during a storm beside it, and during one aimed at it."""
    if at_job_first:
        at_job = storm(job, job.port, asked)
        return storm(job, bystander.port, asked), at_job
    return storm(job, bystander.port, asked), storm(job, job.port, asked)


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
    for both in pairs:
        for name, one in zip(SIDES, both, strict=True):
            half, longest = quantile(one.batch_secs, 0.5), max(one.batch_secs)
            times = f"{len(one.batch_secs)} batches, p50 {half:.3f} s, longest {longest:.3f} s"
            print(f"{name}: {times}, driver {one.peak_bytes / 1e6:.0f} MB, {one.answers}")
    beside, at_job = ([secs for one in side for secs in one.batch_secs] for side in zip(*pairs, strict=True))
    for share in (0.5, 0.9, 0.99):
        low, high = likely(beside, at_job, share)
        print(
            f"batch time, p{share * 100:g}: {quantile(beside, share):.3f} s of {len(beside)} beside, "
            f"{quantile(at_job, share):.3f} s of {len(at_job)} at job, ratio {ratio(beside, at_job, share):.3f} "
            f"({low:.3f} to {high:.3f} in 95 of 100 draws)"
        )
    moved = ratio(beside, at_job, GOAL_SHARE)
    growth_mb = (pairs[-1][1].peak_bytes - pairs[0][0].peak_bytes) / 1e6
    print(f"p99 moved by {moved:.3f} (goal {MOST_P99}), memory by {growth_mb:+.0f} MB (goal {MOST_GROWTH_MB})")
    return moved < MOST_P99 and growth_mb < MOST_GROWTH_MB


def quantile(secs: Sequence[float], share: float) -> float:
    """Return the time that this share of the batches did not exceed."""
    ordered = sorted(secs)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def ratio(beside: Sequence[float], at_job: Sequence[float], share: float) -> float:
    """Return how much longer the batches took with the storm on the job."""
    return quantile(at_job, share) / quantile(beside, share)


def likely(beside: Sequence[float], at_job: Sequence[float], share: float) -> tuple[float, float]:
    """Return between what values 95 of 100 ratios lie when as many batches are drawn again from those measured."""
    chance = Random(1)
    drawn = sorted(
        ratio(chance.choices(beside, k=len(beside)), chance.choices(at_job, k=len(at_job)), share) for _ in range(DRAWS)
    )
    return drawn[round(0.025 * DRAWS)], drawn[round(0.975 * DRAWS) - 1]


def rest(secs: float) -> None:
    """Let time pass for what is measured."""
    time.sleep(secs)  # noqa: TID251  a benchmark's own time


if __name__ == "__main__":
    sys.exit(main())
