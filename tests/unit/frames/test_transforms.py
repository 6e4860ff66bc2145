import pickle

import pyarrow as pa
import pytest

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.record import DynamicRecord
from gluepot.frames.rows import rows
from gluepot.frames.transforms import (
    ApplyMapping,
    DropFields,
    FilterRows,
    MapRows,
    RenameField,
    SelectFields,
    output_schema,
    run_steps,
)
from gluepot.frames.transforms.paths import parse_path

EARLIER = ErrorRecord(b"x", "malformed_json", "The record is not JSON.", Coordinates("clicks", "0", "7"))


def _after(step, *records):
    chunk = step(Chunk(batch_from_objects(records), [EARLIER]))
    chunk.batch.validate(full=True)
    assert chunk.errors[0] is EARLIER
    return list(rows(chunk))


def _mapped(mappings, *records, **options):
    return _after(ApplyMapping(mappings, **options), *records)


def test_unlisted_fields_disappear_and_the_mappings_give_the_order():
    assert _mapped([("b", "long", "x", "string"), ("a", "y")], {"a": 1, "b": 2, "c": 3}) == [{"x": "2", "y": 1}]


def test_three_parts_cast_from_any_type():
    assert _mapped([("a", "b", "int")], {"a": "7"}, {"a": "x"}, {}) == [{"b": 7}, {"b": None}, {"b": None}]


def test_dots_reach_into_structs_and_build_them():
    mappings = [
        ("u.id", "long", "id", "long"),
        ("n", "string", "who.name", "string"),
        ("u.c", "string", "who.at.c", "string"),
    ]
    assert _mapped(mappings, {"u": {"id": 1, "c": "DE"}, "n": "Ann"}, {"u": None, "n": None}) == [
        {"id": 1, "who": {"name": "Ann", "at": {"c": "DE"}}},
        {"id": None, "who": None},
    ]


def test_backquotes_protect_dots_on_both_sides():
    assert _mapped([("`a.b`", "long", "`c.d`", "long")], {"a.b": 1, "a": {"b": 2}}) == [{"c.d": 1}]


def test_a_value_of_another_type_than_declared_is_null_without_a_word():
    assert _mapped(
        [("a", "string", "a", "string"), ("b", "timestamp", "b", "timestamp")], {"a": 1, "b": "2026-11-21"}
    ) == [{"a": None, "b": None}]


@pytest.mark.parametrize("declared", ["int", "bigint", "SmallInt", "byte", "double", "float"])
def test_a_json_integer_satisfies_every_declared_number(declared):
    assert _mapped([("a", declared, "a", "long")], {"a": 1}) == [{"a": 1}]


def test_a_declared_integer_takes_the_whole_values_of_a_double_column():
    assert _mapped([("a", "int", "a", "int")], {"a": 1}, {"a": 1.5}) == [{"a": 1}, {"a": None}]


def test_a_declared_integer_that_overflows_its_target_is_null():
    assert _mapped([("a", "int", "a", "int")], {"a": 2**40}) == [{"a": None}]


def test_a_choice_gives_only_the_alternative_declared():
    records = [{"a": 1}, {"a": "2"}, {"a": {"b": 3}}]
    assert _mapped([("a", "string", "a", "string")], *records) == [{"a": None}, {"a": "2"}, {"a": None}]
    assert _mapped([("a", "int", "a", "string")], *records) == [{"a": "1"}, {"a": None}, {"a": None}]
    assert _mapped([("a", "boolean", "a", "string")], *records) == [{"a": None}, {"a": None}, {"a": None}]


def test_a_choice_without_a_declared_type_casts_each_alternative():
    assert _mapped([("a", "a", "long")], {"a": 1}, {"a": "2"}, {"a": "x"}) == [{"a": 1}, {"a": 2}, {"a": None}]


def test_a_choice_mapped_without_types_stays_as_it_is():
    assert _mapped([("a", "b")], {"a": 1}, {"a": "x"}) == [{"b": 1}, {"b": "x"}]


