"""`python -m benchmarks.drain`: our drain against others, interleaved, on one broker in one run.

Each round every side drains the same topic once; its table is read with DuckDB and compared column by column before
its time counts. Before that each side drains until it has worked for half a minute: a JVM is slow until its code is
compiled, and sides that take a fifth of the time for a drain would have compiled a fifth of theirs after one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.delayed import Delay, delayed
from benchmarks.drain.odd_shapes import ODD_SHAPES
from benchmarks.drain.shapes import SHAPES
from benchmarks.gateway import S3Gateway
from benchmarks.paired import BEFORE, BEFORE_HELP, Side, ratio
from benchmarks.side import Drain
from benchmarks.topics import preload
from benchmarks.trial import parser_for, rounded, sums, trial
from gluepot.servers.kafka import KafkaBroker

TOPIC, BUCKET = "bench", "lake"
OURS = "gluepot"
RIVALS = {
    "stock": "PySpark in the shape of Glue's library",
    "stock-jvm": "the same, with the schema inferred inside the JVM",
    "tuned": "PySpark with a schema by hand and tuned settings",
    "loop": "confluent-kafka and pyarrow without Spark, at least once",
    "flink": "Flink SQL with a schema by hand, exactly-once",
    "connect": "Kafka Connect with Iceberg's sink, exactly-once",
    "unsafe": "us without commits",
    "watched": "us with metrics, page and advisor",
    "near-s3": "us with the table on an S3 server of this machine",
    "s3": "the same, and each request reaches the server 50 ms later",
    "default_check": "us with the data quality check that Glue Studio adds",
    "ten_rules": "us with ten data quality rules",
}
GOALS: Mapping[tuple[str, str], float] = {
    **{("stock-jvm", shape): 10.0 for shape in SHAPES},
    **{("stock-jvm", shape): 8.0 for shape in ODD_SHAPES},
    ("stock", "e200"): 4.0,
    ("stock", "e500"): 5.0,
    ("stock", "e1000"): 4.0,
    **{("tuned", shape): 4.5 for shape in SHAPES},
    **{("loop", shape): 1.5 for shape in SHAPES},
    **{("flink", shape): 1.5 for shape in SHAPES},
    **{("unsafe", shape): 0.97 for shape in SHAPES},
}
"""How many times as long the rival should take at least."""
CEILINGS: Mapping[tuple[str, str], float] = {
    (name, shape): most
    for name, most in (("watched", 1.02), ("default_check", 1.02), ("ten_rules", 1.15), ("s3", 1.18))
    for shape in SHAPES
}
"""How many times as long the rival may take at most: 0.98 of the rate, 0.87 with ten rules and 0.85 on S3."""
S3_WAYS = {"near-s3": 0.0, "s3": 0.05}
"""By how many seconds requests are delayed."""
EXECUTOR_MB = 1024
"""Memory of each executor."""
OUR_WAYS = ("unsafe", "watched", *S3_WAYS, "default_check", "ten_rules")
"""Rivals that are our own process doing something else, see `benchmarks.drain.ours`."""
INFERRING = ("stock", "stock-jvm", *OUR_WAYS)
"""Rivals that need no schema by hand."""
ON_SPARK = (*INFERRING, "tuned")
"""Rivals that can run on a cluster of Spark."""
WARM_UP_SECS = 30.0


class Broker(KafkaBroker):
    """A broker that lets the members of a consumer group come together before it gives partitions to the first one.

    Of all sides only Kafka Connect has consumer groups. A task that joins while another one writes takes partitions
    from it, and what that one had not committed is written again, beside files that no snapshot of the table names.
    Kafka's own delay is 3 s. Here it is a part of the second after which the first commit is told to the tasks: one
    that has not joined the group of these messages by then misses it, and the commit waits for it until a time limit.
    """

    SETTINGS: ClassVar[Mapping[str, str]] = {"group.initial.rebalance.delay.ms": "250"}


def main() -> int:
    """Preload, warm up all sides, run the rounds, print medians and ratios; return 1 where a goal is missed."""
    parser = parser_for(__doc__)
    shapes = {**SHAPES, **ODD_SHAPES}
    parser.add_argument("--events", choices=shapes, default="e500", help="bytes of a record, about, or an odd shape")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--batch-rows", type=int, default=250_000)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--warm-up-secs", type=float, default=WARM_UP_SECS, help="of each side, before its first round")
    parser.add_argument(
        "--against",
        action="append",
        choices=RIVALS,
        help="stock and stock-jvm by default, several allowed; "
        + "; ".join(f"{name}: {one}" for name, one in RIVALS.items()),
    )
    parser.add_argument("--before", type=Path, help=BEFORE_HELP)
    parser.add_argument(
        "--executors",
        type=int,
        default=0,
        help="of one core each, as processes; 0 for none",
    )
    parser.add_argument("--output", choices=("text", "json"), default="text")
    asked = parser.parse_args()
    if asked.events in ODD_SHAPES and (refused := set(asked.against or ()) - set(INFERRING)):
        parser.error(f"{', '.join(sorted(refused))} need a schema by hand, which {asked.events} does not have")
    if asked.executors and (refused := set(asked.against or ()) - set(ON_SPARK)):
        parser.error(f"{', '.join(sorted(refused))} cannot run on executors of Spark")
    with trial("bench", asked.save) as (folder, result):
        sides, payload_bytes = measure(asked, folder)
        result |= {
            "events": asked.events,
            "records": asked.records,
            "bytes_per_record": round(payload_bytes / asked.records),
            "batch_rows": asked.batch_rows,
            "partitions": asked.partitions,
            "cores": asked.cores,
            "executors": asked.executors,
            "ratios": ratios(sides, "" if asked.executors else asked.events),
            "sides": {side.name: figures(side, asked.records) for side in sides},
        }
    print(json.dumps(result) if asked.output == "json" else as_text(result))
    return int(any(is_missed(one) for one in result["ratios"].values()))


def measure(asked: argparse.Namespace, folder: Path) -> tuple[Sequence[Side], int]:
    """Run all rounds; return the sides with their times, ours first, and the bytes of the records."""
    shape = {**SHAPES, **ODD_SHAPES}[asked.events]
    names = dict.fromkeys(asked.against or ([] if asked.before else ["stock", "stock-jvm"]))
    with (
        Broker(folder / "kafka") as broker,
        _s3(folder) if S3_WAYS.keys() & names.keys() else nullcontext(Delay("")) as delay,
    ):
        payload_bytes = preload(broker.bootstrap, TOPIC, shape.payloads(asked.records), asked.partitions)
        machine = f"local-cluster[{asked.executors},1,{EXECUTOR_MB}]" if asked.executors else str(asked.cores)
        arguments = (broker.bootstrap, TOPIC, str(asked.batch_rows), machine, asked.events)
        ours = Side.start(OURS, "benchmarks.drain.ours", *arguments)
        rivals = [
            ours.another_way(name)
            if name in OUR_WAYS
            else Side.start(name, f"benchmarks.drain.{name.replace('-', '_')}", *arguments)
            for name in names
        ]
        if asked.before:
            checkout = asked.before.resolve()
            rivals.append(Side.start(BEFORE, "benchmarks.drain.ours", *arguments, checkout=checkout))
        sides = [ours, *rivals]
        seen: set[tuple[object, ...]] = set()

        def drain(side: Side, *, counts: bool) -> float:
            work = folder / "work"
            table = folder / "buckets" / BUCKET / "table" if side.name in S3_WAYS else work / "table"
            delay.secs = S3_WAYS.get(side.name, 0.0)
            secs = side.run(Drain(str(work / "checkpoint"), str(work / "table")), counts=counts)
            # Of a broken document stock Spark writes a row without values, and we none.
            rows = f"read_parquet('{table}/**/*.parquet', union_by_name=true) WHERE event_id IS NOT NULL"
            found = sums(rows, shape.checked)
            seen.add(found)
            if found[0] != shape.whole(asked.records) or len(seen) > 1:
                raise SystemExit(f"{side.name} wrote {found}; {asked.records} records and {seen} were seen")
            shutil.rmtree(work)
            shutil.rmtree(table, ignore_errors=True)
            return secs

        for side in sides:
            spent_secs = 0.0
            while spent_secs < asked.warm_up_secs:
                spent_secs += drain(side, counts=False)
        for round_number in range(asked.pairs):
            # Who comes second finds the disk as the first one left it, so that they change places.
            for side in sides if round_number % 2 else reversed(sides):
                drain(side, counts=True)
        for side in sides:
            side.stop()
    return sides, payload_bytes


@contextmanager
def _s3(folder: Path) -> Iterator[Delay]:
    """Have sides that start find an S3 server whose one bucket is a folder."""
    buckets = folder / "buckets"
    (buckets / BUCKET).mkdir(parents=True)
    with S3Gateway(folder / "gateway", buckets, takes_parts=True) as server, delayed(server.url) as delay:
        os.environ.update(server.environ | {"AWS_ENDPOINT_URL_S3": delay.url})
        yield delay


def ratios(sides: Sequence[Side], shape: str) -> dict[str, dict[str, float | None]]:
    """Return how many times as much of each the rivals take, medians over the pairs, with the goal of a shape."""
    ours, *others = sides
    return {
        other.name: {
            "secs": ratio(ours.secs, other.secs),
            "whole_secs": ratio(ours.whole_secs, other.whole_secs),
            "cpu_secs": ratio(ours.cpu_secs, other.cpu_secs),
            "goal": GOALS.get((other.name, shape)),
            "ceiling": CEILINGS.get((other.name, shape)),
        }
        for other in others
    }


def is_missed(one: Mapping[str, Any]) -> bool:
    """Tell whether a ratio is not what it should be."""
    below = one["goal"] is not None and one["secs"] < one["goal"]
    return below or (one["ceiling"] is not None and one["secs"] > one["ceiling"])


def figures(side: Side, records: int) -> dict[str, Any]:
    """Return what was measured of a side, all rounds that count."""
    return {
        "secs": rounded(side.secs),
        "whole_secs": rounded(side.whole_secs),
        "median_secs": round(statistics.median(side.secs), 2),
        "records_per_sec": round(records / statistics.median(side.secs)),
        "cpu_secs_per_million": round(statistics.median(side.cpu_secs) * 1e6 / records, 2),
        "peak_rss_mb_by_quarter": [[round(b / 1e6) for b in quarters] for quarters in side.rss_bytes],
    }


def as_text(result: Mapping[str, Any]) -> str:
    """Return the result for people."""
    rounds = len(result["sides"][OURS]["secs"])
    lines = [f"{result['records']:,} records of {result['bytes_per_record']} bytes, {rounds} rounds; outputs equal"]
    for name, one in result["sides"].items():
        lines += [
            f"{name:8} median {one['median_secs']:.2f} s, {one['records_per_sec']:,} records/s, rounds {one['secs']}",
            f"{'':8} CPU {one['cpu_secs_per_million']} s a million records",
            f"{'':8} peak RSS by quarter of a round: {one['peak_rss_mb_by_quarter']} MB",
            f"{'':8} with the start of the query: {one['whole_secs']} s",
        ]
    for name, one in result["ratios"].items():
        goal = "" if one["goal"] is None else f", goal {one['goal']}"
        ceiling = "" if one["ceiling"] is None else f", at most {one['ceiling']}"
        lines.append(
            f"drain: {name} takes {one['secs']} times as long (median of the rounds' ratios{goal}{ceiling}),"
            f" {one['whole_secs']} times with the start of the query, {one['cpu_secs']} times the CPU"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
