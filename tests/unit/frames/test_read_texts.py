from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from gluepot.frames.chunk import Chunk, is_choice
from gluepot.frames.transforms.read_texts import ReadTexts


def read(kind, *texts):
    batch = pa.RecordBatch.from_pydict({"a": pa.array(texts, pa.string())})
    return ReadTexts({"a": kind})(Chunk(batch)).batch


def test_texts_that_fit_have_the_declared_type():
    batch = read(pa.int64(), "1", None, " 2 ")
    assert batch.schema.field("a").type == pa.int64()
    assert batch.column(0).to_pylist() == [1, None, 2]


@pytest.mark.parametrize(
    ("kind", "fits", "value", "name"),
    [
        (pa.int64(), "1", 1, "long"),
        (pa.date32(), "2024-01-02", dt.date(2024, 1, 2), "date"),
        (pa.binary(), "x", b"x", None),
    ],
)
def test_a_text_that_does_not_fit_stays_a_text(kind, fits, value, name):
    batch = read(kind, fits, "much", None)
    if name is None:
        assert batch.column(0).to_pylist() == [b"x", b"much", None]
        return
    assert is_choice(batch.schema.field("a"))
    assert batch.column(0).to_pylist() == [{name: value, "string": None}, {name: None, "string": "much"}, None]


def test_columns_of_other_types_are_left_alone():
    batch = pa.RecordBatch.from_pydict({"a": [1.5], "b": ["1"]})
    assert ReadTexts({"a": pa.int64()})(Chunk(batch)).batch.equals(batch)


def test_an_empty_text_is_null_unless_the_column_is_text():
    assert read(pa.int64(), "1", "", None)["a"].to_pylist() == [1, None, None]
    assert read(pa.binary(), "", "x", None)["a"].to_pylist() == [None, b"x", None]
    assert read(pa.string(), "", " ", None)["a"].to_pylist() == ["", " ", None]
    choice = read(pa.int64(), "1", "", "x", " ")["a"].to_pylist()
    assert choice == [{"long": 1, "string": None}, None, {"long": None, "string": "x"}, {"long": None, "string": " "}]


def test_a_text_with_a_fraction_is_no_integer():
    batch = read(pa.int32(), "1.5", "2.0", "3.", "", None, "4")
    assert batch.column(0).to_pylist() == [
        {"int": None, "string": "1.5"},
        *({"int": value, "string": None} for value in (2, 3)),
        *(None, None),
        {"int": 4, "string": None},
    ]