def test_a_path_leads_through_the_struct_alternative_of_a_choice():
    assert _mapped([("a.b", "long", "b", "long")], {"a": {"b": 1}}, {"a": "x"}) == [{"b": 1}, {"b": None}]


def test_nested_values_keep_their_type():
    record = {"l": [1, 2], "s": {"k": "v"}}
    assert _mapped([("l", "array", "l", "array"), ("s", "struct", "s", "struct")], record) == [record]


def test_a_missing_source_is_a_null_column_of_the_target_type():
    chunk = ApplyMapping([("gone", "string", "a", "double")])(Chunk(batch_from_objects([{"x": 1}])))
    assert chunk.batch.schema == pa.schema([("a", pa.float64())])
    assert list(rows(chunk)) == [{"a": None}]


def test_case_of_source_names_counts_only_when_told_to():
    assert _mapped([("ID", "long", "id", "long")], {"Id": 1}) == [{"id": 1}]
    assert _mapped([("ID", "long", "id", "long")], {"Id": 1}, case_sensitive=True) == [{"id": None}]


def test_an_exact_name_comes_before_one_in_another_case():
    assert _mapped([("id", "long", "id", "long")], {"ID": 1, "id": 2}) == [{"id": 2}]


def test_the_later_of_two_mappings_to_one_target_counts():
    assert _mapped([("a", "x"), ("b", "x")], {"a": 1, "b": 2}) == [{"x": 2}]


def test_a_mapping_that_is_no_tuple_is_a_type_error():
    with pytest.raises(TypeError, match="is not a tuple"):
        ApplyMapping([["a", "b"]])


@pytest.mark.parametrize("entry", [("a",), (), ("a", "b", "c", "d", "e")])
def test_a_mapping_of_another_length_is_a_value_error(entry):
    with pytest.raises(ValueError, match="write 2, 3 or 4"):
        ApplyMapping([entry])


def test_an_unknown_target_type_is_told_before_any_row():
    with pytest.raises(ConfigError, match="'strnig' is not known"):
        ApplyMapping([("a", "string", "a", "strnig")])


def test_a_target_that_is_field_and_struct_at_once_is_refused():
    with pytest.raises(ConfigError, match="target 'a' is both"):
        ApplyMapping([("x", "a"), ("y", "a.b")])


def test_selecting_keeps_the_frames_order_and_ignores_the_unknown():
    assert _after(SelectFields(["c", "a", "zzz"]), {"a": 1, "b": 2, "c": 3}) == [{"a": 1, "c": 3}]


def test_selecting_a_nested_field_keeps_its_struct():
    assert _after(SelectFields(["u.id"]), {"u": {"id": 1, "c": 2}, "x": 1}, {"u": None}) == [
        {"u": {"id": 1}},
        {"u": None},
    ]


def test_selecting_nothing_keeps_the_rows():
    assert _after(SelectFields(["zzz"]), {"a": 1}, {"a": 2}) == [{}, {}]


def test_dropping_removes_nested_fields_and_ignores_the_unknown():
    record = {"a": 1, "u": {"id": 1, "c": 2}, "x.y": 3, "x": {"y": 4}}
    assert _after(DropFields(["a", "u.id", "`x.y`", "zzz", "a.b.c"]), record) == [{"u": {"c": 2}, "x": {"y": 4}}]


def test_dropping_the_last_field_drops_the_struct():
    assert _after(DropFields(["u.v.id"]), {"a": 1, "u": {"v": {"id": 1}}}) == [{"a": 1}]


def test_renaming_keeps_the_place():
    (row,) = _after(RenameField("b", "x"), {"a": 1, "b": 2, "c": 3})
    assert list(row.items()) == [("a", 1), ("x", 2), ("c", 3)]


def test_renaming_reaches_into_structs():
    assert _after(RenameField("u.a", "u.b"), {"u": {"a": 1, "c": 2}}, {"u": None}) == [
        {"u": {"b": 1, "c": 2}},
        {"u": None},
    ]


