from __future__ import annotations

import bz2
import gzip
from datetime import UTC, date, datetime
from decimal import Decimal

import duckdb
import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.files.formats.json.sink import json_sink
from gluepot.connectors.json_values import json_values
from gluepot.core.errors import ConfigError
from gluepot.frames.columns import batch_of
from tests.unit.files.sink.staged import KEY, data_files, path, write


def lines(tmp_path, *batches) -> list[bytes]:
    sink = json_sink(str(tmp_path), KEY, {})
    (file,) = write(sink, *batches).files
    return path(sink, file).read_bytes().splitlines()


def test_each_row_is_an_object_on_a_line_without_its_nulls(tmp_path):
    assert lines(tmp_path, [{"a": 1, "b": None}, {"a": None, "b": "x\ny"}]) == [b'{"a":1}', b'{"b":"x\\ny"}']


def test_nulls_stay_in_lists_and_go_from_structs(tmp_path):
    assert lines(tmp_path, [{"l": [1, None], "s": {"a": None, "b": 1}}]) == [b'{"l":[1,null],"s":{"b":1}}']


def test_a_record_without_columns_is_an_empty_object(tmp_path):
    assert lines(tmp_path, batch_of([], 2)) == [b"{}", b"{}"]


def test_values_of_several_types_keep_them(tmp_path):
    assert lines(tmp_path, [{"a": 1}], [{"a": "1"}], [{"a": {"b": True}}]) == [
        b'{"a":1}',
        b'{"a":"1"}',
        b'{"a":{"b":true}}',
    ]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (pa.array([Decimal("12345678901234567890.10")]), b"12345678901234567890.10"),
        (pa.array([0.1], pa.float32()), b"0.1"),
        (pa.array([float("nan")]), b'"NaN"'),
        (pa.array([float("-inf")]), b'"-Infinity"'),
        (pa.array([b"\x00\xff"]), b'"AP8="'),
        (pa.array([date(2026, 1, 5)]), b'"2026-01-05"'),
        (pa.array([datetime(2026, 1, 5, 12)]), b'"2026-01-05T12:00:00.000"'),
        (pa.array([datetime(2026, 1, 5, 12, tzinfo=UTC)]), b'"2026-01-05T12:00:00.000Z"'),
        (pa.array([1_767_614_400_123_456_789], pa.timestamp("ns", "UTC")), b'"2026-01-05T12:00:00.123456Z"'),
        (pa.array([[("k", Decimal("1.0"))]], pa.map_(pa.string(), pa.decimal128(3, 1))), b'{"k":1.0}'),
        (pa.array([{"at": datetime(2026, 1, 5, 12, tzinfo=UTC)}]), b'{"at":"2026-01-05T12:00:00.000Z"}'),
        (pa.array([[b"\x00", None]]), b'["AA==",null]'),
    ],
)
def test_each_type_is_written_as_spark_writes_it(tmp_path, values, text):
    assert lines(tmp_path, pa.record_batch({"v": values})) == [b'{"v":' + text + b"}"]


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)) | st.lists(st.none() | st.text()))
def test_plain_values_come_back_from_the_text(values):
    column = pa.array(values)
    assert orjson.loads(orjson.dumps(json_values(pa.field("v", column.type), column))) == values


def test_partition_keys_are_not_in_the_lines(tmp_path):
    sink = json_sink(str(tmp_path), KEY, {}, partition_keys=["k"])
    files = data_files(write(sink, [{"k": "a", "v": 1}, {"k": "b"}]))
    assert path(sink, files["k=a"]).read_bytes() == b'{"v":1}\n'
    assert path(sink, files["k=b"]).read_bytes() == b"{}\n"


@pytest.mark.parametrize(
    ("name", "suffix", "opened"), [("gzip", ".gz", gzip.decompress), ("bzip2", ".bz2", bz2.decompress)]
)
def test_a_compressed_file_is_whole_and_named(tmp_path, name, suffix, opened):
    sink = json_sink(str(tmp_path), KEY, {"compression": name})
    (file,) = write(sink, [{"a": 1}]).files
    assert file.final.endswith(f"-part-r-00000{suffix}")
    assert opened(path(sink, file).read_bytes()) == b'{"a":1}\n'


def test_an_uncompressed_file_has_no_extension(tmp_path):
    (file,) = write(json_sink(str(tmp_path), KEY, {}, ctx="out"), [{"a": 1}], task=12).files
    assert file.final.startswith("run-out-")
    assert file.final.endswith("-part-r-00012")


def test_another_compression_is_a_configuration_error(tmp_path):
    with pytest.raises(ConfigError, match="'snappy' is not for text files; use gzip or bzip2"):
        json_sink(str(tmp_path), KEY, {"compression": "snappy"})


def test_another_reader_sees_the_same_rows(tmp_path):
    sink = json_sink(str(tmp_path), KEY, {})
    rows = [{"a": 1, "b": {"c": ["x", "y"]}}, {"a": 2, "b": None}]
    (file,) = write(sink, rows).files
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT a, b FROM read_json(?, format = 'newline_delimited')", [str(path(sink, file))]
        )
        assert found.fetchall() == [(1, {"c": ["x", "y"]}), (2, None)]
