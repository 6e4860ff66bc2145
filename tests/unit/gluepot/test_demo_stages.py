from __future__ import annotations

import os

import pytest

from gluepot.core.environment import environment
from gluepot.core.errors import ConfigError
from gluepot.core.examples import example
from gluepot.demo.stage import STAGES


@pytest.mark.parametrize("name", ["clickstream.py", "clickstream_kinesis.py"])
def test_the_script_of_each_source_is_shipped(name):
    assert example(name).is_file()
    with pytest.raises(ConfigError, match="is not installed"):
        example(f"no-{name}")


def test_there_is_a_stage_for_each_source_of_the_command_line():
    assert set(STAGES) == {"kafka", "kinesis"}


def test_the_environment_is_as_before_afterwards(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL_KINESIS", raising=False)
    with environment({"AWS_REGION": "here", "AWS_ENDPOINT_URL_KINESIS": "http://x"}):
        assert (os.environ["AWS_REGION"], os.environ["AWS_ENDPOINT_URL_KINESIS"]) == ("here", "http://x")
    assert (os.environ["AWS_REGION"], os.environ.get("AWS_ENDPOINT_URL_KINESIS")) == ("eu-west-1", None)
