"""What is installed: one import package of ours, beside the names that Glue demands, whichever way the wheel is built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gluepot.cli.parts import kernel_is_compiled
from scripts.bootstrap import find_uv
from tests.image_replay import copy_files
from tests.repository import REPOSITORY, listed

GLUE_NAMES = {"awsglue", "awsgluedq", "awsglueml", *(path.name for path in (REPOSITORY / "studio").glob("gs_*.py"))}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of the repository: to build compiles the kernel in the place that other tests load it from."""
    copied = tmp_path_factory.mktemp("sources")
    copy_files(REPOSITORY, listed(), copied)
    return copied


def build(sources: Path, folder: Path, *options: str) -> Path:
    """Build with uv, from its cache if that has what builds the wheel; return the wheel."""
    for offline in ("1", "0"):
        built = subprocess.run(
            [find_uv(), "build", *options, "--out-dir", folder],
            cwd=sources,
            env={**os.environ, "UV_OFFLINE": offline},
            capture_output=True,
            check=False,
            text=True,
        )
        if built.returncode == 0:
            (wheel,) = folder.glob("*.whl")
            return wheel
    raise AssertionError(built.stderr)


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


@pytest.fixture(scope="module")
def wheel(sources, tmp_path_factory):
    return contents(build(sources, tmp_path_factory.mktemp("wheel"), "--wheel"))


def test_the_wheel_installs_these_names_and_no_other(wheel):
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"gluepot", *GLUE_NAMES}


def test_the_folders_at_the_root_are_parts_of_the_package(wheel):
    assert {"gluepot/streaming/query/run.py", "gluepot/connectors/kafka/source.py"} <= set(wheel)


def test_a_wheel_that_is_built_from_the_source_distribution_is_the_same(wheel, sources, tmp_path):
    assert contents(build(sources, tmp_path)) == wheel


@pytest.mark.long
def test_an_installed_wheel_runs_the_demo_in_a_new_environment(sources, tmp_path):
    """The packages come from uv's cache if it has them; the Kafka broker from ours."""
    wheel = build(sources, tmp_path / "dist", "--wheel")
    uv, environment = find_uv(), tmp_path / "venv"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, environment], check=True)
    for offline in ("1", "0"):
        installed = subprocess.run(
            [uv, "pip", "install", "--quiet", "--python", environment, f"{wheel}[demo]"],
            env={**os.environ, "UV_OFFLINE": offline},
            capture_output=True,
            check=False,
            text=True,
        )
        if installed.returncode == 0:
            break
    assert installed.returncode == 0, installed.stderr

    def call(*command: str) -> str:
        gluepot = environment / "bin" / "gluepot"
        without = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
        done = subprocess.run(
            [gluepot, *command], cwd=tmp_path, env=without, capture_output=True, check=False, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    found = {part["part"]: part["found"] for part in json.loads(call("version", "--output", "json"))}
    assert found["json kernel"] == ("compiled" if kernel_is_compiled() else None)
    assert "gluepot.toml" in call("init", "shop")
    assert found["python"].endswith(str(environment / "bin" / "python"))
    result = json.loads(call("demo", "--seconds", "10", "--output", "json"))
    assert (result["lost"], result["duplicated"]) == (0, 0)
    assert result["rows"] > 0
