"""`python -m benchmarks.storm`: what it costs a job that hundreds ask for its metrics at a time.

A running stream of a topic with thousands of partitions is scraped hundreds of times a second, while hundreds of
sockets dawdle. In turn the same storm is aimed beside it, at a server of another process with the same series: so the
machine is as busy, and what differs is what the job itself has to bear. Goals: the 99th percentile of batch times moves
by less than 5 %, and memory stays where it is. A storm of 30 s has some fifty batches, whose 99th percentile is the
longest of them, so it is taken over the batches of all storms of a side; of some 400 it was told to 15 % or so, and not
to 40 % where other machines took processor time from this one. What an everyday scrape costs is told by
`python -m benchmarks.drain --against watched`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import psutil

from benchmarks.topics import fed
from benchmarks.trial import parser_for, trial
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic

TOPIC = "storm"
MOST_P99 = 1.05
MOST_GROWTH_MB = 200
RECORDS_PER_SEC = 20_000
"""So that batches are work for Spark: those of few records take 0.02 s, of which each pause of any process is a lot."""
SETTLE_SECS = 10.0
SAMPLE_SECS = 0.2
SIDES = ("beside", "at job")
SHARES = (0.5, 0.9, 0.99)
DRAWS = 1_000


@dataclass
class Watched:
    """A process that serves metrics.

    Args:
        process: it.
        port: port of its ops server.
        batch_secs: of its batches since they were taken last.
    """

    process: subprocess.Popen[str]
    port: int
    batch_secs: list[float] = field(default_factory=list)

    @classmethod
    @contextmanager
    def started(cls, module: str, *arguments: str) -> Iterator[Watched]:
        """Start a process and read what it prints until the context is left."""
        command = [sys.executable, "-m", f"benchmarks.storm.{module}", *arguments]
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
        peak_bytes: peak memory of the job's driver.
        answers: what the storm says came back.
    """

    batch_secs: Sequence[float]
    peak_bytes: int
    answers: Mapping[str, Any]

    def figures(self) -> dict[str, Any]:
        """Return what is kept of it."""
        return {
            "batches": len(self.batch_secs),
            "p50_secs": round(quantile(self.batch_secs, 0.5), 3),
            "longest_secs": round(max(self.batch_secs), 3),
            "driver_mb": round(self.peak_bytes / 1e6),
            "answers": self.answers,
        }


def main() -> int:
    """Measure and print; return 1 where a goal is missed."""
    parser = parser_for(__doc__, cores=1)
    parser.add_argument("--pairs", type=int, default=20, help="of storms")
    parser.add_argument("--secs", type=int, default=30, help="of each storm")
    parser.add_argument("--scrapes", type=int, default=500, help="a second")
    parser.add_argument("--slow", type=int, default=200, help="sockets that dawdle")
    parser.add_argument("--partitions", type=int, default=5_000)
    parser.add_argument("--short", action="store_true", help="a try: small, no verdict worth telling")
    asked = parser.parse_args()
    if asked.short:
        asked.pairs, asked.secs, asked.partitions = 1, 8, 500
    with trial("storm", asked.save) as (folder, result):
        result.update(summary(stormed(asked, folder), asked))
    print(as_text(result))
    return int(result["batch_time"]["p99"]["ratio"] >= MOST_P99 or result["growth_mb"] >= MOST_GROWTH_MB)


def stormed(asked: argparse.Namespace, folder: Path) -> Sequence[tuple[Segment, Segment]]:
    """Return what became of the job in each pair of storms: one beside it, one aimed at it."""
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
            return [pair(job, bystander, asked, at_job_first=n % 2 == 1) for n in range(asked.pairs)]


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
        [sys.executable, "-m", "benchmarks.storm.scrapers", *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None:
            peak_bytes = max(peak_bytes, job.rss_bytes())
            rest(SAMPLE_SECS)
        assert process.stdout is not None
        answers = json.loads(process.stdout.read())
    return Segment(tuple(job.batch_secs), peak_bytes, answers)


def summary(pairs: Sequence[tuple[Segment, Segment]], asked: argparse.Namespace) -> dict[str, Any]:
    """Return the result that is kept: each storm, and what the batches of all of them tell."""
    beside, at_job = ([secs for one in side for secs in one.batch_secs] for side in zip(*pairs, strict=True))
    return {
        "scrapes_per_sec": asked.scrapes,
        "secs": asked.secs,
        "slow_sockets": asked.slow,
        "partitions": asked.partitions,
        "cores": asked.cores,
        "storms": [{name: one.figures() for name, one in zip(SIDES, both, strict=True)} for both in pairs],
        "batch_time": {f"p{share * 100:g}": compared(beside, at_job, share) for share in SHARES},
        "p99_goal": MOST_P99,
        "growth_mb": round((pairs[-1][1].peak_bytes - pairs[0][0].peak_bytes) / 1e6),
        "growth_goal_mb": MOST_GROWTH_MB,
    }


def compared(beside: Sequence[float], at_job: Sequence[float], share: float) -> dict[str, float | Sequence[float]]:
    """Return a quantile of both sides in seconds, their ratio, and between what values 95 of 100 draws have it."""
    return {
        SIDES[0]: round(quantile(beside, share), 3),
        SIDES[1]: round(quantile(at_job, share), 3),
        "ratio": round(ratio(beside, at_job, share), 3),
        "likely": [round(one, 3) for one in likely(beside, at_job, share)],
    }


def as_text(result: Mapping[str, Any]) -> str:
    """Return the result for people."""
    told = f"{result['scrapes_per_sec']} scrapes/s for {result['secs']} s, {result['slow_sockets']} slow sockets"
    lines = [f"{told}, {result['partitions']:,} partitions"]
    for storms in result["storms"]:
        lines += [
            f"{name}: {one['batches']} batches, p50 {one['p50_secs']:.3f} s, longest {one['longest_secs']:.3f} s,"
            f" driver {one['driver_mb']} MB, {one['answers']}"
            for name, one in storms.items()
        ]
    for name, one in result["batch_time"].items():
        times = ", ".join(f"{one[side]:.3f} s {side}" for side in SIDES)
        low, high = one["likely"]
        lines.append(f"batch time, {name}: {times}, ratio {one['ratio']} ({low} to {high} in 95 of 100 draws)")
    lines.append(
        f"p99 moved by {result['batch_time']['p99']['ratio']} (goal {result['p99_goal']}),"
        f" memory by {result['growth_mb']:+} MB (goal {result['growth_goal_mb']})"
    )
    return "\n".join(lines)


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
