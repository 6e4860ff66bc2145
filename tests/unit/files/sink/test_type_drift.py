"""A column that changes its type from batch to batch: readers go on, and no value is lost."""

from __future__ import annotations

import base64
import datetime as dt
import json
import pickle
from collections import Counter
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from gluepot.connectors.files.sink.drift import Drift, DriftPolicy, Layout
from gluepot.connectors.files.sink.drift.layout import TableColumn
from gluepot.core.errors import ConfigError
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.schema import choice_field
from tests.unit.files.sink.drifting import Table

BIG = 2**53 + 1
NO_FIELDS = {"n": None, "l": None}


@pytest.fixture
def table(tmp_path):
    return lambda policy="widen", **by_column: Table.of(tmp_path / "table", policy, **by_column)


def test_what_fits_is_written_as_it_is(table):
    one = table()
    one.write([{"id": 1, "v": 1}])
    one.write([{"id": 2, "v": 2}, {"id": 3}])
    assert one.rows() == [{"id": 1, "v": 1}, {"id": 2, "v": 2}, {"id": 3}]


def test_columns_with_other_names_than_their_fields_are_named_when_they_are_new(table):
    one = table()
    told = []
    for rows in ([{"v": 1}], [{"v": "x", "n": {"a": 1, "A": 2}}], [{"v": "y", "n": {"a": 1, "A": 2}}], [{"v": 2}]):
        with capture_logs() as logs:
            one.write(rows)
        told.append([line["names"] for line in logs if line["event"] == "columns_renamed"])
    assert told == [[], [{"v_string": "v", "n.A_1": "A"}], [], []]


def test_a_narrower_number_is_widened(table):
    one = table()
    one.write([{"id": 1, "v": 0.5}])
    one.write([{"id": 2, "v": 3}])
    assert one.rows() == [{"id": 1, "v": 0.5}, {"id": 2, "v": 3.0}]
    assert one.spark_can_merge()


def test_a_number_that_would_lose_digits_gets_a_column_of_its_own(table):
    one = table()
    one.write([{"id": 1, "v": 0.5}])
    one.write([{"id": 2, "v": 3}, {"id": 3, "v": BIG}])
    assert one.rows() == [{"id": 1, "v": 0.5}, {"id": 2, "v": 3.0}, {"id": 3, "v_long": BIG}]


def test_a_date_becomes_the_first_instant_of_its_day(table):
    one = table()
    one.write(pa.record_batch({"id": [1], "v": pa.array([0], pa.timestamp("us", "UTC"))}))
    one.write(pa.record_batch({"id": [2], "v": pa.array([dt.date(2026, 11, 21)])}))
    assert one.rows()[1]["v"].isoformat() == "2026-11-21T00:00:00+00:00"
    assert one.spark_can_merge()


@pytest.mark.parametrize("policy", ["widen", "columns"])
def test_the_first_type_keeps_the_name_and_others_stand_beside_it(table, policy):
    one = table(policy)
    one.write([{"id": 1, "v": 1}])
    one.write([{"id": 2, "v": "many"}])
    one.write([{"id": 3, "v": True}])
    one.write([{"id": 4, "v": "more"}, {"id": 5, "v": "most"}])
    assert one.rows() == [
        {"id": 1, "v": 1},
        {"id": 2, "v_string": "many"},
        {"id": 3, "v_boolean": True},
        {"id": 4, "v_string": "more"},
        {"id": 5, "v_string": "most"},
    ]
    assert one.spark_can_merge()


def test_columns_does_not_widen(table):
    one = table("columns")
    one.write([{"id": 1, "v": 0.5}])
    one.write([{"id": 2, "v": 3}])
    assert one.rows() == [{"id": 1, "v": 0.5}, {"id": 2, "v_long": 3}]


