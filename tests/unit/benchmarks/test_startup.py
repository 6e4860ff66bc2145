"""What the benchmark of a start makes of what it saw."""

from __future__ import annotations

import pytest

from benchmarks.startup.marks import first_of_each, read
from benchmarks.startup.processes import Seen, by_role, role


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["java", "-cp", "x", "org.apache.spark.deploy.SparkSubmit"], "JVM"),
        (["python3", "-m", "pyspark.daemon", "pyspark.sql.worker.create_data_source"], "planner: source made"),
        (["python3", "-m", "gluepot.engine.worker_daemon", "pyspark.worker"], "worker daemon"),
        (["python3", "-m", "gluepot", "run", "job.py"], "driver"),
        (["/bin/sh", "-c", "x"], "sh"),
        ([], "?"),
    ],
)
def test_a_process_is_known_by_its_command(command, name):
    assert role(command) == name


def test_a_fork_of_the_driver_is_known_by_its_name():
    assert role(["python3", "-m", "gluepot", "run", "job.py"], "gluepot-planner") == "planner: offsets"


def test_processes_of_one_role_are_added_up_from_the_first_of_them():
    seen = [Seen(3, "worker daemon", 5.0, 0.5), Seen(1, "driver", 1.0, 2.0), Seen(2, "worker daemon", 4.0, 1.0)]
    assert by_role(seen) == [Seen(1, "driver", 1.0, 2.0), Seen(2, "worker daemon", 4.0, 1.5)]


def test_moments_are_read_in_order_and_counted_where_they_come_first(tmp_path):
    marks = tmp_path / "marks"
    marks.write_text("2.5 first batch planned\n1.0 driver's own imports\n3.0 first batch planned\n")
    assert first_of_each(read(marks)) == [("driver's own imports", 1.0), ("first batch planned", 2.5)]
    assert read(tmp_path / "nothing") == []
