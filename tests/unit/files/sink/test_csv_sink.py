from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.files.formats.csv.sink import csv_sink
from gluepot.connectors.files.formats.csv.write import CsvOutputFormat
from gluepot.connectors.files.formats.text_file import Compression
from gluepot.core.errors import ConfigError
from tests.unit.files.sink.staged import KEY, path, write


def text_of(tmp_path, rows, **options) -> str:
    sink = csv_sink(str(tmp_path), KEY, options)
    (file,) = write(sink, rows).files
    return path(sink, file).read_bytes().decode()


def encoded(rows: pa.RecordBatch) -> str:
    output = io.BytesIO()
    writer = CsvOutputFormat().open(output, rows.schema)
    writer.write(rows)
    return output.getvalue().decode()


def test_a_file_begins_with_its_header(tmp_path):
    assert text_of(tmp_path, [{"a": 1, "b,c": True}]) == 'a,"b,c"\n1,true\n'


@pytest.mark.parametrize("value", [False, "false", "False"])
def test_the_header_can_be_left_out(tmp_path, value):
    assert text_of(tmp_path, [{"a": 1}], writeHeader=value) == "1\n"


def test_null_and_the_empty_string_differ(tmp_path):
    assert text_of(tmp_path, [{"a": None, "b": "x"}, {"a": "", "b": "y"}]) == 'a,b\n,x\n"",y\n'


def test_a_null_in_the_only_column_is_not_an_empty_line(tmp_path):
    assert text_of(tmp_path, [{"a": None}, {"a": "x"}]) == 'a\n""\nx\n'


def test_quotes_are_doubled_and_put_only_where_needed(tmp_path):
    assert (
        text_of(tmp_path, [{"a": 'say "hi"', "b": "line\nbreak", "c": "plain"}])
        == 'a,b,c\n"say ""hi""","line\nbreak",plain\n'
    )


def test_a_separator_can_be_spelled_as_in_java_as_for_reading(tmp_path):
    assert text_of(tmp_path, [{"a": "x", "b": "y"}], separator="\\t") == "a\tb\nx\ty\n"


def test_separator_and_quote_can_be_chosen(tmp_path):
    assert text_of(tmp_path, [{"a": "x|y", "b": 'q"'}], separator="|", quoteChar="'") == "a|b\n'x|y'|q\"\n"


def test_without_quotes_a_backslash_keeps_values_apart(tmp_path):
    assert text_of(tmp_path, [{"a": "x,y", "b": "l\nm\\"}], quoteChar=-1) == "a,b\nx\\,y,l\\nm\\\\\n"


def test_nested_values_and_conflicting_types_are_json_text(tmp_path):
    sink = csv_sink(str(tmp_path), KEY, {"separator": ";"})
    (file,) = write(sink, [{"s": {"a": [1]}, "m": 1}], [{"s": None, "m": "x"}]).files
    assert path(sink, file).read_text() == 's;m\n"{""a"":[1]}";1\n;x\n'


def test_times_and_bytes_are_text(tmp_path):
    rows = [{"t": datetime(2026, 1, 5, 12, tzinfo=UTC), "b": b"\xff"}]
    assert text_of(tmp_path, rows) == "t,b\n2026-01-05T12:00:00.000Z,/w==\n"


@given(st.lists(st.tuples(st.text().filter(bool), st.text().filter(bool)), min_size=1))
def test_any_text_comes_back_through_another_reader(rows):
    batch = pa.record_batch({"a": [a for a, _ in rows], "b": [b for _, b in rows]})
    found = list(csv.reader(io.StringIO(encoded(batch), newline="")))
    assert found[1:] == [list(row) for row in rows]


def test_duckdb_reads_the_same_rows(tmp_path):
    sink = csv_sink(str(tmp_path), KEY, {"compression": "gzip"})
    (file,) = write(sink, [{"a": 1, "b": "x, y"}, {"a": None, "b": 'q "r"'}]).files
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT * FROM read_csv(?, header = true, compression = 'gzip')", [str(path(sink, file))]
        )
        assert found.fetchall() == [(1, "x, y"), (None, 'q "r"')]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": "||"}, r"separator is '\|\|'; give one character"),
        ({"quoteChar": ""}, "quoteChar is ''; give one character"),
        ({"separator": '"'}, "separator and quoteChar are both"),
        ({"writeHeader": "maybe"}, "writeHeader is 'maybe'; use true or false"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(options, message):
    with pytest.raises(ConfigError, match=message):
        CsvOutputFormat.from_glue(options, Compression.NONE)
