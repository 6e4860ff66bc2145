"""Scripts that write Iceberg and Delta, not a line changed; their tables are read by PyIceberg and delta-rs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import load_catalog

from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, service
from tests.e2e.conftest import Topic, new_topic_at
from tests.e2e.jobs import EXAMPLES, Job, Launcher, arguments
from tests.e2e.lake import delta_rows, glue_catalog, iceberg_rows, iceberg_table
from tests.service_answers import client_of

KILLED = 128 + 9

# `make test` kills the two examples that merge into tables whose rows depend on the order of batches, and appends of the
# same kind as those of the other two in test_lake_crashes.py.
also_killed = pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.long)])


class Lake:
    """A topic and the folders of one job: the state with the catalog in it, the warehouse, the checkpoint."""

    def __init__(self, folder: Path, launch: Launcher, topic: Topic) -> None:
        self.state = folder / "state"
        self.warehouse = folder / "warehouse"
        self._temp = folder / "temp"
        self._launch = launch
        self._topic = topic

    def send(self, *documents: object) -> None:
        self._topic.send(json.dumps(document).encode() for document in documents)

    def run(self, script: str, *flags: str, failpoint: str = "", batch_records: int = 1000, **given: object) -> Job:
        """Run an example until it has caught up with the topic, in batches of so many records."""
        options = {**self._topic.options(), "maxOffsetsPerTrigger": str(batch_records)}
        stream = {"stream_type": "kafka", "stream_options": json.dumps(options)}
        more = arguments(JOB_NAME="lake", TempDir=self._temp, window_size="1 second", **stream, **given)
        env = {"GLUEPOT_STATE": str(self.state), "GLUEPOT_FAILPOINT": failpoint}
        run = ("run", EXAMPLES / script, "--master", "local[2]", "--until-caught-up", "--")
        job = self._launch.hosted(*run, *flags, *more, env=env)
        assert job.exit_code() == (KILLED if failpoint else 0), job.err
        return job

    def merge_orders(self, failpoint: str = "") -> Job:
        return self.run(
            "orders_iceberg.py", "--datalake-formats", "iceberg", failpoint=failpoint, batch_records=50,
            catalog="glue_catalog",
            database_name="shop", table_name="orders", primary_key="order_id", iceberg_s3_path=self.warehouse,
            lock_table_name="locks", aws_region="us-east-1",
        )  # fmt: skip

    def rows(self, table: str, key: str, *columns: str) -> dict[Any, tuple[Any, ...]]:
        """Columns of an Iceberg table by key; a key that is there twice fails."""
        rows = iceberg_rows(self.state, table, key, *columns)
        found = {row[key]: tuple(row[name] for name in columns) for row in rows}
        assert len(found) == len(rows)
        return found


@pytest.fixture
def lake(tmp_path: Path, launch: Launcher, kafka: str) -> Lake:
    # One partition, so that the batches hold the records in the order in which they were sent.
    return Lake(tmp_path, launch, new_topic_at(kafka, partitions=1))


def order(order_id: int, status: str, minute: int) -> dict[str, object]:
    at = f"2026-01-02T10:{minute:02d}:00Z"
    return {"order_id": order_id, "status": status, "total": order_id + 0.5, "updated_at": at}


def change_as_client(lake: Lake, name: str, value: str) -> None:
    """Set a property of the job's table as a client of Glue's API, which finds the table there."""
    environ = {**os.environ, "GLUEPOT_STATE": str(lake.state)}
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        (described,) = client_of(running).get_tables(DatabaseName="shop")["TableList"]
        assert "order_id" in {one["Name"] for one in described["StorageDescriptor"]["Columns"]}
        known = {"glue.access-key-id": running.key.id, "glue.secret-access-key": running.key.secret}
        place = {"type": "glue", "glue.endpoint": running.url, "glue.region": running.region}
        with load_catalog("client", **known, **place).load_table("shop.orders").transaction() as change:
            change.set_properties({name: value})


def test_changes_are_merged_into_iceberg_as_if_each_batch_had_run_once(lake):
    lake.send(*(order(n, "new", 0) for n in range(50)))
    lake.send(*(order(n, "paid", 1) for n in range(0, 50, 2)), *(order(n, "deleted", 2) for n in range(5, 50, 10)))
    lake.merge_orders(failpoint="lake.merging@2")
    lake.merge_orders(failpoint="lake.merged")
    change_as_client(lake, "owner", "ada")
    lake.send(order(0, "late", 0), order(1, "shipped", 9), order(99, "new", 9))
    job = lake.merge_orders()

    left = {n: ("new" if n % 2 else "paid",) for n in range(50) if n % 10 != 5}
    assert lake.rows("orders", "order_id", "status") == {**left, 1: ("shipped",), 99: ("new",)}
    assert iceberg_table(lake.state, "orders").properties["owner"] == "ada"
    assert job.said("merged")
    assert not job.said("spark_merges")
    (told,) = job.said("catalog_mapped")
    assert (told["catalog"], told["was"]) == ("glue_catalog", "org.apache.iceberg.aws.glue.GlueCatalog")
    assert told["left_out"] == ["lock-impl", "lock.table"]


def change(table: str, operation: str, second: int, **data: object) -> dict[str, object]:
    at = f"2026-01-02T10:00:{second:02d}Z"
    return {"data": data, "metadata": {"operation": operation, "table-name": table, "timestamp": at}}


@pytest.mark.long
@pytest.mark.parametrize("killed", [False, True])
def test_changes_of_several_tables_find_their_tables(lake, killed):
    def apply(failpoint: str = "") -> None:
        flags = ("--datalake-formats", "iceberg", *glue_catalog(lake.warehouse))
        keys = json.dumps({"customers": "customer_id", "items": "item_id"})
        given = {"database": "shop", "primary_keys": keys}
        lake.run("cdc_tables_iceberg.py", *flags, failpoint=failpoint, batch_records=3, **given)

    lake.send(
        change("customers", "load", 0, customer_id=1, name="Ada"),
        change("customers", "load", 0, customer_id=2, name="Bob"),
        change("items", "insert", 1, item_id=7, price=1.5),
    )
    if killed:
        apply("batch.done")
    lake.send(
        change("customers", "update", 2, customer_id=1, name="Ada L."),
        change("customers", "delete", 3, customer_id=2, name="Bob"),
        change("items", "insert", 4, item_id=8, price=2.5),
        change("items", "update", 5, item_id=8, price=3.5),
    )
    apply()

    assert lake.rows("customers", "customer_id", "name") == {1: ("Ada L.",)}
    assert lake.rows("items", "item_id", "price") == {7: (1.5,), 8: (3.5,)}


def test_the_history_of_customers_is_kept_once_also_after_a_kill(lake):
    def keep(failpoint: str = "") -> None:
        flags = ("--datalake-formats", "iceberg", *glue_catalog(lake.warehouse))
        table = "glue_catalog.shop.customers"
        lake.run("customers_scd2.py", *flags, failpoint=failpoint, batch_records=2, table=table)

    lake.send(
        {"customer_id": 1, "city": "Rome", "changed_at": "2026-01-01T00:00:00Z"},
        {"customer_id": 3, "city": "Kyiv", "changed_at": "2026-01-01T00:00:00Z"},
        {"customer_id": 1, "city": "Oslo", "changed_at": "2026-02-01T00:00:00Z"},
        {"customer_id": 2, "city": "Bern", "changed_at": "2026-02-02T00:00:00Z"},
    )
    keep("batch.done@2")
    keep()

    rows = iceberg_rows(lake.state, "customers", "customer_id", "city", "valid_to", "is_current")
    found = [(row["customer_id"], row["city"], row["valid_to"] is None, row["is_current"]) for row in rows]
    assert sorted(found) == [
        (1, "Oslo", True, True),
        (1, "Rome", False, False),
        (2, "Bern", True, True),
        (3, "Kyiv", True, True),
    ]


@also_killed
def test_clicks_are_appended_once_to_delta_with_columns_that_come_later(lake, tmp_path, killed):
    def append(failpoint: str = "") -> None:
        flags = ("--datalake-formats", "delta")
        lake.run("clicks_delta.py", *flags, failpoint=failpoint, batch_records=1, output_path=tmp_path / "clicks")

    lake.send({"n": 1, "clicked_at": "2026-01-02T10:00:00Z"})
    if killed:
        append("batch.done")
    lake.send({"n": 2, "clicked_at": "2026-01-02T11:00:00Z", "page": "/cart"})
    append()

    rows = [(row["n"], row["page"], str(row["day"])) for row in delta_rows(tmp_path / "clicks", "n", "page", "day")]
    assert sorted(rows) == [(1, None, "2026-01-02"), (2, "/cart", "2026-01-02")]
