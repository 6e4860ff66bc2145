"""`python -m benchmarks.latency`: how long after its creation a record is seen in a table, ours and others in turns.

A topic is fed at a steady rate while a side runs one batch after the other. A record is seen when the file that holds
it got its final name; with us later, when the manifest that names it was there. Both times are the file system's own
(the time of a file's last change of name), so that nobody has to look meanwhile. What is sent in the first seconds of a
round and in the last ones does not count; all that is sent between has to be there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import orjson

from benchmarks.drain.shapes import SHAPES, Shape
from benchmarks.paired import Side, ratio
from benchmarks.side import Drain
from benchmarks.topics import fed
from benchmarks.trial import parser_for, trial
from gluepot.core.clock import SystemClock
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic

OURS = "gluepot"
RIVALS = ("stock", "tuned")
SHARES = (0.5, 0.99)
GOALS = {("stock", 0.5): 0.35, ("stock", 0.99): 0.40}
"""Of the rival's time, at most."""
MOST_MS = {0.5: 50, 0.99: 90}
"""Of our own time, at most, at 1,000 records a second."""
PARTITIONS = 4
LINGER_MS = 5
"""What librdkafka's producers wait for more records unless they are told otherwise; it is a part of every latency."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """What was measured of a side, in ms.

    Args:
        quantiles: by share, of each round.
        moments: times of each round at which something was seen.
    """

    quantiles: dict[float, list[float]] = field(default_factory=lambda: {share: [] for share in SHARES})
    moments: list[int] = field(default_factory=list)


def main() -> int:
    """Run the rounds, print quantiles and ratios; return 1 where a goal is missed."""
    parser = parser_for(__doc__)
    parser.add_argument("--events", choices=SHAPES, default="e500")
    parser.add_argument("--rate", type=int, default=1_000, help="records a second")
    parser.add_argument("--secs", type=int, default=30, help="of each round")
    parser.add_argument("--settle-secs", type=int, default=5, help="at both ends of a round that do not count")
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    with trial("latency", asked.save) as (folder, result):
        measured = measure(asked, folder)
        ratios = {
            f"{rival} p{share * 100:g}": {
                "time": ratio(measured[rival].quantiles[share], measured[OURS].quantiles[share]),
                "goal": GOALS.get((rival, share)),
            }
            for rival in RIVALS
            for share in SHARES
        }
        sides = {
            name: {"moments": one.moments, **{f"p{share * 100:g}_ms": one.quantiles[share] for share in SHARES}}
            for name, one in measured.items()
        }
        own = {
            f"p{share * 100:g}": {"ms": statistics.median(measured[OURS].quantiles[share]), "goal": MOST_MS[share]}
            for share in SHARES
        }
        result |= {"events": asked.events, "rate": asked.rate, "linger_ms": LINGER_MS}
        result |= {"sides": sides, "own": own, "ratios": ratios}
    for name, one in measured.items():
        times = "; ".join(f"p{share * 100:g} {[round(ms) for ms in one.quantiles[share]]} ms" for share in SHARES)
        print(f"{name:8} {times}; new rows at {one.moments} moments")
    for name, one in ratios.items():
        goal = "" if one["goal"] is None else f", goal {one['goal']}"
        print(f"record to visible: {one['time']} of {name} (median of the rounds' ratios{goal})")
    for name, one in own.items():
        print(f"record to visible: {name} {one['ms']} ms, goal {one['goal']}")
    is_missed = any(one["time"] > (one["goal"] or sys.maxsize) for one in ratios.values())
    return int(is_missed or any(one["ms"] > one["goal"] for one in own.values()))


def measure(asked: argparse.Namespace, folder: Path) -> dict[str, Rounds]:
    """Run all rounds, of which the first is for warming up."""
    measured = {name: Rounds() for name in (OURS, *RIVALS)}
    with KafkaBroker(folder / "kafka") as broker:
        sides = []
        for name in measured:
            create_topic(broker.bootstrap, name, PARTITIONS)
            arguments = map(str, (broker.bootstrap, name, asked.secs, asked.cores, asked.events))
            sides.append(Side.start(name, f"benchmarks.latency.{'ours' if name == OURS else name}", *arguments))
        for round_number in range(asked.pairs + 1):
            for side in sides:
                table = folder / f"{side.name}-{round_number}"
                sent: list[float] = []
                began = SystemClock().epoch()
                events = clicks(SHAPES[asked.events], sent)
                with fed(broker.bootstrap, side.name, events, asked.rate, linger_ms=LINGER_MS):
                    side.run(Drain(str(folder / f"checkpoint-{side.name}"), str(table)), counts=True)
                between = (1000 * (began + asked.settle_secs), 1000 * (began + asked.secs - asked.settle_secs))
                wanted = sum(between[0] <= one < between[1] for one in sent)
                delays, moments = seen(table, between)
                if len(delays) != wanted:
                    raise SystemExit(f"{side.name} wrote {len(delays)} of {wanted} records in time")
                if round_number > 0:
                    measured[side.name].moments.append(moments)
                    for share in SHARES:
                        measured[side.name].quantiles[share].append(round(delays[int(share * len(delays))], 1))
                shutil.rmtree(table)
        for side in sides:
            side.stop()
    return measured


def clicks(shape: Shape, sent: list[float]) -> Iterator[tuple[bytes, bytes]]:
    """Yield records that say when they were made, in ms, and note these times."""
    clock = SystemClock()
    for number, event in enumerate(shape.events()):
        sent.append(clock.epoch() * 1000)
        yield orjson.dumps({**event, "sent_ms": sent[-1]}), str(number).encode()


def seen(table: Path, between: tuple[float, float]) -> tuple[list[float], int]:
    """Return how many ms after they were made the records of a time were seen, sorted, and at how many moments.

    Args:
        table: a folder of Parquet files, with or without our manifests.
        between: first and last ms of the time.
    """
    manifests = {
        str(table / file["path"]): one.stat().st_ctime_ns / 1e6
        for one in table.glob("_gluepot/commits/**/*.json")
        for file in json.loads(one.read_text())["files"]
    }
    with duckdb.connect() as db:
        rows = db.execute(
            f"SELECT filename, sent_ms FROM read_parquet('{table}/*/*.parquet', filename=true, union_by_name=true)"
            " WHERE sent_ms >= ? AND sent_ms < ?",
            between,
        ).fetchall()
    # A file without its manifest is not seen yet.
    shown = {name: manifests[name] if manifests else Path(name).stat().st_ctime_ns / 1e6 for name, _ in rows}
    return sorted(shown[name] - sent_ms for name, sent_ms in rows), len(set(shown.values()))


if __name__ == "__main__":
    sys.exit(main())
