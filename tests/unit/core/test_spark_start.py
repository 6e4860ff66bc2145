"""What a driver's environment is set to, and what is not loaded to start one."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gluepot.spark.class_archive import archive_path, recording, with_archive
from gluepot.spark.spark_env import DEFAULTS, LATER_OPTIMISATION, LAUNCHER_OPTIONS, prepare, with_properties

OURS = Path("/our folder/spark.properties")


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("", ["pyspark-shell"]),
        ("--packages a:b:1 pyspark-shell", ["--packages", "a:b:1", "pyspark-shell"]),
        ("--properties-file old --name x pyspark-shell", ["--name", "x", "pyspark-shell"]),
    ],
)
def test_a_run_has_one_properties_file_and_keeps_the_other_arguments(given, left):
    assert shlex.split(with_properties(given, OURS)) == ["--properties-file", str(OURS), *left]


def test_our_defaults_apply_where_nobody_named_others():
    environ: dict[str, str] = {}
    prepare(environ)
    assert shlex.split(environ["PYSPARK_SUBMIT_ARGS"])[:2] == ["--properties-file", str(DEFAULTS)]
    assert "-Dlog4j2.configurationFile=" in environ["SPARK_SUBMIT_OPTS"]


def test_preparing_twice_changes_nothing():
    environ: dict[str, str] = {}
    prepare(environ)
    once = dict(environ)
    prepare(environ)
    assert environ == once


@pytest.mark.parametrize("own", ["-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation", "-XX:CompileThresholdScaling=2"])
def test_how_the_jvm_compiles_can_be_chosen_otherwise(own):
    ours, chosen = {}, {"SPARK_SUBMIT_OPTS": own}
    prepare(ours)
    prepare(chosen)
    assert LATER_OPTIMISATION in ours["SPARK_SUBMIT_OPTS"]
    assert LATER_OPTIMISATION not in chosen["SPARK_SUBMIT_OPTS"]


def test_the_short_jvm_before_sparks_own_gets_options_that_end_it_sooner_unless_others_are_chosen():
    ours, chosen = {}, {"SPARK_LAUNCHER_OPTS": "-Xmx64m"}
    prepare(ours)
    prepare(chosen)
    assert ours["SPARK_LAUNCHER_OPTS"] == LAUNCHER_OPTIONS
    assert chosen["SPARK_LAUNCHER_OPTS"] == "-Xmx64m"


def test_a_configuration_folder_of_the_users_own_is_left_alone():
    environ = {"SPARK_CONF_DIR": "/etc/spark"}
    prepare(environ)
    assert "PYSPARK_SUBMIT_ARGS" not in environ
    assert "log4j2" not in environ["SPARK_SUBMIT_OPTS"]


def test_each_class_path_and_java_has_an_archive_of_its_own():
    paths = [archive_path(17), archive_path(21)]
    paths += [archive_path(17, [Path("a.jar")]), archive_path(17, [Path("a.jar"), Path("b.jar")])]
    assert len(set(paths)) == 4
    assert archive_path(17, [Path("a.jar")]) == archive_path(17, [Path("a.jar")])


def test_an_archive_is_used_where_it_has_been_made(tmp_path):
    archive = tmp_path / "a folder" / "classes.jsa"
    assert with_archive("-Dx=1", archive) == "-Dx=1"
    archive.parent.mkdir()
    archive.touch()
    assert shlex.split(with_archive("-Dx=1", archive))[:2] == ["-Dx=1", f"-XX:SharedArchiveFile={archive}"]


@pytest.mark.parametrize("own", ["-XX:SharedArchiveFile=mine.jsa", recording("", Path("new.jsa"))])
def test_options_that_name_an_archive_stay_as_they_are(tmp_path, own):
    (tmp_path / "classes.jsa").touch()
    assert with_archive(own, tmp_path / "classes.jsa") == own


def test_starting_a_job_loads_neither_pandas_nor_databases_nor_web_servers():
    # Each takes every starting process up to half a second. Scripts that check data load the parser of rules.
    probe = (
        "import sys, awsglue.context, awsglue.transforms, awsglue.job, gluepot.connectors.streams.datasource, "
        "gluepot.connectors.kafka.source, gluepot.engine.task, gluepot.job.run; "
        "heavy = {'pandas', 'sqlalchemy', 'boto3', 'duckdb', 'adbc_driver_postgresql', 'prometheus_client', "
        "'starlette', 'uvicorn', 'pydantic'}; loaded = {*heavy, 'lark'} & set(sys.modules); "
        "import awsgluedq.transforms; print(sorted(loaded | heavy & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True, text=True)
    assert ended.stdout.strip() == "[]"


def test_planning_a_stream_loads_neither_decoders_nor_readers_of_files():
    probe = "import sys, gluepot.connectors.streams.datasource, gluepot.connectors.kafka.source; "
    probe += (
        "heavy = {'gluepot.frames.declared', 'pyarrow.compute', 'pyarrow.parquet', 'stamina', 'yaml', 'pydantic'}; "
    )
    probe += "print(sorted(heavy & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True, text=True)
    assert ended.stdout.strip() == "[]"
