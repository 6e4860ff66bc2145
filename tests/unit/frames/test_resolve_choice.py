import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import permutations

import pyarrow as pa
import pytest

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Chunk, ErrorRecord
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.rows import rows
from gluepot.frames.schema import merge_schemas
from gluepot.frames.transforms import ResolveChoice, casts_to

VALUES = {
    "boolean": True,
    "long": 7,
    "decimal": Decimal("1.5"),
    "date": date(2026, 1, 2),
    "timestamp": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    "string": "text",
    "binary": b"bytes",
    "array": [1, 2],
    "struct": {"x": 1},
}
PAIRS = list(permutations(VALUES, 2))
NESTINGS = {
    "a field": (lambda value: {"a": value}, lambda row: row),
    "in a struct": (lambda value: {"s": {"a": value}}, lambda row: row["s"]),
    "in an array of structs": (lambda value: {"l": [{"a": value}]}, lambda row: row["l"][0]),
}


def _resolved(chunk, *specs, choice=""):
    step = ResolveChoice(specs, choice).bound(chunk.batch.schema)
    done = pickle.loads(pickle.dumps(step))(chunk)
    done.batch.validate(full=True)
    return list(rows(done))


def _chunk(*records):
    return Chunk(batch_from_objects(records))


@pytest.fixture(params=NESTINGS)
def nesting(request):
    return NESTINGS[request.param]


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request):
    return request.param


@pytest.fixture
def mixed(pair, nesting):
    """Two records with the pair's values, in its order, and one without a value."""
    wrap, _ = nesting
    return _chunk(*(wrap(VALUES[kind]) for kind in pair), wrap(None))


@pytest.fixture
def found(nesting):
    """Where in a resolved record the field was."""
    return nesting[1]


def test_both_values_of_a_choice_survive(mixed, pair, found):
    assert [found(row)["a"] for row in rows(mixed)] == [VALUES[pair[0]], VALUES[pair[1]], None]


def test_make_cols_gives_a_field_per_type(mixed, pair, found):
    first, second = pair

    assert [found(row) for row in _resolved(mixed, choice="make_cols")] == [
        {f"a_{first}": VALUES[first], f"a_{second}": None},
        {f"a_{first}": None, f"a_{second}": VALUES[second]},
        {f"a_{first}": None, f"a_{second}": None},
    ]


def test_make_struct_gives_a_struct_with_a_field_per_type(mixed, pair, found):
    first, second = pair

    assert [found(row)["a"] for row in _resolved(mixed, choice="make_struct")] == [
        {first: VALUES[first], second: None},
        {first: None, second: VALUES[second]},
        None,
    ]


def test_project_keeps_the_values_of_one_type(mixed, pair, found):
    first, second = pair

    assert [found(row)["a"] for row in _resolved(mixed, choice=f"project:{first}")] == [VALUES[first], None, None]
    assert [found(row)["a"] for row in _resolved(mixed, choice=f"project:{second}")] == [None, VALUES[second], None]


def test_cast_to_string_loses_no_value(mixed, found):
    texts = [found(row)["a"] for row in _resolved(mixed, choice="cast:string")]

    assert [type(text) for text in texts] == [str, str, type(None)]


def test_cast_makes_null_of_what_has_no_counterpart():
    chunk = _chunk({"a": 1}, {"a": "2"}, {"a": "x"}, {"a": {"b": 1}}, {"a": None})

    assert _resolved(chunk, choice="cast:long") == [{"a": 1}, {"a": 2}, {"a": None}, {"a": None}, {"a": None}]


@pytest.mark.parametrize(("action", "lost"), [("cast:long", 2), ("project:long", 3), ("make_cols", 0)])
def test_values_that_become_null_are_counted(action, lost):
    chunk = _chunk({"a": [1]}, {"a": ["2"]}, {"a": ["x", None]}, {"a": [{"b": 1}]})
    step = ResolveChoice([("a[]", action)]).bound(chunk.batch.schema)

    assert step(chunk).misfits == ({"a.[]": lost} if lost else {})


def test_project_to_a_smaller_number_is_null_where_it_does_not_fit():
    assert _resolved(_chunk({"a": 7}, {"a": 2**40}, {"a": "x"}), choice="project:int") == [
        {"a": 7},
        {"a": None},
        {"a": None},
    ]


