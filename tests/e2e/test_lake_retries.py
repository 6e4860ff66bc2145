"""A batch that is tried again leaves in tables of a lake what its last attempt has appended, wherever the others ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyiceberg.table import StaticTable

from gluepot.servers import jars
from tests.e2e.jobs import SCRIPTS

STORIES = os.environ.get("GLUEPOT_LAKE_STORIES")
SEED = os.environ.get("GLUEPOT_LAKE_SEED", "1")
WAYS = [
    pytest.param((form, which), id=f"{form}-{which}", marks=marks)
    for form, which, marks in (
        ("iceberg", "core", []),
        ("iceberg", "all", [pytest.mark.long]),
        ("delta", "all", [pytest.mark.long]),
    )
]


@pytest.fixture(scope="module", params=WAYS)
def retried(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder: Path = tmp_path_factory.mktemp("retries")
    form, which = request.param
    archives = ",".join(str(path) for path in jars.ensure(form))
    stories = STORIES or ("0" if which == "core" else "3")
    command = [sys.executable, SCRIPTS / "retry_lake_appends.py", form, folder, archives, SEED, stories, which]
    environ = {**os.environ, "GLUEPOT_STATE": str(folder / "state")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return form, folder


def cases(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out").read_text().splitlines()]


def rows(form: str, folder: Path, table: str) -> list[int]:
    """The column `n`, read without Spark."""
    if form == "iceberg":
        metadata = folder / "lake/db" / table / "metadata"
        newest = (metadata / "version-hint.text").read_text()
        found = StaticTable.from_metadata(str(metadata / f"v{newest}.metadata.json")).scan().to_arrow()
    elif (folder / "lake" / table).exists():
        found = DeltaTable(folder / "lake" / table).to_pyarrow_table()
    else:
        return []
    return sorted(found["n"].to_pylist())


def test_each_table_holds_what_the_last_attempt_appended(retried):
    form, folder = retried

    found = {one["name"]: one.get("seen") or rows(form, folder, one["name"]) for one in cases(folder)}

    assert found == {one["name"]: one["wanted"] for one in cases(folder)}


def test_a_retry_in_another_order_writes_no_rows_again(retried):
    form, folder = retried
    table = folder / ("lake/db" if form == "iceberg" else "lake") / "replayed_in_another_order"

    assert len([one for one in table.rglob("*.parquet") if "_delta_log" not in str(one)]) == 2
