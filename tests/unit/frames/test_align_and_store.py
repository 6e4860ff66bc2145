import json
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.frames.chunk import Chunk, is_choice
from gluepot.frames.columns import Column
from gluepot.frames.json_text import json_texts
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.rows import rows
from gluepot.frames.schema import (
    align,
    choice_field,
    choice_to_string,
    concat,
    loses_values,
    merge_schemas,
    without_nulls,
)

VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-9, 9), st.floats(0, 1), st.text(max_size=2), st.binary(max_size=2)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("abc"), inner, max_size=2)),
    max_leaves=5,
)
BATCHES = st.lists(st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=3), max_size=5).map(batch_from_objects)


def _rows(batch):
    return list(rows(Chunk(batch)))


def _with_nulls_gone(value):
    if isinstance(value, dict):
        return {key: _with_nulls_gone(item) for key, item in value.items() if item is not None}
    return [_with_nulls_gone(item) for item in value] if isinstance(value, list) else value


@given(BATCHES, BATCHES)
def test_rows_keep_their_values_in_a_wider_schema(batch, other):
    schema = merge_schemas(other.schema, batch.schema)
    aligned = align(batch, schema)
    aligned.validate(full=True)
    assert aligned.schema.equals(schema, check_metadata=True)
    assert _with_nulls_gone(_rows(aligned)) == _with_nulls_gone(_rows(batch))


@given(BATCHES, BATCHES, st.integers(0, 5), st.integers(0, 5))
def test_a_slice_aligns_as_the_slice_of_the_whole(batch, other, start, length):
    schema = merge_schemas(other.schema, batch.schema)
    part = align(batch.slice(min(start, batch.num_rows), length), schema)
    part.validate(full=True)
    assert _rows(part) == _rows(align(batch, schema))[start : start + length]


@given(st.lists(BATCHES, min_size=1, max_size=3))
def test_concatenated_rows_are_all_rows_in_order(batches):
    together = _with_nulls_gone(_rows(concat(batches)))
    assert together == _with_nulls_gone([row for batch in batches for row in _rows(batch)])


def test_a_plain_value_goes_under_the_alternative_of_its_family():
    choice = choice_field("a", [pa.field("", pa.float64()), pa.field("", pa.string())])
    aligned = align(batch_from_objects([{"a": 1}, {"a": None}]), pa.schema([choice]))
    assert aligned.column("a").to_pylist() == [{"double": 1.0, "string": None}, None]


def test_maps_align_value_by_value():
    batch = pa.RecordBatch.from_arrays(
        [pa.array([[("k", 1)], None, [("l", 2)]], pa.map_(pa.string(), pa.int64()))], ["m"]
    ).slice(1)
    wider = pa.schema([("m", pa.map_(pa.string(), pa.float64()))])
    assert _rows(align(batch, wider)) == [{"m": None}, {"m": {"l": 2.0}}]


@pytest.mark.parametrize("schema", [pa.schema([]), pa.schema([("a", pa.string())]), pa.schema([("a", pa.struct([]))])])
def test_a_schema_without_place_for_a_value_is_refused(schema):
    with pytest.raises(ValueError, match="no place for"):
        align(batch_from_objects([{"a": 1}]), schema)


def test_a_choice_without_place_for_a_value_is_refused():
    choice = choice_field("a", [pa.field("", pa.bool_()), pa.field("", pa.string())])
    with pytest.raises(ValueError, match="no place for number in choice 'a'"):
        align(batch_from_objects([{"a": 1}]), pa.schema([choice]))


@given(
    st.lists(
        st.one_of(
            st.booleans(),
            st.integers(-9, 9),
            st.text(max_size=3),
            st.dictionaries(st.sampled_from("ab"), st.none() | st.booleans(), max_size=2),
            st.lists(st.text(max_size=2), max_size=2),
        ),
    )
)
def test_every_value_of_a_choice_can_be_read_off_its_text(values):
    batch = batch_from_objects([{"a": value} for value in ["x", True, *values]])
    texts = choice_to_string(batch).column("a").to_pylist()[2:]
    read = [text if isinstance(value, str) else json.loads(text) for value, text in zip(values, texts, strict=True)]
    assert read == [_with_nulls_gone(value) for value in values]


@given(BATCHES)
def test_no_choice_is_left_at_any_depth(batch):
    stored = choice_to_string(batch)
    stored.validate(full=True)
    assert b"choice" not in stored.schema.serialize().to_pybytes()
    assert stored.num_rows == batch.num_rows


