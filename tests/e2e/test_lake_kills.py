"""The lake examples under kills at random moments, from Kafka and from Kinesis: the tables are those of a quiet run.

GLUEPOT_LAKE_KILLS=20 kills each example twenty times from each stream; without it two pairs run, with one kill.
GLUEPOT_LAKE_SEED=2 chooses other moments.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from deltalake import DeltaTable

from gluepot.core.clock import SystemClock
from tests.e2e.conftest import KinesisStream, Topic, new_topic_at
from tests.e2e.jobs import EXAMPLES, POLL_SECS, Job, Launcher, arguments, rest
from tests.e2e.lake import glue_catalog, iceberg_rows

pytestmark = pytest.mark.long

KILLS = os.environ.get("GLUEPOT_LAKE_KILLS")
SEED = os.environ.get("GLUEPOT_LAKE_SEED", "1")
KEYS = 40

Record = Mapping[str, Any]


def at(number: int) -> str:
    return f"2026-01-{1 + number // 1440:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00Z"


@dataclass(frozen=True)
class Example:
    """A script and its stream.

    Args:
        script: in the folder of examples.
        format: of its tables.
        given: arguments beyond those of all examples.
        changes: records of a round. No key comes twice in one, so that its tables are the same however a round is cut
            into batches and in whatever order its shards are read.
        rows: its tables, read without Spark, from the folder of a run.
    """

    script: str
    format: str
    given: Callable[[Path], Mapping[str, object]]
    changes: Callable[[int], Sequence[Record]]
    rows: Callable[[Path], list[Record]]


def orders(number: int) -> list[Record]:
    def status(key: int) -> str:
        return "deleted" if (key + number) % 7 == 0 else f"step {number}"

    return [
        {"order_id": key, "status": status(key), "total": key + number / 4, "updated_at": at(number)}
        for key in range(KEYS)
        if key % 3 != number % 3
    ]


def customers(number: int) -> list[Record]:
    changed = (key for key in range(KEYS) if number == 0 or key % 2 == number % 2)
    return [{"customer_id": key, "city": f"city {(key + number) % 5}", "changed_at": at(number)} for key in changed]


def tables(number: int) -> list[Record]:
    def operation(key: int) -> str:
        return "load" if number == 0 else "delete" if (key + number) % 5 == 0 else "update"

    def change(table: str, key: int, data: Record) -> Record:
        metadata = {"operation": operation(key), "table-name": table, "timestamp": at(number)}
        return {"data": data, "metadata": metadata}

    return [
        *(change("customers", key, {"customer_id": key, "name": f"name {number}"}) for key in range(KEYS)),
        *(change("items", key, {"item_id": key, "price": key + number / 4}) for key in range(KEYS)),
    ]


def clicks(number: int) -> list[Record]:
    later = {"page": f"/{number}"} if number else {}
    return [{"n": number * KEYS + key, "clicked_at": at(number), **later} for key in range(KEYS)]


def iceberg(*names: str) -> Callable[[Path], list[Record]]:
    return lambda folder: [
        {"table": name, **row} for name in names for row in iceberg_rows(folder / "state", name, "*")
    ]


def clicks_kept(folder: Path) -> list[Record]:
    return DeltaTable(folder / "clicks").to_pyarrow_table().drop_columns("loaded_at").to_pylist()


def merged_orders(folder: Path) -> dict[str, object]:
    return {
        "catalog": "glue_catalog", "database_name": "shop", "table_name": "orders", "primary_key": "order_id",
        "iceberg_s3_path": folder / "warehouse", "lock_table_name": "locks", "aws_region": "us-east-1",
    }  # fmt: skip


CDC = {"database": "shop", "primary_keys": json.dumps({"customers": "customer_id", "items": "item_id"})}
SCD2 = {"table": "glue_catalog.shop.customers"}
ALL = (
    Example("orders_iceberg.py", "iceberg", merged_orders, orders, iceberg("orders")),
    Example("cdc_tables_iceberg.py", "iceberg", lambda _: CDC, tables, iceberg("customers", "items")),
    Example("customers_scd2.py", "iceberg", lambda _: SCD2, customers, iceberg("customers")),
    Example("clicks_delta.py", "delta", lambda folder: {"output_path": folder / "clicks"}, clicks, clicks_kept),
)
PAIRS = list(product(ALL, ("kafka", "kinesis"))) if KILLS else [(ALL[0], "kafka"), (ALL[-1], "kinesis")]


@dataclass
class Run:
    """An example over a stream of its own, in as many jobs as it takes, each of which goes on where the last ended.

    Args:
        example: what runs.
        stream: what it reads.
        folder: its state, warehouse and checkpoint.
        launch: starts the jobs.
        rounds: sent so far.
        sent: records in them.
        jobs: started so far.
    """

    example: Example
    stream: Topic | KinesisStream
    folder: Path
    launch: Launcher
    rounds: int = 0
    sent: int = 0
    jobs: list[Job] = field(default_factory=list)

    def send(self) -> None:
        """Send the next round."""
        changes = self.example.changes(self.rounds)
        self.stream.send(json.dumps(change).encode() for change in changes)
        self.rounds, self.sent = self.rounds + 1, self.sent + len(changes)

    def start(self) -> Job:
        """Return a job that owns the checkpoint."""
        flags = ["--datalake-formats", self.example.format]
        if "catalog" not in self.example.given(self.folder):
            flags += glue_catalog(self.folder / "warehouse")
        kind = "kafka" if isinstance(self.stream, Topic) else "kinesis"
        given = arguments(
            JOB_NAME="lake", TempDir=self.folder / "temp", window_size="1 second", stream_type=kind,
            stream_options=json.dumps(self.stream.options()), **self.example.given(self.folder),
        )  # fmt: skip
        run = ("run", EXAMPLES / self.example.script, "--master", "local[2]", "--")
        job = self.launch.gluepot(*run, *flags, *given, env={"GLUEPOT_STATE": str(self.folder / "state")})
        self.jobs.append(job)
        lease = self.folder / f"temp/lake/checkpoint/gluepot/lease/{len(self.jobs)}.json"
        job.wait_until(lease.exists, "the lease")
        return job

    def is_caught_up(self) -> bool:
        """Whether every record sent is in a batch that is done; one that ran again counts once."""
        return sum({line["batch"]: line["rows"] for line in self._done()}.values()) == self.sent

    def _done(self) -> Iterator[dict[str, Any]]:
        for job in self.jobs:
            for line in job.err.splitlines(keepends=True):
                if '"batch_done"' in line and line.endswith("\n"):  # the last may be half of one
                    yield json.loads(line)

    def finish(self, job: Job) -> list[str]:
        """Return the rows of the tables, sorted, after an orderly end."""
        job.wait_until(self.is_caught_up, "all records")
        job.process.terminate()
        assert job.exit_code() == 0, job.err[-3000:]
        return sorted(json.dumps(row, default=str, sort_keys=True) for row in self.example.rows(self.folder))


def disturbed(run: Run, chance: Random, kills: int) -> list[str]:
    """Send a round whenever the last is in the tables, and kill each job at a moment of its work."""
    clock = SystemClock()
    run.send()
    job = run.start()
    began = clock.monotonic()
    job.wait_until(run.is_caught_up, "the first records")
    first_secs = clock.monotonic() - began
    for _ in range(kills):
        moment = clock.monotonic() + chance.uniform(0, 2 * first_secs)
        while clock.monotonic() < moment:
            assert job.runs(), job.err[-3000:]
            if run.is_caught_up():
                run.send()
            rest(POLL_SECS)
        os.killpg(job.process.pid, signal.SIGKILL)
        job.exit_code()
        job = run.start()
    return run.finish(job)


def undisturbed(run: Run, rounds: int) -> list[str]:
    job = run.start()
    for _ in range(rounds):
        run.send()
        job.wait_until(run.is_caught_up, "a round")
    return run.finish(job)


@pytest.fixture
def new_run(launch: Launcher, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[Example, str], Run]:
    numbers = count()

    def new(example: Example, kind: str) -> Run:
        endpoint = request.getfixturevalue(kind)
        folder = tmp_path / f"run-{next(numbers)}"
        folder.mkdir()
        return Run(example, new_topic_at(endpoint) if kind == "kafka" else KinesisStream.at(endpoint), folder, launch)

    return new


@pytest.mark.parametrize(("example", "kind"), PAIRS, ids=[f"{one.script[:-3]}-{kind}" for one, kind in PAIRS])
def test_tables_of_a_killed_example_are_those_of_a_quiet_run(new_run, example, kind):
    killed, quiet = new_run(example, kind), new_run(example, kind)

    found = disturbed(killed, Random(f"{SEED} {example.script} {kind}"), int(KILLS or 1))

    assert found
    assert found == undisturbed(quiet, killed.rounds)
