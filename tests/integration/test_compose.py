"""Docker's own client reads deploy/compose.yaml; no engine is needed for that."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "deploy/compose.yaml"


def compose_answers() -> bool:
    try:
        return subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not compose_answers(), reason="`docker compose` is not here; it is a plugin of Docker's client")
def test_compose_reads_the_file():
    ended = subprocess.run(
        ["docker", "compose", "-f", FILE, "config", "--quiet"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