def test_renaming_to_another_parent_moves_the_field():
    assert _after(RenameField("u.a", "v.w.a"), {"u": {"a": 1, "c": 2}, "v": None}) == [
        {"u": {"c": 2}, "v": {"w": {"a": 1}}}
    ]


def test_moving_into_a_struct_that_is_null_makes_it():
    assert _after(RenameField("a", "u.a"), {"a": 1, "u": {"b": 1}}, {"a": 2}) == [
        {"u": {"b": 1, "a": 1}},
        {"u": {"b": None, "a": 2}},
    ]


def test_renaming_replaces_a_field_of_the_new_name():
    assert _after(RenameField("a", "b"), {"a": 1, "b": 2}) == [{"b": 1}]


def test_renaming_what_is_not_there_changes_nothing():
    assert _after(RenameField("zzz", "b"), {"a": 1}) == [{"a": 1}]


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "`a", "a`b`", "`a`b"])
def test_a_path_that_cannot_be_read_is_refused(text):
    with pytest.raises(ValueError, match="cannot be read"):
        parse_path(text)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a", ("a",)),
        ("a.b", ("a", "b")),
        ("`a.b`.c", ("a.b", "c")),
        ("a.`.b`", ("a", ".b")),
        ("``", ("",)),
        ("$json$", ("$json$",)),
    ],
)
def test_a_path_is_the_names_from_outside_in(text, path):
    assert parse_path(text) == path


def test_filter_keeps_the_records_it_is_true_for():
    assert _after(FilterRows(lambda r: r["a"] > 1 and r.u.id), {"a": 1, "u": {"id": 1}}, {"a": 2, "u": {"id": 1}}) == [
        {"a": 2, "u": {"id": 1}}
    ]


def test_filter_gets_the_value_of_a_choice():
    assert _after(FilterRows(lambda r: r["a"] == "x"), {"a": 1}, {"a": "x"}) == [{"a": "x"}]


@pytest.mark.parametrize("error", [KeyError, ValueError, TypeError])
def test_filter_leaves_out_silently_what_lacks_the_value(error):
    def raises(record):
        raise error

    chunk = FilterRows(raises)(Chunk(batch_from_objects([{"a": 1}])))
    assert (chunk.batch.num_rows, list(chunk.errors)) == (0, [])


def test_filter_keeps_the_schema_when_no_record_is_left():
    batch = batch_from_objects([{"a": 1}])
    assert FilterRows(lambda r: False)(Chunk(batch)).batch.schema == batch.schema


def test_any_other_exception_in_filter_is_an_error_record():
    chunk = FilterRows(lambda r: 1 / r["a"] > 0)(Chunk(batch_from_objects([{"a": 0, "b": None}, {"a": 1}]), [EARLIER]))
    assert list(rows(chunk)) == [{"a": 1, "b": None}]
    assert chunk.errors == [EARLIER, ErrorRecord(b'{"a":0}', "filter_error", "ZeroDivisionError: division by zero")]


def test_map_replaces_records_and_may_change_their_shape():
    def double(record):
        record["a"] *= 2
        record.b = {"c": [str(record.a)]}
        return record

    assert _after(MapRows(double), {"a": 1}, {"a": 2}) == [{"a": 2, "b": {"c": ["2"]}}, {"a": 4, "b": {"c": ["4"]}}]


