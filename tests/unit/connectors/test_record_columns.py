"""The option `addRecordColumns`."""

import pytest

from gluepot.connectors.streams.record_columns import RecordColumn, check_distinct, record_columns
from gluepot.core.errors import ConfigError

KNOWN = ("topic", "partition", "offset")


def test_columns_are_named_in_any_letter_case_and_may_be_renamed():
    assert record_columns("Topic, OFFSET as source_offset", KNOWN) == (
        RecordColumn("topic", "topic"),
        RecordColumn("offset", "source_offset"),
    )
    assert record_columns("", KNOWN) == ()


@pytest.mark.parametrize("text", ["true", "topik", "streamName", "topic,", ",", "topic as", "topic as a b", "topic;"])
def test_a_value_that_names_no_column_is_refused_with_the_columns_that_there_are(text):
    with pytest.raises(ConfigError, match=r"addRecordColumns is '.*topic"):
        record_columns(text, KNOWN)


@pytest.mark.parametrize("text", ["topic, topic", "topic as DATA", "topic as x, offset as X"])
def test_two_columns_of_one_name_are_refused_whatever_their_letter_case(text):
    with pytest.raises(ConfigError, match="rename it, for example"):
        check_distinct(record_columns(text, KNOWN), ["data"])