def test_string_keeps_everything_else_as_text_in_one_column(table):
    one = table("string")
    one.write([{"id": 1, "v": 1}])
    one.write([{"id": 2, "v": "many"}])
    one.write([{"id": 3, "v": {"a": [True]}}])
    assert one.rows() == [{"id": 1, "v": 1}, {"id": 2, "v_string": "many"}, {"id": 3, "v_string": '{"a":[true]}'}]


def test_a_column_of_strings_takes_in_the_text_of_everything(table):
    one = table("string")
    one.write([{"id": 1, "v": "a"}])
    one.write([{"id": 2, "v": 5}])
    assert one.rows() == [{"id": 1, "v": "a"}, {"id": 2, "v": "5"}]


def test_rescue_keeps_what_does_not_fit_in_one_json_column(table):
    one = table("rescue")
    one.write([{"id": 1, "v": 1, "w": "a"}])
    one.write([{"id": 2, "v": "many", "w": 5}, {"id": 3, "v": None, "w": 6}])
    one.write([{"id": 4, "v": 4, "w": "d"}])
    rows = one.rows()
    assert [json.loads(row["_rescued"]) for row in rows if "_rescued" in row] == [{"v": "many", "w": 5}, {"w": 6}]
    assert rows[3] == {"id": 4, "v": 4, "w": "d"}


def test_reject_turns_the_whole_record_away(table):
    one = table("reject")
    one.write([{"id": 1, "v": 1, "w": 1}])
    (part,) = one.write([{"id": 2, "v": "many", "w": "x"}, {"id": 3, "v": None, "w": 3}])
    assert one.rows() == [{"id": 1, "v": 1, "w": 1}, {"id": 3, "w": 3}]
    assert (part.rows_out, part.rejected) == (1, {"type_drift": 1})
    (reject,) = one.rejects()
    assert json.loads(reject["raw"]) == {"id": 2, "v": "many", "w": "x"}
    assert reject["message"] == "Field v is long in the table and string in the record."


def test_a_batch_of_which_every_record_is_turned_away_writes_no_file(table):
    one = table("reject")
    one.write([{"id": 1, "v": 1}])
    (part,) = one.write([{"id": 2, "v": "many"}])
    assert (part.rows_out, part.rejected, len(one.files)) == (0, {"type_drift": 1}, 1)


def test_each_column_may_have_a_policy_of_its_own(table):
    one = table("columns", w="string")
    one.write([{"id": 1, "v": 1, "w": "a"}])
    one.write([{"id": 2, "v": "x", "w": 5}])
    assert one.rows() == [{"id": 1, "v": 1, "w": "a"}, {"id": 2, "v_string": "x", "w": "5"}]


def test_fields_that_disagree_within_one_batch_are_told_apart_record_by_record(table):
    one = table()
    one.write([{"id": 1, "v": 1}])
    decoder = JsonDecoder()
    chunk = decoder.decode([b'{"id":2,"v":2}', b'{"id":3,"v":"x"}', b'{"id":4,"v":[1]}'], range(3), "t", "0")
    one.write(chunk.batch)
    assert one.rows() == [{"id": 1, "v": 1}, {"id": 2, "v": 2}, {"id": 3, "v_string": "x"}, {"id": 4, "v_array": [1]}]


def test_a_column_that_began_as_a_mixture_stays_text_for_everything(table):
    one = table()
    one.write(JsonDecoder().decode([b'{"id":1,"v":1}', b'{"id":2,"v":"x"}'], range(2), "t", "0").batch)
    one.write([{"id": 3, "v": 3}])
    assert one.rows() == [{"id": 1, "v": "1"}, {"id": 2, "v": "x"}, {"id": 3, "v": "3"}]
    assert one.spark_can_merge()


def test_structs_grow_where_they_are_at_any_depth(table):
    one = table()
    one.write([{"id": 1, "s": {"a": 1, "l": [{"x": 1}]}}])
    one.write([{"id": 2, "s": {"b": "x", "l": [{"y": 2}]}}])
    assert one.rows()[0]["s"] == {"a": 1, "b": None, "l": [{"x": 1, "y": None}]}
    assert one.rows()[1]["s"] == {"a": None, "b": "x", "l": [{"x": None, "y": 2}]}
    assert one.spark_can_merge()


