"""Appends of Glue's own writers, killed or paused around the table's commit: each batch is in the table once."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog.sql import SqlCatalog

from tests.e2e.jobs import SCRIPTS, Job, arguments
from tests.e2e.lake import delta_rows, glue_catalog, iceberg_rows, iceberg_table

KILLED = 128 + 9


def numbers(folder: Path, form: str) -> list[int]:
    """The column `n` of the table, sorted."""
    rows = iceberg_rows(folder / "state", "numbers", "n") if form == "iceberg" else delta_rows(folder / "table", "n")
    return sorted(row["n"] for row in rows)


def commits(folder: Path, form: str) -> int:
    """How many commits have added rows."""
    if form == "iceberg":
        snapshots = iceberg_table(folder / "state", "numbers").snapshots()
        return sum("added-records" in one.summary.additional_properties for one in snapshots)
    return sum("numOutputRows" in one.get("operationMetrics", {}) for one in DeltaTable(folder / "table").history())


@pytest.fixture
def start(launch, topic, tmp_path) -> Callable[..., Job]:
    """Start a job that appends what the topic holds; all of a test's jobs share the checkpoint and the table."""

    def started(form: str, *options: str, failpoint: str = "", action: str = "kill") -> Job:
        given = arguments(
            JOB_NAME="append", TempDir=tmp_path / "temp", bootstrap_servers=topic.bootstrap, topic=topic.name,
            format=form, output_path=tmp_path / "table",
        )  # fmt: skip
        formats = ("--datalake-formats", form, *glue_catalog(tmp_path / "warehouse"))
        env = {
            "GLUEPOT_STATE": str(tmp_path / "state"),
            "GLUEPOT_FAILPOINT": failpoint,
            "GLUEPOT_FAILPOINT_ACTION": action,
        }
        run = ("run", SCRIPTS / "append_to_lake.py", *options, "--master", "local[2]", "--until-caught-up", "--")
        return launch.hosted(*run, *formats, *given, env=env)

    return started


def wait_until_paused(job: Job) -> None:
    python = psutil.Process(job.process.pid)
    job.wait_until(lambda: python.status() == psutil.STATUS_STOPPED, "the pause")


# Each start finishes the batch that the start before it left open, and is stopped in the next batch. Iceberg is also
# killed in an append in test_lake_servers.py, so that it need not be here each time.
@pytest.mark.parametrize(
    ("form", "pause"),
    [pytest.param("iceberg", "lake.committing", marks=pytest.mark.long), ("delta", "lake.appending")],
)
def test_each_batch_is_in_the_table_once_when_drivers_are_killed_around_an_append_and_one_is_replaced_in_it(
    start, topic, tmp_path, form, pause
):
    topic.send_numbers(range(100))
    assert start(form, failpoint="lake.appending").exit_code() == KILLED
    topic.send_numbers(range(100, 200))

    killed = start(form, failpoint="lake.appended@2")

    assert killed.exit_code() == KILLED
    assert (numbers(tmp_path, form), commits(tmp_path, form)) == (list(range(200)), 2)
    assert killed.said("batch_already_in_table") == []
    topic.send_numbers(range(200, 300))

    # It skips the second batch, and reaches this place for the first time in the third one.
    zombie = start(form, "--lease-secs", "2", failpoint=pause, action="stop")
    wait_until_paused(zombie)

    assert len(zombie.said("batch_already_in_table")) == 1
    assert (numbers(tmp_path, form), commits(tmp_path, form)) == (list(range(200)), 2)

    heir = start(form, "--lease-secs", "2")

    assert heir.exit_code() == 0, heir.err
    assert (numbers(tmp_path, form), commits(tmp_path, form)) == (list(range(300)), 3)

    zombie.signal(signal.SIGCONT)

    assert zombie.exit_code() == 4, zombie.err
    assert (numbers(tmp_path, form), commits(tmp_path, form)) == (list(range(300)), 3)


def test_somebody_elses_commit_in_the_middle_of_an_append_costs_neither_of_the_two(start, topic, tmp_path):
    topic.send_numbers(range(100))
    job = start("iceberg", failpoint="lake.committing", action="stop")
    wait_until_paused(job)
    others = SqlCatalog("glue_catalog", uri=f"sqlite:///{tmp_path}/state/catalog.db")
    others.load_table("lake.numbers").append(pa.table({"n": [1000]}))

    job.signal(signal.SIGCONT)

    assert job.exit_code() == 0, job.err
    assert numbers(tmp_path, "iceberg") == [*range(100), 1000]
    assert commits(tmp_path, "iceberg") == 2
