"""`gluepot init`: the projects run as the command says, with nothing else."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from gluepot.cli.main import app, outcome
from gluepot.cli.servers import down
from gluepot.core.cachedir import cache_root
from gluepot.servers.ports import free_port
from tests.e2e.jobs import GLUEPOT


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    """Return a function that makes a project, goes there, and returns the commands that it is told to call."""
    home = tmp_path / "home"
    home.mkdir()
    for packages in ("jars", "java"):
        (home / packages).symlink_to(cache_root(os.environ) / packages)
    monkeypatch.setenv("GLUEPOT_HOME", str(home))
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))

    def make(source: str) -> list[list[str]]:
        monkeypatch.chdir(tmp_path)
        assert outcome(app, ["init", "shop", "--source", source]) == 0
        told = re.findall(r"^  (.+?)(?:  +#.*)?$", capsys.readouterr().out, re.MULTILINE)
        assert told[0] == "cd shop"
        monkeypatch.chdir(tmp_path / "shop")
        return [shlex.split(one) for one in told[1:]]

    yield make
    down()


def call(command: list[str]) -> str:
    program = {"gluepot": GLUEPOT, "pytest": (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")}
    done = subprocess.run([*program[command[0]], *command[1:]], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_project_of_files_runs_at_once(project):
    commands = project("files")
    assert [command[:2] for command in commands] == [["gluepot", "run"], ["gluepot", "table"], ["pytest"]]
    call(commands[0])
    assert "\n24 rows, 0 rejected" in f"\n{call(commands[1])}"


@pytest.mark.long
@pytest.mark.parametrize(("source", "rows"), [("files", 24), ("kafka", 1000)])
def test_a_project_runs_by_the_commands_that_init_tells_and_no_other(project, source, rows):
    commands = project(source)
    port = str(free_port(Random()))
    for name in ("gluepot.toml", "gluepot.connections.yaml"):
        if Path(name).exists():  # other tests of this machine may use the port
            Path(name).write_text(Path(name).read_text().replace("29092", port))
    said = [call(command) for command in commands]
    assert f"\n{rows:,} rows, 0 rejected" in f"\n{said[-2]}"
    assert said[-1].startswith(".")


def test_nothing_is_overwritten(project, capsys):
    project("files")
    assert outcome(app, ["init"]) == 2
    assert "job.py, test_job.py exists already; give a new folder" in capsys.readouterr().err
    assert outcome(app, ["init", "job.py/x"]) == 2
    assert "job.py/x cannot be written (Not a directory); give another folder." in capsys.readouterr().err