def test_a_struct_whose_field_changes_its_type_goes_on_beside_the_old_one(table):
    one = table()
    one.write([{"id": 1, "s": {"a": 1}}])
    one.write([{"id": 2, "s": {"a": "x"}}])
    one.write([{"id": 3, "s": {"a": True}}])
    one.write([{"id": 4, "s": {"a": "y", "b": 1}}])
    assert one.rows() == [
        {"id": 1, "s": {"a": 1}},
        {"id": 2, "s_struct": {"a": "x", "b": None}},
        {"id": 3, "s_struct_2": {"a": True}},
        {"id": 4, "s_struct": {"a": "y", "b": 1}},
    ]


def test_a_user_column_of_a_drift_columns_name_is_not_mixed_up_with_it(table):
    one = table()
    one.write([{"id": 1, "v": 1}])
    one.write([{"id": 2, "v": "drifted"}])
    one.write([{"id": 3, "v": "drifted", "v_string": "own"}])
    assert one.rows() == [
        {"id": 1, "v": 1},
        {"id": 2, "v_string": "drifted"},
        {"id": 3, "v_string": "drifted", "v_string_1": "own"},
    ]


@pytest.mark.parametrize("names", [("id2", "ID2"), ("Name", "name"), ("NAME", "Name")])
def test_names_that_differ_by_case_only_from_batch_to_batch_are_two_columns(table, names):
    one = table()
    first, second = names
    one.write([{"id": 1, first: 1}])
    one.write([{"id": 2, second: 2}])
    one.write([{"id": 3, first: 3, second: 4}])
    assert one.rows() == [{"id": 1, first: 1}, {"id": 2, f"{second}_1": 2}, {"id": 3, first: 3, f"{second}_1": 4}]
    assert one.spark_can_merge()


def test_partition_keys_may_change_their_type(tmp_path):
    one = Table(tmp_path / "table", keys=("day",))
    one.write([{"id": 1, "day": 1}])
    one.write([{"id": 2, "day": "one"}])
    assert {path.parent.name for path in (tmp_path / "table").rglob("*.parquet")} == {"day=1", "day=one"}


def test_a_null_column_says_nothing_about_its_type(table):
    one = table("reject")
    one.write([{"id": 1, "v": None}])
    one.write([{"id": 2, "v": "x"}])
    one.write(pa.record_batch({"id": [3], "v": pa.array([None], pa.int64())}))
    assert one.rows() == [{"id": 1}, {"id": 2, "v": "x"}, {"id": 3}]


def test_an_empty_list_has_the_type_that_the_table_knows(table):
    one = table()
    one.write([{"id": 1, "l": ["x"], "s": {"n": 1, "l": [1]}}])
    one.write([{"id": 2, "l": [], "s": {"n": 2, "l": []}}])
    one.write([{"id": 3, "l": [None], "s": {}}])
    assert one.runs == 3
    assert one.rows()[1:] == [{"id": 2, "l": [], "s": {"n": 2, "l": []}}, {"id": 3, "l": [None], "s": NO_FIELDS}]


def test_tasks_run_again_if_another_knows_the_type_of_an_empty_list(table):
    one = table()
    one.write([{"id": 1, "s": {"l": []}}], [{"id": 2, "s": {"l": [{"a": 1}]}}], [{"id": 3, "s": {"n": 3}}])
    assert one.runs == 2
    assert one.rows()[0] == {"id": 1, "s": {"l": [], "n": None}}


