"""A short run of the cluster, so that each run of the tests has one. `make cluster` has long ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.history import ENDING, read
from tests.cluster.judge import Judgement, judge
from tests.cluster.machine import missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
SEED = os.environ.get("GLUEPOT_CRASH_SEED", "20261126")
ROOT = Path(__file__).parents[2]


def judged(tmp_path: Path, *options: str) -> Judgement:
    """Run the suite, with one broker, and judge the history that it leaves.

    It works in a folder of its own, because PostgreSQL, which is another user, may not enter those of pytest.
    """
    command = [sys.executable, "-m", "tests.cluster", "--seed", SEED, "--brokers", "1", "--histories", str(tmp_path)]
    subprocess.run([*command, *options], cwd=ROOT, check=False)
    return judge(read(tmp_path / f"{SEED}{ENDING}"))


@pytest.mark.long
def test_two_drivers_and_a_nemesis_lose_double_and_invent_nothing(tmp_path):
    found = judged(tmp_path, "--minutes", "0.3")
    assert found.faults == []
    assert found.sent > 0
    assert found.batches > 1
    assert found.nemesis.total() > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "only", "told"),
    [
        ("tests.crash.wrong.commit_before_write", ["kill"], "lost"),
        ("tests.cluster.wrong.says_nothing", ["slow"], "named no remedy"),
    ],
)
def test_wrong_versions_are_noticed(tmp_path, module, only, told):
    options = [part for one in only for part in ("--only", one)]
    found = judged(tmp_path, "--minutes", "2", "--module", module, *options)
    assert any(told in fault for fault in found.faults)