@pytest.mark.parametrize("action", ["make_cols", "make_struct", "project:long"])
def test_fields_with_one_type_are_left_alone(action):
    assert _resolved(_chunk({"a": "x"}), ("a", action)) == [{"a": "x"}]


def test_cast_is_for_fields_with_one_type_too():
    assert _resolved(_chunk({"a": "7"}), ("a", "cast:long")) == [{"a": 7}]


def test_a_field_that_no_record_has_is_not_made():
    assert _resolved(_chunk({"a": 1}), ("b", "cast:long"), ("b.c", "make_cols")) == [{"a": 1}]


def test_brackets_lead_into_arrays_and_backquotes_protect_dots():
    chunk = _chunk({"l": [{"p.q": 1}, {"p.q": "x"}], "[]": "1"})

    assert _resolved(chunk, ("l[].`p.q`", "cast:string"), ("`[]`", "cast:long")) == [
        {"l": [{"p.q": "1"}, {"p.q": "x"}], "[]": 1}
    ]


def test_elements_of_an_array_cannot_become_columns_so_they_become_structs():
    assert _resolved(_chunk({"l": [1, "x"]}), choice="make_cols") == [
        {"l": [{"long": 1, "string": None}, {"long": None, "string": "x"}]}
    ]


def test_a_choice_inside_an_alternative_is_resolved_too():
    chunk = _chunk({"a": 1}, {"a": {"b": 2}}, {"a": {"b": "x"}})

    assert _resolved(chunk, choice="make_cols")[1:] == [
        {"a_long": None, "a_struct": {"b_long": 2, "b_string": None}},
        {"a_long": None, "a_struct": {"b_long": None, "b_string": "x"}},
    ]


def test_specs_come_before_the_choice():
    chunk = _chunk({"a": 1, "b": 1}, {"a": "x", "b": "y"})

    assert _resolved(chunk, ("a", "project:string"), choice="cast:string") == [
        {"a": None, "b": "1"},
        {"a": "x", "b": "y"},
    ]


def test_chunks_with_one_type_each_get_the_fields_of_all():
    chunks = [_chunk({"a": 1}), _chunk({"a": "x"}), _chunk({"b": 0})]
    schema = pa.schema([])
    for chunk in chunks:
        schema = merge_schemas(schema, chunk.batch.schema)
    step = ResolveChoice((), "make_cols").bound(schema)

    assert {tuple(step(chunk).batch.schema.names) for chunk in chunks} == {("a_long", "a_string", "b")}


def test_casts_alone_need_no_schema_and_other_actions_do():
    assert not ResolveChoice([("a", "cast:long")]).needs_schema
    assert ResolveChoice([("a", "make_cols")]).needs_schema
    assert ResolveChoice((), "cast:long").needs_schema
    assert list(rows(ResolveChoice([("a", "cast:long")]).bound(None)(_chunk({"a": "7"})))) == [{"a": 7}]


def test_errors_of_a_chunk_stay():
    error = ErrorRecord(b"{", "malformed_json", "The record is not JSON.")
    step = ResolveChoice([("a", "cast:long")]).bound(None)

    assert step(Chunk(batch_from_objects([{"a": 1}]), [error])).errors == [error]


def test_a_column_that_is_there_already_is_not_made_a_second_time():
    with pytest.raises(ConfigError, match="second field 'a_long'"):
        _resolved(_chunk({"a": 1, "a_long": 1}, {"a": "x"}), choice="make_cols")


@pytest.mark.parametrize("action", ["cast", "cast:nothing", "make_columns", "project:", "make_cols:int", "cast:struct"])
def test_an_action_that_is_not_known_is_told_at_once(action):
    with pytest.raises(ConfigError):
        ResolveChoice((), action)


def test_actions_and_types_are_read_in_any_letter_case():
    assert _resolved(_chunk({"a": 1}, {"a": "x"}), choice=" Cast: BigInt ") == [{"a": 1}, {"a": None}]


def test_a_schema_becomes_casts_of_its_fields():
    kind = pa.struct([pa.field("c.d", pa.decimal128(5, 2)), pa.field("l", pa.list_(pa.int64()))])

    assert casts_to(pa.schema([pa.field("a", pa.int32()), pa.field("s", kind)])) == [
        ("`a`", "cast:int"),
        ("`s`.`c.d`", "cast:decimal(5,2)"),
    ]
