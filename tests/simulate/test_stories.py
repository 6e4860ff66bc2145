"""Stories are played in processes of their own, because the simulator replaces the interpreter's threads and clocks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.model.recording import Entry, accepted, build
from tests.simulate import wrong
from tests.simulate.__main__ import ROOT, simulate

HOURS = 30.0
# A version that the first story notices shows that stories notice anything; `make test-long` looks for all of them.
_SOON = ("defect_3_nothing_is_taken_back",)


needs_model = pytest.mark.skipif(
    shutil.which("cargo") is None, reason="the model is written in Rust: install cargo (Debian: apt-get install cargo)"
)


def told(total):
    return "\n".join("\n".join([line["violation"], *map(str, line["found"].values())]) for line in total.violations)


def entries_of(logs: Path) -> list[Entry]:
    return [json.loads(line) for path in sorted(logs.glob("*.jsonl")) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def thirty_hours(tmp_path_factory):
    logs = tmp_path_factory.mktemp("logs")
    return simulate(hours=HOURS, logs=logs), logs


def test_every_promise_holds_in_thirty_simulated_hours(thirty_hours):
    total, _ = thirty_hours
    assert not total.violations, told(total)
    assert total.hours >= HOURS
    assert total.batches > 500


@needs_model
def test_the_model_of_the_commit_protocol_allows_what_the_stories_change(thirty_hours):
    entries = entries_of(thirty_hours[1])
    ok, said = accepted(build(), entries)
    assert ok, said
    assert {"manifest_created", "state_created", "compaction_created"} <= {one["action"] for one in entries}


@needs_model
@pytest.mark.parametrize(
    ("wrong_version", "why"),
    [
        ("no_intent", "a file is moved only while an intent names it"),
        ("manifest_overwritten", "a manifest is created exclusively, never written over"),
    ],
)
def test_the_model_refuses_what_a_wrong_version_changes(tmp_path, wrong_version, why):
    simulate(first=5_003, stories=1, wrong=wrong_version, at_once=1, shortens=False, logs=tmp_path)
    ok, said = accepted(build(), entries_of(tmp_path))
    assert not ok
    assert why in said


@pytest.mark.long
def test_every_promise_holds_in_five_hundred_simulated_hours(tmp_path):
    total = simulate(first=1_000, hours=500.0, logs=tmp_path)
    assert not total.violations, told(total)
    if shutil.which("cargo") is not None:
        ok, said = accepted(build(), entries_of(tmp_path))
        assert ok, said


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
