"""moto's tests of AWS Glue pass against the service, but for those in a list that says why."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

FOLDER = Path(__file__).parent
SUITE = "test_glue"
SECS = 900


def listed() -> dict[str, str]:
    """Return why tests fail, by their names."""
    lines = (FOLDER / "glue_of_moto.tsv").read_text().splitlines()
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))


@pytest.fixture(scope="module")
def suite(tmp_path_factory) -> Path:
    """Fetch the source of the moto that is installed, and unpack its tests of AWS Glue."""
    folder = tmp_path_factory.mktemp("moto")
    venv.create(folder / "pip", with_pip=True)
    source = f"moto=={version('moto')}"
    command = [folder / "pip/bin/pip", "download", "--quiet", "--no-deps", "--no-binary", "moto", source]
    subprocess.run(command, cwd=folder, check=True, timeout=SECS)
    (archive,) = folder.glob("moto-*.tar.gz")
    with tarfile.open(archive) as packed:
        inner = f"/tests/{SUITE}/"
        for member in packed.getmembers():
            _, found, path = member.name.partition(inner)
            if found and member.isfile():
                target = folder / SUITE / path
                target.parent.mkdir(parents=True, exist_ok=True)
                content = packed.extractfile(member)
                assert content is not None
                target.write_bytes(content.read())
    (folder / "served_plugin.py").write_bytes((FOLDER / "plugin.py").read_bytes())
    return folder


@pytest.mark.long
def test_the_suite_passes_but_for_what_is_listed(suite):
    words = ["-p", "served_plugin", "-p", "no:cacheprovider", "--numprocesses", "2", "--junitxml", "results.xml", SUITE]
    path = os.pathsep.join([str(suite), str(FOLDER.parents[2])])
    command = [sys.executable, "-m", "pytest", "--quiet", "--rootdir", str(suite), *words]
    environ = {**os.environ, "PYTHONPATH": path}
    subprocess.run(command, cwd=suite, env=environ, capture_output=True, timeout=SECS, check=False)
    cases = ET.parse(suite / "results.xml").iter("testcase")
    results = {_name(case): [one.tag for one in case] for case in cases}
    failed = {name for name, tags in results.items() if {"failure", "error"} & set(tags)}
    assert len(results) > 250
    assert failed == listed().keys()


def _name(case: ET.Element) -> str:
    return f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
