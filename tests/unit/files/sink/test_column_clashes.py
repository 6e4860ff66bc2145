from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.files.sink.clashes import new_names, without_clashes

NAMES = st.lists(st.text("aAbB_1é", min_size=1, max_size=4), unique=True, max_size=8)


@given(NAMES, NAMES)
def test_no_two_names_are_equal_when_case_is_ignored(names, taken):
    chosen = [name.lower() for name in new_names(names, taken)]
    assert len(set(chosen)) == len(names)
    assert not set(chosen) & {name.lower() for name in taken}


@given(NAMES.flatmap(lambda names: st.tuples(st.just(names), st.permutations(names))))
def test_a_new_name_does_not_depend_on_the_order_of_columns(both):
    names, shuffled = both
    assert dict(zip(names, new_names(names), strict=True)) == dict(zip(shuffled, new_names(shuffled), strict=True))


def test_the_name_in_lower_case_stays():
    assert new_names(["ID", "id", "Id"]) == ["ID_1", "id", "Id_2"]


def test_a_new_name_avoids_those_there_are():
    assert new_names(["A", "a", "A_1"]) == ["A_2", "a", "A_1"]


def test_a_column_named_as_a_partition_key_is_renamed():
    assert without_clashes(pa.record_batch({"Day": [1]}), ["day"]).schema.names == ["Day_1"]


def test_a_batch_without_clashes_is_returned_as_it_is():
    batch = pa.record_batch({"a": [1], "b": [{"c": 1}]})
    assert without_clashes(batch) is batch


def test_clashes_at_any_depth_are_renamed_and_values_stay():
    inner = pa.struct([("x", pa.int64()), ("X", pa.string())])
    rows = [[{"x": 1, "X": "a"}, None], None, [], [{"x": None, "X": "b"}]]
    batch = pa.record_batch(
        {
            "items": pa.array(rows, pa.list_(inner)),
            "m": pa.array([[("k", rows[0][0])]] * 4, pa.map_(pa.string(), inner)),
        }
    )
    sliced = without_clashes(batch.slice(1))
    assert sliced["items"].to_pylist() == [None, [], [{"x": None, "X_1": "b"}]]
    assert sliced["m"].to_pylist() == [[("k", {"x": 1, "X_1": "a"})]] * 3
