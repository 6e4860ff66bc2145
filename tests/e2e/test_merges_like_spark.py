"""MERGE into Iceberg and Delta without Spark's join leaves the same rows as Spark's own MERGE, and leaves to Spark what it must.

Statements by chance are a sample of the differential test; `python -m tests.differential --kind merge_delta` runs more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gluepot.servers import jars
from tests.e2e.jobs import SCRIPTS

ROOT = Path(__file__).parents[2]
SEED = 1


WAYS = [
    pytest.param((form, which), id=f"{form}-{which}", marks=marks)
    for form, which, marks in (
        ("iceberg", "core", []),
        ("iceberg", "all", [pytest.mark.long]),
        ("delta", "core", [pytest.mark.long]),
        ("delta", "all", [pytest.mark.long]),
    )
]


@pytest.fixture(scope="module", params=WAYS)
def compared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("merges")
    form, which = request.param
    archives = ",".join(str(path) for path in jars.ensure(form))
    script = SCRIPTS / "compare_merges.py"
    command = [sys.executable, script, form, folder / "out", folder / "lake", archives, str(SEED), which]
    environ = {**os.environ, "GLUEPOT_STATE": str(folder / "state"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in (folder / "out").read_text().splitlines()]


@pytest.fixture(scope="module")
def cases(compared: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return compared[:-1]


def test_the_same_rows_are_in_the_table(cases):
    assert {one["name"]: one["rows"][0] for one in cases} == {one["name"]: one["rows"][1] for one in cases}


def test_the_same_counts_and_mistakes_are_told(cases):
    assert {one["name"]: one["outcomes"][0] for one in cases} == {one["name"]: one["outcomes"][1] for one in cases}


def test_each_named_case_goes_its_way(cases):
    assert {one["name"]: one["ours"] for one in cases} == {one["name"]: [one["wanted"]] for one in cases}


def test_statements_by_chance_leave_the_rows_of_spark(compared):
    by_chance = compared[-1]

    assert by_chance["differences"] == []
    assert by_chance["taken"] > by_chance["cases"] / 4
