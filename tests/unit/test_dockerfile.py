from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.dockerfile import REPOSITORY, build_context, parse_dockerfile

STAGES = {stage.name: stage for stage in parse_dockerfile((REPOSITORY / "Dockerfile").read_text())}
RUNTIME = list(STAGES.values())[-1]
OWN_COPIES = [copy for stage in STAGES.values() for copy in stage.all("COPY") if "from" not in copy.flags]
PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
PROJECT, WHEEL = PYPROJECT["project"], PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


@pytest.fixture(scope="module")
def context():
    return {str(path) for path in build_context()}


def test_every_image_from_outside_is_pinned_to_a_version():
    outside = {stage.base for stage in STAGES.values()} - STAGES.keys()
    assert outside
    assert all(re.search(r":\d+\.\d+", base) for base in outside)


def test_stages_are_built_on_earlier_ones():
    names = list(STAGES)
    assert all(stage.base not in names[names.index(stage.name) :] for stage in STAGES.values())


def test_python_of_the_image_is_one_we_support():
    version = re.search(r"python:(\d+\.\d+)", STAGES["base"].base)[1]
    assert SpecifierSet(PROJECT["requires-python"]).contains(f"{version}.0")


def test_tools_from_the_package_index_are_pinned():
    installed = [word for run in STAGES["uv"].all("RUN") for word in run.words if not word.startswith("-")]
    assert installed[:2] == ["pip", "install"]
    assert all(re.fullmatch(r"[a-z-]+==[\d.]+", package) for package in installed[2:])


def test_package_lists_of_apt_are_removed_in_the_layer_that_fetched_them():
    updates = [run for stage in STAGES.values() for run in stage.all("RUN") if "apt-get update" in run.text]
    assert updates
    assert all(run.text.endswith("rm -rf /var/lib/apt/lists/*") for run in updates)
    assert all("--no-install-recommends" in run.text for run in updates)


def test_container_runs_as_the_numeric_user_that_was_made():
    assert RUNTIME.last("USER").text == "185:185"
    assert any("useradd --uid 185" in run.text for run in STAGES["base"].all("RUN"))


def test_first_process_reaps_and_passes_signals_on():
    entrypoint = RUNTIME.last("ENTRYPOINT")
    assert entrypoint.is_exec_form
    assert entrypoint.words == ["tini", "--", "gluepot"]
    assert any("tini" in run.words for run in STAGES["base"].all("RUN"))


def test_all_that_is_written_by_default_lies_in_a_volume():
    volumes = RUNTIME.last("VOLUME").words
    env = RUNTIME.last("ENV").pairs
    assert {RUNTIME.last("WORKDIR").text, "/tmp"} <= set(volumes)
    assert any(env["SPARK_LOCAL_DIRS"].startswith(f"{volume}/") for volume in volumes)


def test_no_volume_is_written_to_after_it_is_declared():
    after = [i.keyword for i in RUNTIME.instructions[RUNTIME.instructions.index(RUNTIME.last("VOLUME")) + 1 :]]
    assert not {"COPY", "RUN", "ADD"} & set(after)


def test_extras_are_an_argument_and_those_for_shared_state_are_its_default():
    (argument,) = [one for one in STAGES["build"].all("ARG") if one.text.startswith("EXTRAS=")]
    chosen = argument.words[0].partition("=")[2].split()
    assert "postgresql" in chosen
    assert set(chosen) <= set(PROJECT["optional-dependencies"])
    syncs = [run.text for run in STAGES["build"].all("RUN") if "uv sync" in run.text]
    assert len(syncs) == 2
    assert all('$(printf -- "--extra %s " $EXTRAS)' in text for text in syncs)


def test_archives_of_the_broker_are_fetched_into_the_image():
    assert any(run.words[-2:] == ["fetch", "kafka-broker"] for run in STAGES["build"].all("RUN"))


def test_archives_of_the_table_formats_are_fetched_into_the_image():
    assert any(run.words[-2:] == ["jars", "fetch"] for run in STAGES["build"].all("RUN"))


def test_archives_are_looked_for_where_they_were_put():
    built, used = (STAGES[name].last("ENV").pairs["GLUEPOT_HOME"] for name in ("build", "runtime"))
    assert built == used


def test_health_check_runs_a_file_that_was_copied():
    check = RUNTIME.last("HEALTHCHECK")
    assert {"interval", "timeout", "start-period", "retries"} <= check.flags.keys()
    assert check.command.is_exec_form
    assert check.command.words[-1] in [copy.words[-1] for copy in RUNTIME.all("COPY")]


def test_labels_tell_the_version_and_the_licence_of_the_project():
    labels = {
        key.removeprefix("org.opencontainers.image."): value for key, value in RUNTIME.last("LABEL").pairs.items()
    }
    assert labels["version"] == PROJECT["version"]
    assert labels["licenses"] == PROJECT["license"]
    assert labels["description"] == PROJECT["description"]
    assert labels["base.name"].endswith(STAGES["base"].base)


def test_what_is_copied_is_there_and_not_ignored(context):
    sources = {source for copy in OWN_COPIES for source in copy.words[:-1]} - {"."}
    assert sources
    assert sources <= context


def test_steps_that_are_replayed_name_no_path_of_the_machine():
    runs = [run.text for name in ("build", "runtime") for run in STAGES[name].all("RUN")]
    assert runs
    assert not any(re.search(r"(^|[\s=\"'])/", text) for text in runs)


def test_every_file_of_the_packages_gets_in(context):
    folders = [REPOSITORY / package for package in WHEEL["packages"]]
    files = {str(f.relative_to(REPOSITORY)) for folder in folders for f in folder.rglob("*") if f.is_file()}
    assert {file for file in files if "__pycache__" not in file and not file.endswith(".so")} <= context


def test_everything_else_the_wheel_is_made_of_gets_in(context):
    sources = [*WHEEL["force-include"], PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml"]
    assert [s for s in sources if not any(path == s or path.startswith(f"{s}/") for path in context)] == []


@pytest.mark.parametrize(
    "path", [".git/config", ".env", ".venv/bin/python", "tests/conftest.py", "key.pem", "gluepot/__pycache__/cli.pyc"]
)
def test_what_no_image_is_made_of_stays_outside(tmp_path, path):
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).touch()
    (tmp_path / "LICENSE").touch()
    (tmp_path / ".dockerignore").write_text((REPOSITORY / ".dockerignore").read_text())
    assert build_context(tmp_path) == [Path("LICENSE")]


def test_slow_steps_come_before_what_changes_often():
    build = [i.text for i in STAGES["build"].instructions if i.keyword in {"COPY", "RUN"}]
    assert ("pyproject.toml uv.lock ./", True) in [(a, "--no-install-project" in b) for a, b in pairwise(build)]
