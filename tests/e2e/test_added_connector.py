"""A connection type that a package of its own adds: scripts use it, the check knows it, messages list it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "added_connector"
SCRIPT = """
import sys
from awsglue.context import GlueContext
from pyspark.context import SparkContext

glue_context = GlueContext(SparkContext.getOrCreate())
numbers = glue_context.create_dynamic_frame.from_options(connection_type="dial", connection_options={"upto": 10})
glue_context.write_dynamic_frame.from_options(
    frame=numbers, connection_type="dial", connection_options={"path": sys.argv[sys.argv.index("--lines") + 1]}
)
"""
WITH_PACKAGE = {"PYTHONPATH": str(PACKAGE)}


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "numbers.py"
    path.write_text(SCRIPT)
    return path


def test_a_script_reads_and_writes_it(launch, script, tmp_path):
    job = launch.gluepot("run", script, "--master", "local[2]", "--", "--lines", tmp_path / "lines", env=WITH_PACKAGE)
    assert job.exit_code() == 0, job.err
    lines = (tmp_path / "lines").read_text().splitlines()
    assert sorted(json.loads(line)["n"] for line in lines) == list(range(10))


def test_the_check_knows_it_where_it_is_installed(launch, script):
    with_package, without = launch.gluepot("check", script, env=WITH_PACKAGE), launch.gluepot("check", script)
    assert with_package.exit_code() == 0, with_package.out
    assert without.exit_code() == 3
    assert "'dial'" in without.out


def test_the_message_about_an_unknown_type_lists_it(launch, script, tmp_path):
    script.write_text(SCRIPT.replace('connection_type="dial"', 'connection_type="dail"', 1))
    job = launch.gluepot("run", script, "--master", "local[2]", "--", "--lines", tmp_path / "lines", env=WITH_PACKAGE)
    assert job.exit_code() == 2
    assert "Use one of 'dial', 's3'" in job.err
