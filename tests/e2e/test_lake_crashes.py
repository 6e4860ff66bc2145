"""Appends of Glue's own writers, killed around the table's commit: each batch is in the table once."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.e2e.jobs import SCRIPTS, arguments
from tests.e2e.lake import delta_rows, glue_catalog, iceberg_rows, iceberg_table

KILLED = 128 + 9


def numbers(folder: Path, form: str) -> list[int]:
    """The column `n` of the table, sorted."""
    rows = iceberg_rows(folder / "state", "numbers", "n") if form == "iceberg" else delta_rows(folder / "table", "n")
    return sorted(row["n"] for row in rows)


def commits(folder: Path, form: str) -> int:
    """How many commits have added rows."""
    if form == "iceberg":
        return len(iceberg_table(folder / "state", "numbers").snapshots())
    return sum(one["operation"] == "WRITE" for one in DeltaTable(folder / "table").history())


@pytest.mark.parametrize("form", ["iceberg", "delta"])
@pytest.mark.parametrize(("place", "skipped"), [("lake.appending", 0), ("lake.appended", 1)])
def test_a_batch_killed_around_its_append_is_in_the_table_once(launch, topic, tmp_path, form, place, skipped):
    def start(failpoint: str):
        given = arguments(
            JOB_NAME="append", TempDir=tmp_path / "temp", bootstrap_servers=topic.bootstrap, topic=topic.name,
            format=form, output_path=tmp_path / "table",
        )  # fmt: skip
        formats = ("--datalake-formats", form, *glue_catalog(tmp_path / "warehouse"))
        env = {"GLUEPOT_STATE": str(tmp_path / "state"), "GLUEPOT_FAILPOINT": failpoint}
        run = ("run", SCRIPTS / "append_to_lake.py", "--master", "local[2]", "--until-caught-up", "--")
        return launch.gluepot(*run, *formats, *given, env=env)

    topic.send_numbers(range(100))
    assert start(place).exit_code() == KILLED
    topic.send_numbers(range(100, 200))

    again = start("")

    assert again.exit_code() == 0, again.err
    assert numbers(tmp_path, form) == list(range(200))
    assert len(again.said("batch_already_in_table")) == skipped
    assert commits(tmp_path, form) == 2
