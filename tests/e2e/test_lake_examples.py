"""Scripts that write Iceberg and Delta, not a line changed; their tables are read by PyIceberg and delta-rs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Topic
from tests.e2e.jobs import EXAMPLES, Job, Launcher, arguments
from tests.e2e.lake import delta_rows, iceberg_rows

KILLED = 128 + 9


def change(order_id: int, status: str, minute: int) -> bytes:
    at = f"2026-01-02T10:{minute:02d}:00Z"
    return json.dumps({"order_id": order_id, "status": status, "total": order_id + 0.5, "updated_at": at}).encode()


class Lake:
    """One job's folders: the state with the catalog in it, the warehouse, the checkpoint."""

    def __init__(self, folder: Path, launch: Launcher, topic: Topic) -> None:
        self.folder = folder
        self._launch = launch
        self._topic = topic

    def orders(self, *flags: str, failpoint: str = "") -> Job:
        """Start the job that merges changes of orders."""
        return self._start(
            "orders_iceberg.py", flags, failpoint, datalake_formats="iceberg", catalog="glue_catalog", database_name="shop",
            table_name="orders", primary_key="order_id", kafka_bootstrap_servers=self._topic.bootstrap,
            kafka_topic_name=self._topic.name, iceberg_s3_path=self.folder / "warehouse",
            lock_table_name="locks", aws_region="us-east-1",
        )  # fmt: skip

    def clicks(self, *flags: str, failpoint: str = "") -> Job:
        """Start the job that appends clicks."""
        return self._start(
            "clicks_delta.py", flags, failpoint, datalake_formats="delta", bootstrap_servers=self._topic.bootstrap,
            topic=self._topic.name, output_path=self.folder / "clicks",
        )  # fmt: skip

    def _start(
        self, script: str, flags: tuple[str, ...], failpoint: str, datalake_formats: str, **given: object
    ) -> Job:
        more = arguments(JOB_NAME="lake", TempDir=self.folder / "temp", window_size="1 second", **given)
        formats = ("--datalake-formats", datalake_formats)
        conf = ("--conf", "spark.sql.shuffle.partitions=2")
        env = {"GLUEPOT_STATE": str(self.folder / "state"), "GLUEPOT_FAILPOINT": failpoint}
        run = ("run", EXAMPLES / script, "--master", "local[2]", *flags, "--", *formats, *conf, *more)
        return self._launch.gluepot(*run, env=env)

    def order_rows(self) -> dict[int, str]:
        """Status of each order; an order that is there twice fails."""
        rows = iceberg_rows(self.folder / "state", "orders", "order_id", "status")
        found = {row["order_id"]: row["status"] for row in rows}
        assert len(found) == len(rows)
        return found


@pytest.fixture
def lake(tmp_path: Path, launch: Launcher, topic: Topic) -> Lake:
    return Lake(tmp_path, launch, topic)


def ended_well(job: Job) -> Job:
    assert job.exit_code() == 0, job.err
    return job


def test_changes_are_merged_into_iceberg_and_the_log_says_where_the_table_is(lake, topic):
    topic.send([change(1, "new", 0), change(2, "new", 1), change(1, "paid", 5), change(3, "new", 2)])
    job = ended_well(lake.orders("--until-caught-up"))
    topic.send([change(2, "shipped", 9), change(3, "deleted", 9), change(4, "new", 9)])
    ended_well(lake.orders("--until-caught-up"))

    assert lake.order_rows() == {1: "paid", 2: "shipped", 4: "new"}
    (told,) = job.said("catalog_mapped")
    assert (told["catalog"], told["was"]) == ("glue_catalog", "org.apache.iceberg.aws.glue.GlueCatalog")
    assert told["left_out"] == ["lock-impl", "lock.table"]


def test_a_merge_that_is_killed_is_made_once_by_the_next_start(lake, topic):
    topic.send([change(n, "new", 0) for n in range(50)])
    ended_well(lake.orders("--until-caught-up"))
    topic.send([change(n, "paid", 1) for n in range(0, 50, 2)])
    topic.send([change(n, "deleted", 2) for n in range(5, 50, 10)])
    assert lake.orders("--until-caught-up", failpoint="batch.done").exit_code() == KILLED

    ended_well(lake.orders("--until-caught-up"))

    assert lake.order_rows() == {n: "new" if n % 2 else "paid" for n in range(50) if n % 10 != 5}


def test_clicks_are_appended_to_delta_with_columns_that_come_later(lake, topic, tmp_path):
    click: dict[str, Any] = {"n": 1, "clicked_at": "2026-01-02T10:00:00Z"}
    topic.send([json.dumps(click).encode()])
    ended_well(lake.clicks("--until-caught-up"))
    topic.send([json.dumps({**click, "n": 2, "page": "/cart"}).encode()])
    ended_well(lake.clicks("--until-caught-up"))

    rows = delta_rows(tmp_path / "clicks", "n", "page", "day")

    assert sorted((row["n"], row["page"], str(row["day"])) for row in rows) == [
        (1, None, "2026-01-02"),
        (2, "/cart", "2026-01-02"),
    ]