def test_an_empty_list_of_which_nobody_knows_the_type_is_null_and_keeps_no_place(table):
    one = table()
    parts = one.write([{"id": 1, "l": []}], [{"id": 2, "l": [None], "s": {"n": 1, "l": {}}}])
    lost = sum((Counter(part.untyped_values) for part in parts), Counter())
    one.write([{"id": 3, "l": "text", "s": {"n": 2, "l": "text"}}])
    assert one.runs == 2
    assert lost == {"l": 2, "s": 1}
    assert one.rows() == [
        {"id": 1},
        {"id": 2, "s": {"n": 1, "l": None}},
        {"id": 3, "l": "text", "s": {"n": 2, "l": "text"}},
    ]


def test_fields_inside_that_differ_by_case_only_keep_their_names_from_write_to_write(table):
    one = table()
    one.write([{"id": 1, "s": {"V": "x"}}], [{"id": 2, "s": {"V": "y", "l": [{"k": 1}]}}])
    one.write([{"id": 3, "s": {"v": 3}}])
    one.write([{"id": 4, "s": {"V": "z", "l": [{"K": True}]}}], [{"id": 5, "s": {"v": 5, "V": None}}])
    without = {"v_1": None, "l": None}
    assert [row["s"] for row in one.rows()] == [
        {"V": "x", **without},
        {"V": "y", "v_1": None, "l": [{"k": 1, "K_1": None}]},
        {"V": None, "v_1": 3, "l": None},
        {"V": "z", "v_1": None, "l": [{"k": None, "K_1": True}]},
        {"V": None, "v_1": 5, "l": None},
    ]
    assert one.spark_can_merge()
    assert one.runs == 3


def test_tasks_run_again_if_they_would_name_a_field_inside_differently(table):
    one = table()
    one.write([{"id": 1, "s": {"V": "x"}}], [{"id": 2, "s": {"v": 2}}])
    assert [row["s"] for row in one.rows()] == [{"v": None, "V_1": "x"}, {"v": 2, "V_1": None}]
    assert one.runs == 2


def test_tasks_that_agree_run_once(table):
    one = table()
    one.write([{"id": 1, "v": 1}], [{"id": 2, "s": {"a": 1}}], [{"id": 3, "s": {"b": 1}}])
    assert one.runs == 1
    assert one.spark_can_merge()


def test_tasks_that_bring_numbers_of_two_kinds_run_again_and_widen(table):
    one = table("columns")
    one.write([{"id": 1, "v": 1}], [{"id": 2, "v": 0.5}])
    assert one.runs == 2
    assert one.rows() == [{"id": 1, "v": 1.0}, {"id": 2, "v": 0.5}]


def test_tasks_that_bring_a_mixture_run_again_and_write_text(table):
    one = table("reject")
    one.write([{"id": 1, "v": 1}], [{"id": 2, "v": "x"}], [{"id": 3}])
    assert one.runs == 2
    assert one.rows() == [{"id": 1, "v": "1"}, {"id": 2, "v": "x"}, {"id": 3}]
    one.write([{"id": 4, "v": 4}])
    assert one.rows()[3] == {"id": 4, "v": "4"}


def test_tasks_that_bring_a_mixture_within_a_struct_run_again(table):
    one = table()
    one.write([{"id": 1, "s": {"a": 1}}], [{"id": 2, "s": {"a": "x"}}])
    assert one.rows() == [{"id": 1, "s": {"a": "1"}}, {"id": 2, "s": {"a": "x"}}]
    assert one.spark_can_merge()


def test_tasks_that_name_a_column_differently_run_again(table):
    """In one task `v_string` is a field of the user's, in the other the name is free."""
    one = table()
    one.write([{"id": 1, "v": 1}])
    one.write([{"id": 2, "v": "drifted"}], [{"id": 3, "v": "drifted", "v_string": "own"}])
    assert one.rows() == [
        {"id": 1, "v": 1},
        {"id": 2, "v_string_1": "drifted"},
        {"id": 3, "v_string_1": "drifted", "v_string": "own"},
    ]


