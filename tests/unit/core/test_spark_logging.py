from __future__ import annotations

import re

import pytest

from gluepot.spark.spark_env import LOGGING, LOGGING_JSON


def rules(path):
    """What is logged from which level on, apart from how a line looks."""
    return re.findall(r"^(?:rootLogger|logger)\..*$", path.read_text(), re.MULTILINE)


def test_both_shapes_of_sparks_log_have_the_same_lines():
    assert rules(LOGGING)
    assert rules(LOGGING) == rules(LOGGING_JSON)


@pytest.mark.parametrize("key", ["ts", "level", "logger", "msg", "job", "run_id"])
def test_a_line_of_spark_has_the_keys_of_ours(key):
    assert f'"{key}":' in LOGGING_JSON.read_text()
