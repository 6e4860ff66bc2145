"""What mypy says of users' scripts: nothing of good ones, and where the mistake is of others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
TYPED = """
import sys
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.job import Job
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from gluepot.testing import GlueJobRunner, assert_frames_equal
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "TempDir"])
path: str = args["TempDir"] + "/out"
context = GlueContext(SparkContext())
job = Job(context)
job.init(args["JOB_NAME"], args)
frame: DynamicFrame = context.create_dynamic_frame.from_options("s3", {"paths": [path]}, format="json")
mapped: DynamicFrame = ApplyMapping.apply(frame=frame, mappings=[("a", "string", "b", "int")], transformation_ctx="m")
split: DynamicFrameCollection = SplitFields.apply(mapped, ["a"])
named: DynamicFrame = split["x"].gs_now(colName="at", dateFormat="%Y").gs_derived("twice", "a * 2").gs_uuid()
job.commit()

def test_job(run_glue_job: GlueJobRunner) -> None:
    assert_frames_equal(named, [{"a": 1}], keys=["a"])
    run_glue_job("job.py", {"path": path}, streams={"clicks": [[{"a": 1}]]})
"""
WRONG = """
from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms import ApplyMapping

def work(frame: DynamicFrame) -> None:
    ApplyMapping.apply(frmae=frame, mappings=[])
    frame.gs_now(colname="at")
    frame.select_fields(1)
    number: int = frame.gs_uuid()
    frame.no_such_method()
"""


# pyspark makes its module `pyspark.context` when it is imported: a checker finds none.
AS_A_USER = ("--config-file=", "--no-error-summary", "--check-untyped-defs", "--disable-error-code=import-not-found")


def mypy(*files: Path) -> list[str]:
    command = [sys.executable, "-m", "mypy", *AS_A_USER, *map(str, files)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.slow
def test_good_scripts_have_no_errors(tmp_path):
    script = tmp_path / "typed.py"
    script.write_text(TYPED)

    assert mypy(script) == []


@pytest.mark.slow
def test_examples_that_nobody_wrote_for_a_type_checker_have_no_errors():
    names = ["clickstream", "flights_csv", "orders_stream", "payments_cleaning"]

    assert mypy(*(REPOSITORY / "examples" / f"{name}.py" for name in names)) == []


@pytest.mark.slow
def test_mistakes_are_found_at_their_lines(tmp_path):
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)

    found = [line for line in mypy(script) if ": error: " in line]

    assert sorted({int(line.split(":")[1]) for line in found}) == [6, 7, 8, 9, 10]