def test_a_batch_written_again_from_the_same_history_gives_the_same_files(tmp_path):
    tables = [Table(tmp_path / name) for name in "ab"]
    for one in tables:
        one.write([{"id": 1, "v": 1}])
        one.write([{"id": 2, "v": "x"}], [{"id": 3, "v": [1], "w": 1}], [{"id": 4, "w": "y"}])
    contents = [{Path(file).name: Path(file).read_bytes() for file in one.files} for one in tables]
    assert contents[0] == contents[1]


def test_rows_in_the_tables_columns_are_passed_on_untouched(table):
    from gluepot.connectors.files.sink.drift import Resolver

    resolver = Resolver(DriftPolicy(), Layout(), Layout(), ())
    first = pa.RecordBatch.from_pylist([{"id": 1, "v": "x"}])
    assert resolver.resolve(first) == (first, ())
    again = pa.RecordBatch.from_pylist([{"id": 2, "v": "y"}])
    assert resolver.resolve(again)[0] is again


def test_a_layout_survives_its_bytes():
    layout = Layout.from_bytes(pa.schema([pa.field("v", pa.int64())]).serialize().to_pybytes())
    again = Layout.from_bytes(layout.to_bytes())
    assert again == layout
    assert again.plain("v").name == "v"


@pytest.mark.parametrize(
    ("options", "said"), [({"typeDrift": "widn"}, "Did you mean 'widen'"), ({"typeDrift.v": 5}, "typeDrift.v is 5")]
)
def test_a_policy_that_is_none_is_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        DriftPolicy.from_options(options)


def test_policies_are_read_from_the_format_options():
    policy = DriftPolicy.from_options({"typeDrift": "Columns", "typeDrift.price": "string", "compression": "zstd"})
    assert (policy.of("price"), policy.of("other")) == (Drift.STRING, Drift.COLUMNS)


SAMPLES = {
    "boolean": pa.array([True, False]),
    "byte": pa.array([1, -128], pa.int8()),
    "int": pa.array([7, -(2**31)], pa.int32()),
    "long": pa.array([5, BIG]),
    "float": pa.array([0.5, 2.0], pa.float32()),
    "double": pa.array([1.25, 1e300]),
    "decimal": pa.array([Decimal("1.50"), Decimal("-99.99")], pa.decimal128(10, 2)),
    "decimal3": pa.array([Decimal("1.125"), Decimal("9.999")], pa.decimal128(10, 3)),
    "date": pa.array([dt.date(2026, 11, 21), dt.date(1970, 1, 1)]),
    "timestamp": pa.array([1_000_001, 2_000_000], pa.timestamp("us", "UTC")),
    "local": pa.array([1_000_001, 2_000_000], pa.timestamp("us")),
    "string": pa.array(["5", "x"]),
    "binary": pa.array([b"\x00\xff", b"5"]),
    "struct": pa.array([{"a": 1}, {"a": 2}]),
    "struct2": pa.array([{"a": "x"}, {"a": "y"}]),
    "struct3": pa.array([{"b": True}, {"b": False}]),
    "list": pa.array([[1, 2], []]),
    "list2": pa.array([["x"], ["y", None]]),
    "list3": pa.array([[{"a": 1}], [{"a": 2}]]),
    "map": pa.array([[("k", 1)], [("l", 2)]], pa.map_(pa.string(), pa.int64())),
}


def canonical(value):
    """A value in a form that does not depend on the column it was found in: text, number, time stamp or JSON."""
    match value:
        case None | bool():
            return str(value).lower()
        case dict():
            return {name: canonical(inner) for name, inner in sorted(value.items()) if inner is not None}
        case list() if value and isinstance(value[0], tuple):
            return canonical(dict(value))
        case list():
            return [canonical(inner) for inner in value]
        case bytes():
            return base64.b64encode(value).decode()
        case dt.datetime():
            return value.replace(tzinfo=None).isoformat()
        case dt.date():
            return dt.datetime.combine(value, dt.time()).isoformat()
        case int() | float() | Decimal():
            return str(Decimal(str(value)).normalize())
    for read in (Decimal, dt.datetime.fromisoformat, json.loads):
        with suppress(ValueError, ArithmeticError):
            return canonical(read(value))
    return value


