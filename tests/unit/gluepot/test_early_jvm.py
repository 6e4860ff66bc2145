"""A JVM that is started early is used where it is the one PySpark would start, and ended where it is not."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pyspark.core.context
import pytest

from gluepot.core.clock import SystemClock
from gluepot.spark.early_jvm import can_be_set_later, handed_over

GATEWAY_SCRIPT = """\
#!/bin/sh
echo $$ > "$STARTED_AS"
printf '\\000\\000\\060\\071\\000\\000\\000\\003abc' > "$_PYSPARK_DRIVER_CONN_INFO_PATH.new"
mv "$_PYSPARK_DRIVER_CONN_INFO_PATH.new" "$_PYSPARK_DRIVER_CONN_INFO_PATH"
exec cat
"""
"""Tells port 12345 and a secret, and ends with its standard input, as Spark's gateway does."""

CLOCK = SystemClock()


@pytest.mark.parametrize(
    ("settings", "is_local", "can"),
    [
        ({}, True, True),
        ({"spark.sql.shuffle.partitions": "2", "spark.app.name": "a", "spark.hadoop.fs.s3a.endpoint": "e"}, True, True),
        ({"spark.driver.maxResultSize": "1g"}, True, True),
        ({"spark.driver.memory": "1g"}, True, False),
        ({"spark.sql.extensions": "e", "spark.jars.packages": "a:b:1"}, True, False),
        ({"spark.driver.extraClassPath": "x"}, True, False),
        ({"spark.master": "local[4]"}, True, True),
        ({"spark.master": "local[4]"}, False, False),
        ({"spark.master": "spark://host:7077"}, True, False),
        ({"spark.something.new": "1"}, True, False),
    ],
)
def test_only_what_a_spark_context_reads_can_be_set_when_the_jvm_runs(settings, is_local, can):
    assert can_be_set_later(settings, is_local=is_local) is can


@pytest.fixture
def pid_file(tmp_path, monkeypatch):
    home = tmp_path / "spark"
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "spark-submit"
    script.write_text(GATEWAY_SCRIPT)
    script.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(home))
    monkeypatch.setenv("STARTED_AS", str(tmp_path / "pid"))
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr("gluepot.spark.early_jvm._has_gateway", lambda: False)
    return tmp_path / "pid"


@pytest.fixture
def launched(monkeypatch):
    """What PySpark was asked to launch: the ports it was told of, None where it has to start a JVM itself."""
    ports: list[str | None] = []

    def launch(conf=None, popen_kwargs=None):
        ports.append(os.environ.get("PYSPARK_GATEWAY_PORT"))
        return SimpleNamespace(proc=None)

    monkeypatch.setattr(pyspark.core.context, "launch_gateway", launch)
    return ports


def conf(**settings: str) -> SimpleNamespace:
    return SimpleNamespace(getAll=lambda: [(name.replace("_", "."), value) for name, value in settings.items()])


def is_running(pid_file: Path) -> bool:
    try:
        pid = pid_file.read_text()
        if not pid:
            return False  # It was ended between making the file and writing to it.
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


def test_pyspark_connects_to_the_jvm_that_is_there(pid_file, launched):
    with handed_over("local[2]", CLOCK):
        gateway = pyspark.core.context.launch_gateway(conf(spark_sql_ansi_enabled="true"))
        assert launched == ["12345"]
        assert "PYSPARK_GATEWAY_PORT" not in os.environ
        pyspark.core.context.launch_gateway()
    assert launched == ["12345", None]
    assert gateway.proc.poll() is None
    gateway.proc.stdin.close()
    assert gateway.proc.wait() == 0


@pytest.mark.parametrize("change", ["setting", "environment", "folder", "output"])
def test_a_jvm_that_would_be_another_one_is_started_by_pyspark(pid_file, launched, monkeypatch, tmp_path, change):
    with handed_over("local[2]", CLOCK):
        settings = {"spark_driver_memory": "8g"} if change == "setting" else {}
        if change == "environment":
            monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--packages a:b:1 pyspark-shell")
        if change == "folder":
            monkeypatch.chdir(tmp_path)
        before = os.dup(1)
        if change == "output":
            with (tmp_path / "elsewhere").open("w") as elsewhere:
                os.dup2(elsewhere.fileno(), 1)
        pyspark.core.context.launch_gateway(conf(**settings))
        os.dup2(before, 1)
        os.close(before)
    assert launched == [None]
    assert not pid_file.exists() or not is_running(pid_file)


def test_a_jvm_that_ended_is_started_by_pyspark(pid_file, launched, tmp_path):
    (tmp_path / "spark" / "bin" / "spark-submit").write_text("#!/bin/sh\nexit 3\n")
    with handed_over("local[2]", CLOCK):
        pyspark.core.context.launch_gateway()
    assert launched == [None]


def test_a_jvm_that_nobody_asked_for_ends(pid_file, launched):
    with suppress(KeyError), handed_over("local[2]", CLOCK):
        while not pid_file.exists() or not pid_file.read_text():
            CLOCK.sleep(0.01)
        assert is_running(pid_file)
        raise KeyError("a script that fails before it has a SparkContext")
    assert not is_running(pid_file)
    pyspark.core.context.launch_gateway()
    assert launched == [None]


def test_nothing_is_started_where_pyspark_is_told_of_a_jvm(pid_file, launched, monkeypatch):
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "4711")
    with handed_over("local[2]", CLOCK):
        pyspark.core.context.launch_gateway()
    assert launched == ["4711"]
    assert not pid_file.exists()