def test_choices_inside_lists_and_structs_become_text_in_place():
    batch = batch_from_objects([{"a": [{"b": 1}, {"b": "x"}]}, {"a": [{"b": 0.5}, None]}, {"a": None}])
    assert _rows(choice_to_string(batch)) == [{"a": [{"b": "1"}, {"b": "x"}]}, {"a": [{"b": "0.5"}, None]}, {"a": None}]


def test_numbers_keep_every_digit_as_text():
    batch = batch_from_objects([{"a": 2**63 - 1}, {"a": "x"}])
    assert choice_to_string(batch).column("a").to_pylist() == ["9223372036854775807", "x"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_doubles_read_back_from_their_text(values):
    texts = (
        choice_to_string(batch_from_objects([{"a": "x"}, *({"a": value} for value in values)])).column("a").to_pylist()
    )
    assert [float(text) for text in texts[1:]] == values
    assert [math.copysign(1, float(text)) for text in texts[1:]] == [math.copysign(1, value) for value in values]


def test_what_has_no_storable_type_is_dropped_at_any_depth():
    batch = batch_from_objects(
        [{"n": None, "e": {}, "l": [], "s": {"n": None, "k": 1}, "t": {"u": {"n": None}}, "i": [{"n": None, "k": 1}]}]
    )
    assert _rows(without_nulls(batch)) == [{"s": {"k": 1}, "i": [{"k": 1}]}]


def test_dropping_all_columns_keeps_the_number_of_rows():
    assert without_nulls(batch_from_objects([{"a": None}, {"a": None}])).num_rows == 2


def test_dropping_keeps_a_choice_a_choice():
    batch = without_nulls(batch_from_objects([{"a": {"n": None, "k": 1}}, {"a": "x"}]))
    assert is_choice(batch.schema.field("a"))
    assert _rows(batch) == [{"a": {"k": 1}}, {"a": "x"}]


def test_maps_of_choices_become_maps_of_text():
    batch = pa.RecordBatch.from_arrays([pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64()))], ["m"])
    choice = choice_field("value", [pa.field("", pa.int64()), pa.field("", pa.string())])
    with_choice = align(batch, pa.schema([("m", pa.map_(pa.string(), choice))]))
    assert _rows(with_choice) == [{"m": {"k": 1}}, {"m": None}]
    assert _rows(choice_to_string(with_choice)) == [{"m": {"k": "1"}}, {"m": None}]


def test_maps_lose_what_cannot_be_stored_in_their_values():
    kind = pa.map_(pa.string(), pa.struct([("n", pa.null()), ("k", pa.int64())]))
    batch = pa.RecordBatch.from_arrays([pa.array([[("a", {"n": None, "k": 1})], None], kind)], ["m"])
    assert _rows(without_nulls(batch)) == [{"m": {"a": {"k": 1}}}, {"m": None}]


VOID = pa.list_(pa.null())
TEXTS = pa.list_(pa.string())


@pytest.mark.parametrize(
    ("have", "wanted", "loses"),
    [
        (VOID, TEXTS, True),
        (VOID, VOID, False),
        (pa.null(), TEXTS, False),
        (TEXTS, TEXTS, False),
        (pa.struct([]), pa.struct([("a", pa.int64())]), True),
        (pa.struct([("a", pa.null())]), pa.struct([("b", pa.int64())]), True),
        (pa.struct([("a", pa.null()), ("b", pa.int64())]), pa.struct([("a", pa.int64())]), False),
        (pa.struct([("a", VOID), ("b", pa.int64())]), pa.struct([("a", TEXTS)]), True),
        (pa.list_(pa.struct([("a", VOID), ("b", pa.int64())])), pa.list_(pa.struct([("a", TEXTS)])), True),
        (pa.map_(pa.string(), VOID), pa.map_(pa.string(), TEXTS), True),
        (pa.map_(pa.string(), pa.int64()), TEXTS, False),
        (pa.list_(pa.int64()), pa.struct([("a", TEXTS)]), False),
        (VOID, pa.int64(), True),
    ],
)
def test_values_without_a_type_are_lost_where_another_type_has_a_place_for_them(have, wanted, loses):
    assert loses_values(have, wanted) is loses


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_values_that_are_no_numbers_have_the_names_that_other_writers_give_them(kind):
    values = [math.nan, math.inf, -math.inf, None, 0.5, 10.0]
    texts = json_texts(Column(pa.field("a", kind), pa.array(values, kind)))
    assert texts.to_pylist() == ["NaN", "Infinity", "-Infinity", None, "0.5", "10"]
