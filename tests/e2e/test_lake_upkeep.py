"""`gluepot table optimize` beside a stream: larger files, one snapshot, and a replayed batch is recognised as before."""

from __future__ import annotations

import json

import pytest
from deltalake import DeltaTable

from tests.e2e.jobs import SCRIPTS, arguments
from tests.e2e.lake import delta_rows, glue_catalog, iceberg_rows, iceberg_table

KILLED = 128 + 9
BATCHES = {"iceberg": 6, "delta": 5}
"""Iceberg puts five files and more together. Delta writes a checkpoint of its log with the fourth commit, see below."""
# By default Delta writes the first checkpoint of a table's log with the eleventh commit.
CHECKPOINTS = ("--conf", "spark.databricks.delta.properties.defaults.checkpointInterval=3")


class Numbers:
    """Numbers appended to a table of one format, and that table kept up."""

    def __init__(self, folder, launch, topic, form):
        self._folder, self._launch, self._topic, self.form = folder, launch, topic, form
        self._env = {"GLUEPOT_STATE": str(folder / "state")}

    def append(self, failpoint=""):
        given = arguments(
            JOB_NAME="append", TempDir=self._folder / "temp", bootstrap_servers=self._topic.bootstrap,
            topic=self._topic.name, format=self.form, output_path=self._folder / "table",
        )  # fmt: skip
        conf = CHECKPOINTS if self.form == "delta" else glue_catalog(self._folder / "warehouse")
        formats = ("--datalake-formats", self.form, *conf)
        run = ("run", SCRIPTS / "append_to_lake.py", "--master", "local[2]", "--until-caught-up")
        limit = ("--stream-option", "maxOffsetsPerTrigger=20", "--")
        return self._launch.hosted(*run, *limit, *formats, *given, env={**self._env, "GLUEPOT_FAILPOINT": failpoint})

    def optimize(self, *flags):
        table = "glue_catalog.lake.numbers" if self.form == "iceberg" else self._folder / "table"
        allowed = ("--conf", "spark.databricks.delta.retentionDurationCheck.enabled=false")
        job = self._launch.hosted(
            "table", "optimize", table, "--keep-days", "0", "--master", "local[2]", *allowed, *flags, env=self._env
        )
        assert job.exit_code() == 0, job.err
        return {step.pop("step"): step for step in map(json.loads, job.out.splitlines())}

    def rows(self):
        table = self._folder / "table"
        rows = (
            iceberg_rows(self._folder / "state", "numbers", "n") if self.form == "iceberg" else delta_rows(table, "n")
        )
        return sorted(row["n"] for row in rows)

    def files(self):
        """How many files the table is made of."""
        if self.form == "delta":
            return len(DeltaTable(self._folder / "table").file_uris())
        return len(iceberg_table(self._folder / "state", "numbers").inspect.files())

    def checkpoints(self):
        """How many checkpoints Delta has written of its log."""
        return len(list((self._folder / "table" / "_delta_log").glob("*.checkpoint.parquet")))

    def old_states(self):
        """What is kept beyond the table as it is: snapshots of Iceberg, files of Delta."""
        if self.form == "delta":
            return len(list((self._folder / "table").glob("*.parquet"))) - self.files()
        return len(iceberg_table(self._folder / "state", "numbers").snapshots()) - 1


@pytest.mark.parametrize(
    ("form", "dry_run"),
    [
        ("iceberg", False),
        pytest.param("delta", False, marks=pytest.mark.long),
        pytest.param("iceberg", True, marks=pytest.mark.long),
        pytest.param("delta", True, marks=pytest.mark.long),
    ],
)
def test_a_table_is_made_smaller_and_a_replayed_batch_is_still_skipped(tmp_path, launch, topic, form, dry_run):
    numbers = Numbers(tmp_path, launch, topic, form)
    batches = BATCHES[numbers.form]
    topic.send_numbers(range(20 * batches))
    assert numbers.append(f"lake.appended@{batches}").exit_code() == KILLED
    before = numbers.files()
    assert before >= batches
    assert numbers.form == "iceberg" or numbers.checkpoints() == 1

    if dry_run:
        told = numbers.optimize("--dry-run")
        assert told["files"]["files"] == numbers.files() == before

    numbers.optimize()
    assert numbers.files() < before
    assert numbers.old_states() == (1 if numbers.form == "iceberg" else 0)  # Iceberg's has the mark of the last batch
    assert numbers.rows() == list(range(20 * batches))
    topic.send_numbers(range(1000, 1010))

    again = numbers.append()

    assert again.exit_code() == 0, again.err
    assert len(again.said("batch_already_in_table")) == 1
    assert numbers.rows() == [*range(20 * batches), *range(1000, 1010)]


def test_what_is_no_table_is_a_sentence(launch, tmp_path):
    job = launch.hosted("table", "optimize", "orders", env={"GLUEPOT_STATE": str(tmp_path)})

    assert job.exit_code() == 2
    assert job.sentences() == [
        "error: 'orders' is not a table; give catalog.database.table of Iceberg, or the folder of a Delta table."
    ]
