"""Rows as records of a stream."""

import pyarrow as pa
import pytest

from gluepot.connectors.streams.records import outgoing
from gluepot.connectors.values import Outgoing, RecordShape
from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Chunk


def sent(rows, **shape):
    return list(outgoing(Chunk(pa.RecordBatch.from_pylist(rows)), RecordShape(**shape)))


def test_a_row_is_json_without_nulls_and_its_key_is_a_column():
    assert sent([{"user": 7, "name": "a"}, {"user": 8, "name": None}], key_column="user") == [
        Outgoing(b'{"user":7,"name":"a"}', b"7"),
        Outgoing(b'{"user":8}', b"8"),
    ]


def test_a_row_without_a_key_leaves_the_partition_to_the_target():
    assert sent([{"a": 1}]) == [Outgoing(b'{"a":1}')]


def test_a_row_with_the_columns_of_a_record_is_sent_as_it_is():
    row = {"key": "k", "value": b"\xff", "topic": "t", "partition": 3, "headers": [{"key": "h", "value": b"1"}]}

    assert sent([row]) == [Outgoing(b"\xff", b"k", (("h", b"1"),), "t", 3)]
    assert sent([{"value": None, "key": "k"}]) == [Outgoing(None, b"k")]


def test_a_value_beside_other_columns_is_a_field_like_any_other():
    assert sent([{"value": 1, "at": 2}]) == [Outgoing(b'{"value":1,"at":2}')]


def test_a_key_that_is_no_column_is_named_with_the_columns_there_are():
    with pytest.raises(ConfigError, match=r"no column 'usr'.*user"):
        sent([{"user": 1}], key_column="usr")
