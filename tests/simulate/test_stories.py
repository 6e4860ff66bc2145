"""Stories are played in processes of their own, because the simulator replaces the interpreter's threads and clocks."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.simulate import wrong
from tests.simulate.__main__ import ROOT, simulate

HOURS = 30.0
# Versions that the first few stories notice; `make test-long` looks for all of them.
_SOON = ("defect_2_threads_do_not_see_the_batch", "defect_3_nothing_is_taken_back", "nothing_recovered")


def told(total):
    return "\n".join("\n".join([line["violation"], *map(str, line["found"].values())]) for line in total.violations)


def test_every_promise_holds_in_thirty_simulated_hours():
    total = simulate(hours=HOURS)
    assert not total.violations, told(total)
    assert total.hours >= HOURS
    assert total.batches > 500


@pytest.mark.long
def test_every_promise_holds_in_five_hundred_simulated_hours():
    total = simulate(first=1_000, hours=500.0)
    assert not total.violations, told(total)


def test_a_seed_decides_all_of_its_story():
    def played(hash_seed: str):
        command = [sys.executable, "-m", "tests.simulate.player", "--first", "11", "--stories", "1"]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        return json.loads(ended.stdout)["outcome"]

    assert played("0") == played("0")


@pytest.mark.parametrize(
    "version", [*_SOON, *(pytest.param(one, marks=pytest.mark.long) for one in wrong.VERSIONS if one not in _SOON)]
)
def test_a_wrong_version_is_noticed(version):
    assert simulate(wrong=version, secs=600.0, shortens=False).violations
