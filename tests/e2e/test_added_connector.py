"""A connection type that a package of its own adds: scripts use it, the check knows it, messages list it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "added_connector"
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
STREAM_SCRIPT = """
import sys
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

given = getResolvedOptions(sys.argv, ["log", "table", "checkpoint"])
glue_context = GlueContext(SparkContext.getOrCreate())


def copy(data_frame, batch_id):
    frame = DynamicFrame.fromDF(data_frame, glue_context, "frame")
    glue_context.write_dynamic_frame.from_options(
        frame=frame, connection_type="s3", connection_options={"path": given["table"]}, format="json"
    )


glue_context.forEachBatch(
    frame=glue_context.create_data_frame.from_options(
        connection_type="tail", connection_options={"path": given["log"]}
    ),
    batch_function=copy,
    options={"windowSize": "1 seconds", "checkpointLocation": given["checkpoint"]},
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
    assert "Use one of 'dial', 'tail', 's3'" in job.err


def test_a_script_streams_it_and_goes_on_where_it_ended(launch, tmp_path):
    script, log, table = tmp_path / "stream.py", tmp_path / "log", tmp_path / "table"
    script.write_text(STREAM_SCRIPT)
    log.mkdir()
    given = ("--log", log, "--table", table, "--checkpoint", tmp_path / "checkpoint")
    for numbers in (range(10), range(10, 15)):
        with (log / f"{numbers[0] % 2}.log").open("a") as file:
            file.write("".join(f'{{"n": {n}}}\n' for n in numbers))
        job = launch.gluepot("run", script, "--master", "local[2]", "--until-caught-up", "--", *given, env=WITH_PACKAGE)
        assert job.exit_code() == 0, job.err
        written = [line for file in table.glob("run-*") for line in file.read_text().splitlines()]
        assert sorted(json.loads(line)["n"] for line in written) == list(range(numbers[-1] + 1))
