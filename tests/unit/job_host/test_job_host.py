"""Which JVM a job of the tests gets, and when one ends."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.job_host.client import RELAY
from tests.job_host.jvms import MOST_FREE, MOST_JOBS, FreeJvms, Jvm, key, of_java, settings

PROPERTIES = "# a comment\n\nspark.master local[2]\nspark.app.name   a job\nspark.jars a.jar\nspark.empty\n"


class Started:
    """A JVM that takes note of its end."""

    def __init__(self) -> None:
        self.is_running = True
        self.process = SimpleNamespace(poll=lambda: None if self.is_running else 0)

    def stop(self) -> None:
        self.is_running = False


def jvm(name: str = "k") -> Jvm:
    return Jvm(name, Started())  # type: ignore[arg-type]


def environ(file: str, **variables: str) -> dict[str, str]:
    return {"PYSPARK_SUBMIT_ARGS": f"--properties-file {file} pyspark-shell", **variables}


def test_settings_are_read_as_spark_reads_them():
    expected = {"spark.master": "local[2]", "spark.app.name": "a job", "spark.jars": "a.jar", "spark.empty": ""}
    assert settings(PROPERTIES) == expected


@pytest.mark.parametrize(
    ("change", "variables", "is_same"),
    [
        ({}, {}, True),
        ({"spark.app.name": "b"}, {}, True),
        ({"spark.master": "local[1]"}, {}, True),
        ({"spark.sql.shuffle.partitions": "1"}, {}, True),
        ({"spark.jars": "b.jar"}, {}, False),
        ({"spark.driver.memory": "2g"}, {}, False),
        ({}, {"GLUEPOT_STATE": "/b"}, True),
        ({}, {"AWS_ENDPOINT_URL": "http://b"}, False),
        ({}, {"SPARK_SUBMIT_OPTS": "-Xss2m"}, False),
    ],
)
def test_jobs_share_a_jvm_unless_it_would_be_started_differently(change, variables, is_same):
    first = key(settings(PROPERTIES), environ("/a/spark.properties", GLUEPOT_STATE="/a"))
    second = key({**settings(PROPERTIES), **change}, environ("/b/spark.properties", **variables))
    assert (first == second) is is_same


def test_a_jvm_gets_no_variable_of_the_job():
    assert of_java({"AWS_REGION": "x", "GLUEPOT_FAILPOINT": "y", "PATH": "z"}) == {"AWS_REGION": "x", "PATH": "z"}


def test_a_jvm_is_used_again_for_the_same_key_only():
    free, mine, other = FreeJvms(), jvm("mine"), jvm("other")
    free.put_back(mine)
    free.put_back(other)
    assert free.take("mine") is mine
    assert free.take("mine") is None
    free.stop()
    assert (mine.started.process.poll(), other.started.process.poll()) == (None, 0)


def test_the_jvm_that_waits_longest_ends_when_there_are_too_many():
    free, jvms = FreeJvms(), [jvm(str(number)) for number in range(MOST_FREE + 1)]
    for each in jvms:
        free.put_back(each)
    assert [each.started.process.poll() for each in jvms] == [0, *([None] * MOST_FREE)]


def test_a_jvm_ends_after_many_jobs():
    free, used = FreeJvms(), jvm()
    for _ in range(MOST_JOBS - 1):
        free.put_back(used)
        assert free.take("k") is used
    free.put_back(used)
    assert free.take("k") is None
    assert used.started.process.poll() == 0


def test_a_relay_without_a_host_fails(tmp_path):
    command = [sys.executable, "-I", "-S", str(RELAY), str(tmp_path / "socket"), "-m", "gluepot"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 1
