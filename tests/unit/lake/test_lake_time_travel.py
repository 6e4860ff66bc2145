from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.lake.time_travel import spark_options, timestamp_text
from gluepot.core.errors import ConfigError


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ({}, {}),
        ({"split-size": "1", "branch": "audit"}, {"split-size": "1", "branch": "audit"}),
        ({"snapshot-id": 51}, {"versionAsOf": 51}),
        ({"tag": "end-of-year"}, {"versionAsOf": "end-of-year"}),
        ({"versionasof": "51", "split-size": "1"}, {"versionAsOf": "51", "split-size": "1"}),
        ({"As-Of-Timestamp": "1700000000123"}, {"timestampAsOf": "2023-11-14 22:13:20.123+00:00"}),
        ({"timestampAsOf": "2023-11-14"}, {"timestampAsOf": "2023-11-14"}),
    ],
)
def test_a_state_is_chosen_in_sparks_words(options, meant):
    assert spark_options(options) == meant


@pytest.mark.parametrize("value", ["yesterday", None, 10**18, "2023-11-14"])
def test_a_time_that_is_no_number_of_milliseconds_is_a_sentence(value):
    with pytest.raises(ConfigError, match=r"as-of-timestamp is .*; give milliseconds since 1970 UTC"):
        spark_options({"as-of-timestamp": value})


def test_two_options_that_choose_a_state_are_a_sentence():
    with pytest.raises(ConfigError, match=r"^as-of-timestamp and snapshot-id each choose a state"):
        spark_options({"snapshot-id": 1, "as-of-timestamp": 1})


@given(st.integers(min_value=0, max_value=4_102_444_800_000))
def test_a_time_loses_no_millisecond(epoch_ms):
    read = datetime.fromisoformat(timestamp_text(epoch_ms))

    assert round(read.timestamp() * 1000) == epoch_ms
