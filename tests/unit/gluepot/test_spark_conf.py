from __future__ import annotations

import pytest

from gluepot.core.glue_version import PROFILES
from gluepot.core.job_parameters import JobParameters
from gluepot.job.spark_conf import job_conf


def conf(version, *tokens):
    return job_conf(JobParameters.parse(["job.py", *tokens], version), "local[2]")


@pytest.mark.parametrize(("version", "ansi"), [("3.0", "false"), ("5.1", "false"), ("6.0", None)])
def test_ansi_is_off_before_glue_6(version, ansi):
    assert conf(version).get("spark.sql.ansi.enabled") == ansi


def test_parquet_times_without_a_zone_are_timestamps_before_glue_5():
    key = "spark.sql.parquet.inferTimestampNTZ.enabled"

    assert [version for version in PROFILES if key in conf(version)] == ["3.0", "4.0"]


def test_conf_wins_over_the_version():
    assert conf("5.0", "--conf", "spark.sql.ansi.enabled=true")["spark.sql.ansi.enabled"] == "true"
