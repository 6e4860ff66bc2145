"""Every alert fires when it is provoked and is silent otherwise, as Prometheus itself works the rules out."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "deploy/prometheus"
PROMTOOL = shutil.which("promtool")


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not on PATH; Debian's package `prometheus` has it")
def test_rules_do_what_their_scenarios_say():
    ended = subprocess.run(
        ["promtool", "test", "rules", "alerts.test.yaml"], cwd=FOLDER, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
