from __future__ import annotations

import os

import pytest

from etlcore.clock import FakeClock
from etlcore.errors import ConfigError
from gluepot.demo.events import events
from gluepot.demo.producer import MAX_SLICE, SLICES_PER_SEC, slices
from gluepot.demo.stage import STAGES, _environment, example


def test_events_are_handed_out_a_twentieth_of_a_second_at_a_time():
    clock = FakeClock(0.0)
    due = [(clock.monotonic(), len(part)) for part in slices(events(250), 2000, clock)]
    assert due == [(0.0, 100), (0.05, 100), (0.1, 50)]
    assert SLICES_PER_SEC == 20


def test_a_slice_is_bounded_however_high_the_rate_is():
    parts = [len(part) for part in slices(events(MAX_SLICE + 1), 10_000_000, FakeClock(0.0))]
    assert parts == [MAX_SLICE, 1]


def test_a_rate_below_one_slice_a_second_still_sends():
    assert sum(len(part) for part in slices(events(3), 1, FakeClock(0.0))) == 3


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
    with _environment({"AWS_REGION": "here", "AWS_ENDPOINT_URL_KINESIS": "http://x"}):
        assert (os.environ["AWS_REGION"], os.environ["AWS_ENDPOINT_URL_KINESIS"]) == ("here", "http://x")
    assert (os.environ["AWS_REGION"], os.environ.get("AWS_ENDPOINT_URL_KINESIS")) == ("eu-west-1", None)
