"""MERGE into Iceberg and Delta without Spark's join leaves the same rows as Spark's own MERGE, and leaves to Spark what it must."""

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
def cases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("merges")
    form, which = request.param
    archives = ",".join(str(path) for path in jars.ensure(form))
    script = SCRIPTS / "compare_merges.py"
    command = [sys.executable, script, form, folder / "out", folder / "lake", archives, str(SEED), which]
    environ = {**os.environ, "GLUEPOT_STATE": str(folder / "state")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in (folder / "out").read_text().splitlines()]


def test_the_same_rows_are_in_the_table(cases):
    assert {one["name"]: one["rows"][0] for one in cases} == {one["name"]: one["rows"][1] for one in cases}


def test_the_same_counts_and_mistakes_are_told(cases):
    assert {one["name"]: one["outcomes"][0] for one in cases} == {one["name"]: one["outcomes"][1] for one in cases}


def test_each_named_case_goes_its_way(cases):
    named = [one for one in cases if one["wanted"] is not None]

    assert {one["name"]: one["ours"] for one in named} == {one["name"]: [one["wanted"]] for one in named}


def test_most_cases_by_chance_need_no_join_of_spark(cases):
    ways = [one["ours"][0] for one in cases if one["wanted"] is None]

    assert ways.count(True) > len(ways) / 3