def readings(value):
    """What a value may stand for: itself, or what a rescued object holds."""
    found = canonical(value)
    yield found
    if isinstance(found, dict) and "v" in found:
        yield found["v"]


def assert_nothing_is_lost(folder, policy, first, second, *, in_one_batch):
    """Write two types of one column, as batches or as tasks of one batch, and look for each value."""
    one = Table.of(folder, policy)
    batches = [
        pa.record_batch({"id": [0, 1], "v": SAMPLES[first]}),
        pa.record_batch({"id": [2, 3], "v": SAMPLES[second]}),
    ]
    if in_one_batch:
        one.write(*batches)
    else:
        for batch in batches:
            one.write(batch)

    assert one.spark_can_merge()
    rows = [*one.rows(), *(json.loads(reject["raw"]) for reject in one.rejects())]
    assert sorted(row["id"] for row in rows) == [0, 1, 2, 3]
    assert all(len(row) == 2 for row in rows)  # the id and one value, under whatever name
    values = [next(value for name, value in row.items() if name != "id") for row in sorted(rows, key=lambda r: r["id"])]
    for value, original in zip(values, [*SAMPLES[first].to_pylist(), *SAMPLES[second].to_pylist()], strict=True):
        assert canonical(original) in list(readings(value))


@pytest.mark.parametrize("policy", [one.value for one in Drift])
@given(first=st.sampled_from(sorted(SAMPLES)), second=st.sampled_from(sorted(SAMPLES)), in_one_batch=st.booleans())
@settings(
    max_examples=3 * settings.default.max_examples // 20, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_after_a_change_of_type_every_value_is_there_once_and_readers_merge_the_files(
    tmp_path_factory, policy, first, second, in_one_batch
):
    assert_nothing_is_lost(tmp_path_factory.mktemp("drift"), policy, first, second, in_one_batch=in_one_batch)


@pytest.mark.long
@pytest.mark.parametrize("policy", [one.value for one in Drift])
@pytest.mark.parametrize("first", SAMPLES)
def test_all_pairs_of_types_in_both_orders_lose_nothing(tmp_path, policy, first):
    for second in SAMPLES:
        assert_nothing_is_lost(tmp_path / f"{second} later", policy, first, second, in_one_batch=False)
        if first <= second:  # tasks of one batch have no order
            assert_nothing_is_lost(tmp_path / f"{second} beside", policy, first, second, in_one_batch=True)


def test_a_longer_history_reads_only_what_was_added_to_a_known_one(monkeypatch):
    history = [Layout((TableColumn(pa.field(f"folded_{n}", pa.int64()), f"folded_{n}"),)).to_bytes() for n in range(9)]
    Layout.folded(history[:8])
    read = []
    monkeypatch.setattr(Layout, "from_bytes", lambda data: read.append(data) or Layout())

    Layout.folded(history)

    assert read == history[8:]


def test_what_one_history_has_made_is_no_part_of_another():
    number, text, other = (
        Layout((TableColumn(pa.field(name, kind), name),)).to_bytes()
        for name, kind in [("forked", pa.int64()), ("forked_text", pa.string()), ("forked_too", pa.bool_())]
    )

    assert Layout.folded([number, text]).names == ["forked", "forked_text"]
    assert Layout.folded([number, other]).names == ["forked", "forked_too"]
    assert Layout.folded([number]).names == ["forked"]
    assert Layout.folded([]).names == []


def test_a_layout_travels_to_tasks_unchanged():
    layout = Layout(
        (
            TableColumn(choice_field("price", [pa.field("", pa.int64()), pa.field("", pa.string())]), "price"),
            TableColumn(pa.field("price_string", pa.string()), "price", "string"),
            TableColumn(pa.field("_rescued", pa.string()), "", "rescued"),
        )
    )

    assert pickle.loads(pickle.dumps(layout)) == layout
