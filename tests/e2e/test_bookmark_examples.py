"""The examples about bookmarks do what the articles they come from say, log lines included."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from gluepot.bookmarks.ledger import open_ledger
from gluepot.catalog.connect import open_catalog
from gluepot.catalog.formats import new_storage
from gluepot.catalog.values import Database, Partition, Table
from gluepot.core.clock import SystemClock
from tests.e2e.jobs import EXAMPLES, Job, Launcher, column


@dataclass(frozen=True)
class World:
    """A catalog, a ledger and a folder of one test."""

    launch: Launcher
    folder: Path

    @property
    def env(self) -> dict[str, str]:
        return {"GLUEPOT_STATE": str(self.folder / "state")}

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def table(self, database: str, name: str, columns: dict[str, str], *keys: str) -> Table:
        storage = new_storage("json", str(self.folder / name)).body
        table = Table(
            database,
            name,
            {
                "StorageDescriptor": {**storage, "Columns": [{"Name": n, "Type": t} for n, t in columns.items()]},
                "PartitionKeys": [{"Name": key, "Type": "string"} for key in keys],
                "Parameters": {"classification": "json"},
            },
        )
        with_catalog = open_catalog(f"sqlite:///{self.folder}/state/catalog.db", SystemClock())
        with_catalog.add_database(Database(database))
        assert with_catalog.add_table(table)
        with_catalog.close()
        return table

    def partition(self, table: Table, folder: str) -> Path:
        location = self.folder / table.name / folder
        location.mkdir(parents=True)
        values = tuple(part.partition("=")[2] for part in folder.split("/"))
        with_catalog = open_catalog(f"sqlite:///{self.folder}/state/catalog.db", SystemClock())
        with_catalog.add_partitions(table, [Partition(values, {"StorageDescriptor": {"Location": str(location)}})])
        with_catalog.close()
        return location

    def partitions(self, database: str, name: str) -> list[tuple[str, ...]]:
        with_catalog = open_catalog(f"sqlite:///{self.folder}/state/catalog.db", SystemClock())
        found = [one.values for one in with_catalog.partitions(with_catalog.table(database, name))]
        with_catalog.close()
        return found

    def run(self, script: str) -> Job:
        job = self.launch.hosted(
            *("run", EXAMPLES / script, "--master", "local[1]", "--"),
            *("--JOB_NAME", "glue-job-incremental", "--output_dir", self.out),
            *("--TempDir", self.folder / "temp", "--job-bookmark-option", "job-bookmark-enable"),
            env=self.env,
        )
        assert job.exit_code() == 0, job.err
        return job

    def run_ids(self) -> list[str]:
        """Of the runs so far, oldest first."""
        ledger = open_ledger(f"sqlite:///{self.folder}/state/ledger.db", SystemClock())
        found = [run.run_id for run in ledger.runs("glue-job-incremental")][::-1]
        ledger.close()
        return found

    def bookmarks(self, *tokens: str) -> Job:
        job = self.launch.hosted("bookmarks", *tokens, env=self.env)
        assert job.exit_code() == 0, job.err
        return job


@pytest.fixture
def world(launch, tmp_path) -> World:
    return World(launch, tmp_path)


def put(folder: Path, name: str, *records: dict[str, object]) -> None:
    (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))


def spoken(job: Job) -> list[tuple[str, str, str]]:
    loggers = {"HadoopDataSource", "PartitionFilesListerUsingBookmark"}
    return [(line["level"], line["logger"], line["msg"]) for line in job.log() if line["logger"] in loggers]


def test_load_data_incrementally(world):
    raw = world.table(
        "firehose_s3_db", "firehose_s3_raw_table", {"col0": "string", "col1": "string"}, "year", "month", "day", "hour"
    )
    busy = world.partition(raw, "year=2019/month=03/day=26/hour=13")
    idle = world.partition(raw, "year=2019/month=03/day=26/hour=14")
    names = [f"n{n:02}" for n in range(49)]
    put(idle, "0", {"col0": names[0], "col1": "1"}, {"col0": names[1], "col1": "1"})
    for n in range(2, 34):
        put(busy, str(n), {"col0": names[n], "col1": "1"})
    lister = ("info", "PartitionFilesListerUsingBookmark")

    first = world.run("incremental_firehose.py")
    assert column(world.out, "name") == names[:34]
    assert (*lister, f"Found new partition DynamicFramePartition({busy}) with 32 files") in spoken(first)

    for n in range(34, 49):
        put(busy, str(n), {"col0": names[n], "col1": "1"})
    second = world.run("incremental_firehose.py")
    assert column(world.out, "name") == names
    of_busy = f"in partition DynamicFramePartition({busy})"
    partition = '{"year": "2019", "month": "03", "day": "26", "hour": "14"}'
    missing = f"has no new files detected @ {idle}/ or path does not exist"
    assert spoken(second) == [
        (*lister, f"After initial job bookmarks filter, processing 31.91% of 47 files {of_busy}"),
        (*lister, f"After final job bookmarks filter, processing 100.00% of 15 files {of_busy}"),
        ("warning", "HadoopDataSource", f"Skipping Partition {partition} {missing}"),
    ]
    runs = world.run_ids()
    listing = world.folder / f"temp/partitionlisting/glue-job-incremental/{runs[1]}/datasource0.input-files.json"
    (listed,) = json.loads(listing.read_text())
    assert (listed["path"], len(listed["files"])) == (str(busy), 15)

    world.bookmarks("rewind", "glue-job-incremental", "--to-run", runs[0], "--yes")
    world.run("incremental_firehose.py")
    assert column(world.out, "name") == sorted(names + names[34:])


def test_incremental_patterns(world):
    transactions = world.table("source_db", "transactions", {"id": "bigint", "record_type": "string"})
    folder = Path(transactions.storage.location)
    folder.mkdir()
    put(folder, "1", {"id": 1, "record_type": "INSERT"}, {"id": 2, "record_type": "DELETE"})
    sales = world.table("analytics_db", "sales_data", {"id": "bigint"}, "transaction_date", "region")
    put(world.partition(sales, "transaction_date=2024-01-01/region=eu"), "1", {"id": 1})

    first = world.run("incremental_patterns.py")
    assert [line["option"] for line in first.said("option_ignored")] == ["bookmark_key_fields"] * 2
    assert column(world.out / "transactions", "id") == [1]

    put(folder, "2", {"id": 3, "record_type": "UPDATE"})
    put(world.partition(sales, "transaction_date=2024-01-02/region=us"), "1", {"id": 2})
    world.run("incremental_patterns.py")
    assert column(world.out / "transactions", "change") == ["new", "updated"]
    assert column(world.out / "sales", "id") == [1, 2]
    assert world.partitions("analytics_db", "sales_copy") == [("eu",), ("us",)]

    world.bookmarks("reset", "glue-job-incremental", "--ctx", "incremental_source", "--yes")
    world.run("incremental_patterns.py")
    assert column(world.out / "transactions", "id") == [1, 1, 3, 3]
    assert column(world.out / "sales", "id") == [1, 2]
