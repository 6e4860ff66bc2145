"""Jobs that bring modules of names that Gluepot uses inside: driver and workers get the job's own."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path

import pytest

from gluepot.spark.class_archive import archive_path, with_archive
from gluepot.spark.java import ensure_java
from tests.wheels import wheel

MODULES = {
    "streaming.py": 'NAME = "own streaming"\n',
    "batch.py": 'NAME = "own batch"\n',
    "catalog.py": 'NAME = "own catalog"\n',
    "job.py": 'NAME = "own job"\n',
    "connectors/__init__.py": "",
    "connectors/orders.py": 'NAME = "own connectors"\n',
    "core/__init__.py": "",
    "core/names.py": """import batch
import catalog
import job
import streaming
from connectors import orders

NAMES = [module.NAME for module in (streaming, batch, catalog, job, orders)]


def names_of(row):
    return NAMES
""",
}
SCRIPT = """
import json, sys
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from pyspark.context import SparkContext
EARLY
spark_context = SparkContext.getOrCreate()
glue_context = GlueContext(spark_context)
from core.names import NAMES, names_of

rows = glue_context.spark_session.createDataFrame([(1,), (2,)], ["n"])
glue_context.write_dynamic_frame.from_options(
    DynamicFrame.fromDF(rows, glue_context, "rows"), "s3", {"path": sys.argv[sys.argv.index("--table") + 1]}, "glueparquet"
)
in_worker = spark_context.parallelize([0], 1).map(names_of).first()
print(json.dumps({"driver": NAMES, "worker": in_worker}), flush=True)
"""
AT_THE_TOP = "import batch, catalog, connectors.orders, core.names, job, streaming"
OWN = ["own streaming", "own batch", "own catalog", "own job", "own connectors"]
SPARK_SUBMIT = Path(sys.executable).with_name("spark-submit")


@pytest.fixture
def beside(tmp_path):
    """A script with the modules beside it."""
    for name, text in MODULES.items():
        path = tmp_path / "job" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = tmp_path / "job" / "orders_to_lake.py"
    script.write_text(SCRIPT.replace("EARLY", AT_THE_TOP))
    return script


def archive_of(names, path):
    with zipfile.ZipFile(path, "w") as made:
        for name in names:
            made.writestr(name, MODULES[name])
    return path


@pytest.fixture
def archive(tmp_path):
    """The modules in an archive."""
    return archive_of(MODULES, tmp_path / "modules.zip")


@pytest.fixture
def alone(tmp_path):
    """A script with nothing beside it, which imports the modules at its top where that is possible."""

    def write(early=AT_THE_TOP):
        folder = tmp_path / "alone"
        folder.mkdir()
        (folder / "orders_to_lake.py").write_text(SCRIPT.replace("EARLY", early))
        return folder / "orders_to_lake.py"

    return write


def assert_own(job, table):
    assert job.exit_code() == 0, job.err
    assert json.loads(job.out.splitlines()[-1]) == {"driver": OWN, "worker": OWN}
    assert list(table.glob("*.parquet"))


def test_run_with_modules_beside_the_script(launch, beside, tmp_path):
    assert_own(
        launch.gluepot("run", beside, "--master", "local[2]", "--", "--table", tmp_path / "table"), tmp_path / "table"
    )


def test_run_with_extra_py_files(launch, alone, tmp_path):
    module = tmp_path / "batch.py"
    module.write_text(MODULES[module.name])
    archive = archive_of(MODULES.keys() - {module.name}, tmp_path / "others.zip")
    job = launch.gluepot(
        "run", alone(), "--master", "local[2]", "--", "--table", tmp_path / "table",
        "--extra-py-files", f"{archive},{module}",
    )  # fmt: skip
    assert_own(job, tmp_path / "table")


def test_python_with_modules_beside_the_script(launch, beside, tmp_path):
    path = os.pathsep.join([str(beside.parent), os.environ.get("PYTHONPATH", "")])  # for the workers
    assert_own(
        launch(sys.executable, beside, "--table", tmp_path / "table", env={"PYTHONPATH": path}), tmp_path / "table"
    )


# Where modules are also beside the script, `python` above finds them there as `spark-submit` does.
@pytest.mark.parametrize("beside_the_script", [pytest.param(True, marks=pytest.mark.long), False])
def test_spark_submit_with_py_files(launch, beside, alone, archive, tmp_path, beside_the_script):
    script = beside if beside_the_script else alone(early="")
    # The archive of classes, which `gluepot run` uses by itself, saves processor time in the start of the JVM.
    java = with_archive(os.environ.get("SPARK_SUBMIT_OPTS", ""), archive_path(ensure_java(os.environ).version))
    env = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_SUBMIT_OPTS": java}
    job = launch(
        SPARK_SUBMIT, "--master", "local[2]", "--py-files", archive, script, "--table", tmp_path / "table", env=env
    )
    assert_own(job, tmp_path / "table")


WITH_MODULES = """
import sys, json
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
import words_of_wheel, words_of_house

args = getResolvedOptions(sys.argv, ["JOB_NAME", "word"])
spark_context = SparkContext.getOrCreate()


def of_worker(number):
    import words_of_house, words_of_wheel

    return [words_of_wheel.VERSION, words_of_house.VERSION]


in_worker = spark_context.parallelize([0], 1).map(of_worker).first()
print(json.dumps([args["word"], words_of_wheel.VERSION, words_of_house.VERSION, in_worker]), flush=True)
"""


# A cluster's executors have a working folder of their own, to which Spark sends the modules.
@pytest.mark.parametrize("master", ["local[1]", pytest.param("local-cluster[1,1,1024]", marks=pytest.mark.long)])
def test_additional_python_modules_from_a_wheel_and_a_folder_of_wheels(launch, tmp_path, master):
    (tmp_path / "house").mkdir()
    wheel(tmp_path / "house", "words_of_house", "2.0")
    path = wheel(tmp_path, "words_of_wheel", "1.5", requires=["words_of_house>=2"])
    script = tmp_path / "job.py"
    script.write_text(WITH_MODULES)
    job = launch.gluepot(
        "run", script, "--master", master, "--", "--JOB_NAME", "modules", "--additional-python-modules", path,
        "--python-modules-installer-option", f"--no-index --find-links={tmp_path / 'house'}", "--word", "hello",
    )  # fmt: skip
    assert job.exit_code() == 0, job.err
    assert json.loads(job.out.splitlines()[-1]) == ["hello", "1.5", "2.0", ["1.5", "2.0"]]
    assert not job.said("parameter_ignored")


def test_a_module_that_cannot_be_installed_fails_the_job_before_spark_starts(launch, tmp_path):
    script = tmp_path / "job.py"
    script.write_text("print('started')")
    options = f"--no-index --find-links={tmp_path}"
    job = launch.gluepot(
        "run", script, "--", "--additional-python-modules", "nosuch==9", "--python-modules-installer-option", options
    )
    assert job.exit_code() == 2
    assert job.out == ""
    assert "pip cannot install nosuch==9: Could not find a version" in job.err.splitlines()[-1]
