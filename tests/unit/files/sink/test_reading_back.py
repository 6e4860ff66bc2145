"""What a sink wrote is read back by the reader of its format, equal in every value."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.files.sink.typed import typed
from gluepot.connectors.registry import READERS, SINKS
from gluepot.connectors.value_texts import texts
from gluepot.frames.schema import choice_to_string
from tests.unit.files.sink.staged import KEY, path, write

FORMATS = [
    ("parquet", {}),
    ("json", {}),
    ("json", {"compression": "gzip"}),
    ("csv", {}),
    ("csv", {"compression": "bzip2", "separator": "\t", "quoteChar": "'"}),
    ("csv", {"writeHeader": False}),
    ("csv", {"quoteChar": -1}),
    ("csv", {"quoteChar": -1, "writeHeader": False, "separator": "|"}),
]
AT = datetime(2026, 1, 5, 12, 0, 0, 120_000, tzinfo=UTC)
TYPES = {
    "int": pa.array([1, None, -(2**63)]),
    "small": pa.array([1, None, -128], pa.int8()),
    "float": pa.array([0.1, None, float("inf")], pa.float32()),
    "double": pa.array([1e300, None, -0.5]),
    "bool": pa.array([True, None, False]),
    "decimal": pa.array([Decimal("12345678901234567890.10"), None, Decimal("-0.01")], pa.decimal128(22, 2)),
    "date": pa.array([date(2026, 1, 5), None, date(1, 1, 1)]),
    "instant": pa.array([AT, None, AT], pa.timestamp("us", "UTC")),
    "clock": pa.array([datetime(2026, 1, 5), None, AT.replace(tzinfo=None)], pa.timestamp("us")),
    "text": pa.array(["007", None, 'a,"b"\n\\n|\t\'\r']),
    "bytes": pa.array([b"\x00\xff", None, b"x"]),
    "struct": pa.array([{"a": Decimal("1.5"), "b": [b"\xff"]}, None, {"a": None, "b": []}]),
    "list": pa.array([[1, None], None, []], pa.list_(pa.int64())),
    "map": pa.array([[("k", AT)], None, []], pa.map_(pa.string(), pa.timestamp("us", "UTC"))),
    "numbered": pa.array([[(7, "x")], None, [(8, None)]], pa.map_(pa.int32(), pa.string())),
}


def plain_name(kind: pa.DataType) -> str:
    """Parquet has names of its own for what is inside lists and maps."""
    return re.sub(r" \('\w+'\)", "", str(kind).replace("element", "item"))


def read_back(tmp_path, name: str, options: dict[str, Any], *batches, columns: list[str] | None = None) -> pa.Table:
    sink = SINKS[name](str(tmp_path), KEY, options)
    part = write(sink, *batches)
    (file,) = part.files
    schema = pa.ipc.read_schema(pa.py_buffer(part.schema))
    with path(sink, file).open("rb") as opened:
        wanted = schema.names if columns is None else columns
        return pa.Table.from_batches(READERS[name](opened, file.encoding, schema, wanted))


@pytest.mark.parametrize(("name", "options"), FORMATS)
def test_every_type_comes_back(tmp_path, name, options):
    batch = pa.record_batch(TYPES)
    found = read_back(tmp_path, name, options, batch)
    assert found.to_pylist() == batch.to_pylist()
    assert [plain_name(field.type) for field in found.schema] == [plain_name(field.type) for field in batch.schema]


@pytest.mark.parametrize(("name", "options"), FORMATS)
def test_only_the_wanted_columns_are_read_and_those_a_file_lacks_left_out(tmp_path, name, options):
    found = read_back(tmp_path, name, options, pa.record_batch(TYPES), columns=["text", "int", "absent"])
    assert found.schema.names == ["text", "int"]
    assert found.num_rows == 3


@pytest.mark.parametrize(("name", "options"), FORMATS)
def test_without_columns_the_rows_are_counted(tmp_path, name, options):
    assert read_back(tmp_path, name, options, pa.record_batch(TYPES), columns=[]).num_rows == 3


@pytest.mark.parametrize(("name", "options"), FORMATS)
def test_a_value_of_several_types_is_text(tmp_path, name, options):
    found = read_back(tmp_path, name, options, [{"a": 1}], [{"a": "x"}], [{"a": {"b": True}}])
    assert found.to_pylist() == [{"a": "1"}, {"a": "x"}, {"a": '{"b":true}'}]


@pytest.mark.parametrize("name", ["json", "csv"])
def test_the_empty_string_is_no_null(tmp_path, name):
    rows = [{"a": "", "b": "x"}, {"a": None, "b": ""}]
    assert read_back(tmp_path, name, {}, rows).to_pylist() == rows


def test_a_column_whose_name_begins_like_another_one_is_not_mistaken_for_it(tmp_path):
    found = read_back(tmp_path, "parquet", {}, [{"a": 1, "a.b": 2}], columns=["a"])
    assert found.to_pylist() == [{"a": 1}]


def test_a_line_that_is_no_json_is_an_error():
    import io

    with pytest.raises(ValueError, match="unexpected"):
        list(READERS["json"](io.BytesIO(b"{"), {"compression": ""}, pa.schema([("a", pa.int64())]), ["a"]))


@pytest.mark.parametrize("block_bytes", range(8, 20))
def test_csv_values_keep_their_line_breaks_wherever_a_block_ends(tmp_path, monkeypatch, block_bytes):
    from gluepot.connectors.files.formats.csv import read_back as module

    monkeypatch.setattr(module, "_BLOCK_BYTES", block_bytes)
    rows = [{"a": "\r\nb", "b": "c"}, {"a": "\r\n", "b": "\r"}]
    assert read_back(tmp_path, "csv", {}, rows).to_pylist() == rows


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_any_text_comes_back_from_csv(values):
    import io

    from gluepot.connectors.files.formats.csv.write import CsvOutputFormat

    batch = pa.record_batch({"a": values, "b": values})
    for settings in (CsvOutputFormat(), CsvOutputFormat(quote=None)):
        output = io.BytesIO()
        settings.open(output, batch.schema).write(batch)
        encoding = settings.encoding(batch.schema)
        output.seek(0)
        found = pa.Table.from_batches(READERS["csv"](output, encoding, batch.schema, ["a", "b"]))
        expected = [value if settings.quote else value or None for value in values]
        assert found.column("b").to_pylist() == expected


@pytest.mark.parametrize(
    "values",
    [column for name, column in TYPES.items() if not pa.types.is_nested(column.type) and name != "bytes"]
    + [pa.array([float("nan"), 1e-7, 1e7, -0.0])],
)
def test_the_text_of_a_partition_folder_is_read_as_its_type(values):
    found = typed(pa.array(texts(values), pa.string()), values.type)
    assert repr(found.to_pylist()) == repr(values.to_pylist())


def test_a_text_that_is_no_value_of_the_type_is_an_error():
    with pytest.raises(ValueError, match="'x' is no int32"):
        typed(pa.array(["1", None, "x"]), pa.int32())


def test_choices_nested_in_json_are_text(tmp_path):
    rows = [{"l": [{"a": 1}]}], [{"l": [{"a": "x"}]}]
    found = read_back(tmp_path, "json", {}, *rows)
    assert found.to_pylist() == [{"l": [{"a": "1"}]}, {"l": [{"a": "x"}]}]
    assert choice_to_string(found.to_batches()[0]).schema == found.schema