def test_map_results_that_disagree_become_a_choice():
    assert _after(MapRows(lambda r: {"x": r["a"] if r["a"] > 1 else "one"}), {"a": 1}, {"a": 2}) == [
        {"x": "one"},
        {"x": 2},
    ]


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda r: None, "ValueError: User-specified function returned None instead of DynamicRecord"),
        (lambda r: {}, "ValueError: User-specified function returned None instead of DynamicRecord"),
        (lambda r: [1], "TypeError: the function returned a list instead of a DynamicRecord."),
        (lambda r: r["zzz"], "KeyError: 'zzz'"),
        (
            lambda r: {"x": object()},
            "TypeError: a value of Python's object has no place in a record; use a type that JSON or Glue knows.",
        ),
        (lambda r: {1: 2}, "TypeError: key 1 is not a string; name fields by strings."),
        (lambda r: {"x": 10**400}, "OverflowError: int too large to convert to float"),
    ],
)
def test_what_map_cannot_use_is_an_error_record(f, message):
    step = MapRows(lambda r: {"a": 2} if r["a"] == 2 else f(r))
    chunk = step(Chunk(batch_from_objects([{"a": 1}, {"a": 2}]), [EARLIER]))
    assert list(rows(chunk)) == [{"a": 2}]
    assert chunk.errors == [EARLIER, ErrorRecord(b'{"a":1}', "map_error", message)]


def test_the_error_record_of_map_is_the_record_before_the_function_changed_it():
    def spoil(record):
        record.clear()

    chunk = MapRows(spoil)(Chunk(batch_from_objects([{"a": {"b": 1}}])))
    assert chunk.errors[0].raw == b'{"a":{"b":1}}'


def test_a_record_that_contains_itself_is_an_error_record():
    def knot(record):
        record["a"] = record
        return record

    assert [error.reason for error in MapRows(knot)(Chunk(batch_from_objects([{"a": 1}]))).errors] == ["map_error"]


def test_the_schema_after_steps_is_known_without_rows():
    steps = [
        ApplyMapping([("id", "long", "key", "string"), ("u.name", "string", "who.name", "string"), ("v", "v")]),
        RenameField("key", "k"),
        DropFields(["v"]),
        FilterRows(lambda r: True),
    ]
    schema = batch_from_objects([{"id": 1, "u": {"name": "x"}, "v": [1]}]).schema
    assert output_schema(steps, schema) == pa.schema([("k", pa.string()), ("who", pa.struct([("name", pa.string())]))])


@pytest.mark.parametrize(
    "step",
    [
        ApplyMapping([("a", "long", "b", "string")]),
        SelectFields(["a"]),
        DropFields(["a"]),
        RenameField("a", "b"),
        FilterRows(bool),
        MapRows(dict),
    ],
)
def test_steps_travel_to_workers(step):
    chunk = Chunk(batch_from_objects([{"a": 1, "c": 2}]))
    assert run_steps([pickle.loads(pickle.dumps(step))], chunk).batch.equals(run_steps([step], chunk).batch)


def test_fields_of_a_record_are_attributes_at_any_depth():
    record = DynamicRecord.wrap({"a": {"b": [{"c": 1}]}})
    record.a.d = 2
    del record.a.b[0].c
    assert record == {"a": {"b": [{}], "d": 2}}


def test_an_absent_field_of_a_record_is_an_attribute_error_that_names_those_there_are():
    record = DynamicRecord(a=1, b=2)
    with pytest.raises(AttributeError, match="no field 'c'; it has a, b"):
        _ = record.c
    with pytest.raises(AttributeError, match="no field 'c'; it has a, b"):
        del record.c


def test_a_record_survives_pickling():
    assert isinstance(pickle.loads(pickle.dumps(DynamicRecord(a=1))), DynamicRecord)


def test_values_that_a_mapping_makes_null_are_counted_but_no_blank_texts():
    mappings = [("a", "long", "a", "int"), ("t", "string", "t", "int"), ("gone", "int", "gone", "int")]
    step = ApplyMapping(mappings)
    records = [{"a": 1, "t": "x"}, {"a": "1", "t": " "}, {"a": 2**40, "t": "7"}, {"a": None, "t": None}]
    chunk = step(Chunk(batch_from_objects(records), misfits={"read": 1}))
    assert chunk.misfits == {"read": 1, "a": 2, "t": 1}
    assert MapRows(dict)(chunk).misfits == chunk.misfits
