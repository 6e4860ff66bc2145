import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Chunk
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.rows import rows
from gluepot.frames.transforms import DropNulls, SimplifyDdbJson, Unnest, UnnestDdbJson, run_steps
from gluepot.frames.transforms.relationalize import TaskIds, relational_tables

SCALARS = st.none() | st.integers(-9, 9) | st.text("ab", max_size=2)
DOCUMENTS = st.lists(
    st.fixed_dictionaries(
        {
            "k": SCALARS,
            "s": st.none()
            | st.fixed_dictionaries({"x": st.integers(0, 9), "l": st.none() | st.lists(st.integers(0, 9))}),
            "o": st.none()
            | st.lists(
                st.none() | st.fixed_dictionaries({"n": st.integers(0, 9), "t": st.lists(st.text("ab", max_size=1))})
            ),
        }
    ),
    max_size=6,
)


def _chunk(*records):
    return Chunk(batch_from_objects(records))


def _after(step, *records):
    done = step(_chunk(*records))
    done.batch.validate(full=True)
    return list(rows(done))


def test_structs_become_fields_with_dotted_names_at_any_depth():
    assert _after(Unnest(), {"a": 1, "s": {"x": 2, "t": {"y": 3}}}, {"a": 4, "s": None}) == [
        {"a": 1, "s.x": 2, "s.t.y": 3},
        {"a": 4, "s.x": None, "s.t.y": None},
    ]


def test_arrays_stay_and_the_structs_in_them_are_flat():
    assert _after(Unnest(), {"l": [{"x": 1, "s": {"y": 2}}, None], "n": [[1]]}) == [
        {"l": [{"l.val.x": 1, "l.val.s.y": 2}, None], "n": [[1]]}
    ]


def test_a_choice_stays_a_choice():
    assert _after(Unnest(), {"a": {"x": 1}}, {"a": 2}) == [{"a": {"x": 1}}, {"a": 2}]


def test_a_name_that_would_be_there_twice_is_refused():
    with pytest.raises(ConfigError, match=r"second field 's\.x'"):
        Unnest()(_chunk({"s": {"x": 1}, "s.x": 2}))


def test_fields_without_any_value_are_dropped_inside_structs_too():
    record = {"a": None, "b": "", "c": -1, "s": {"x": None, "y": 1}, "l": [{"z": None, "w": 2}], "e": {"x": None}}

    assert _after(DropNulls(), record) == [{"b": "", "c": -1, "s": {"y": 1}, "l": [{"w": 2}], "e": {}}]


def test_a_field_with_one_value_is_kept_in_every_record():
    assert _after(DropNulls(), {"a": None}, {"a": 1}) == [{"a": None}, {"a": 1}]


DDB = {
    "Item": {
        "id": {"S": "x"},
        "n": {"N": "12.50"},
        "flag": {"BOOL": True},
        "none": {"NULL": True},
        "tags": {"SS": ["a", "b"]},
        "list": {"L": [{"S": "a"}, {"M": {"k": {"N": "1"}}}]},
        "map": {"M": {"S": {"S": "a key called S"}, "inner": {"M": {"e": {"NS": ["1"]}}}}},
    },
    "other": 1,
}


def test_typed_values_of_dynamodb_become_plain_ones_at_any_depth():
    assert _after(SimplifyDdbJson(), DDB) == [
        {
            "id": "x",
            "n": "12.50",
            "flag": True,
            "none": None,
            "tags": ["a", "b"],
            "list": ["a", {"k": "1"}],
            "map": {"S": "a key called S", "inner": {"e": ["1"]}},
            "other": 1,
        }
    ]


def test_unnest_takes_maps_apart_and_leaves_lists():
    (row,) = _after(UnnestDdbJson(), DDB)

    assert (row["map.S"], row["map.inner.e"]) == ("a key called S", ["1"])
    assert row["list"] == [{"S": "a", "M": None}, {"S": None, "M": {"k": {"N": "1"}}}]


def test_an_attribute_of_several_types_becomes_a_choice():
    records = [{"Item": {"a": {"S": "x"}}}, {"Item": {"a": {"BOOL": True}}}, {"Item": {"a": {"N": "1"}}}, {"Item": {}}]

    assert _after(SimplifyDdbJson(), *records) == [{"a": "x"}, {"a": True}, {"a": "1"}, {"a": None}]


def _tables(*records, task=0):
    tables = relational_tables(batch_from_objects(records), "r", TaskIds(task))
    for table in tables.values():
        table.validate(full=True)
    return {name: table.to_pylist() for name, table in tables.items()}


def test_arrays_become_tables_that_the_root_has_keys_of():
    assert _tables(
        {"a": 1, "l": [{"x": 1}, {"x": 2}]}, {"a": 2, "l": []}, {"a": 3, "l": None}, {"a": 4, "l": [None]}
    ) == {
        "r": [{"a": 1, "l": 0}, {"a": 2, "l": 1}, {"a": 3, "l": None}, {"a": 4, "l": 2}],
        "r_l": [
            {"id": 0, "index": 0, "l.val.x": 1},
            {"id": 0, "index": 1, "l.val.x": 2},
            {"id": 2, "index": 0, "l.val.x": None},
        ],
    }


def test_arrays_of_scalars_and_of_arrays_have_one_value_field():
    assert _tables({"l": [[1, 2], [3]]}) == {
        "r": [{"l": 0}],
        "r_l": [{"id": 0, "index": 0, "l.val": 0}, {"id": 0, "index": 1, "l.val": 1}],
        "r_l.val": [
            {"id": 0, "index": 0, "l.val.val": 1},
            {"id": 0, "index": 1, "l.val.val": 2},
            {"id": 1, "index": 0, "l.val.val": 3},
        ],
    }


def test_a_choice_becomes_text():
    assert _tables({"a": 1}, {"a": "x"}) == {"r": [{"a": "1"}, {"a": "x"}]}


def test_the_entries_of_a_map_are_elements():
    column = pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64()))
    tables = relational_tables(pa.RecordBatch.from_arrays([column], ["m"]), "r", TaskIds(0))

    assert tables["r_m"].to_pylist() == [{"id": 0, "index": 0, "m.val.key": "k", "m.val.value": 1}]


def test_ids_go_on_from_chunk_to_chunk_and_differ_from_task_to_task():
    batch = batch_from_objects([{"l": [1]}, {"l": [2]}])
    first, second = TaskIds(0), TaskIds(1)
    keys = [
        key for ids in (first, first, second) for key in relational_tables(batch, "r", ids)["r"].column("l").to_pylist()
    ]

    assert len(set(keys)) == 6


def test_a_slice_of_a_batch_gives_the_tables_of_its_rows():
    batch = batch_from_objects([{"l": [{"x": [1]}]}, {"l": [{"x": [2, 3]}, {"x": []}]}]).slice(1)
    tables = relational_tables(batch, "r", TaskIds(0))

    assert [row["l.val.x.val"] for row in tables["r_l.val.x"].to_pylist()] == [2, 3]
    assert tables["r_l"].num_rows == 2


@given(DOCUMENTS)
def test_tables_joined_again_give_the_records_they_came_from(documents):
    tables = _tables(*documents)

    def elements(table, key):
        found = sorted((row for row in tables.get(table, []) if row["id"] == key), key=lambda row: row["index"])
        return None if key is None else found

    for record, row in zip(documents, tables["r"], strict=True):
        struct = record["s"] or {"x": None, "l": None}
        assert row.get("s.x") == struct["x"]
        values = elements("r_s.l", row.get("s.l"))
        assert (None if values is None else [one.get("s.l.val") for one in values]) == struct["l"]
        objects = elements("r_o", row.get("o"))
        assert (objects is None) == (record["o"] is None)
        for one, wanted in zip(objects or [], record["o"] or [], strict=True):
            assert one.get("o.val.n") == (wanted and wanted["n"])
            texts = elements("r_o.val.t", one.get("o.val.t"))
            assert (None if texts is None else [text.get("o.val.t.val") for text in texts]) == (wanted and wanted["t"])


def test_steps_run_in_order_and_keep_the_rows():
    assert list(rows(run_steps([DropNulls(), Unnest()], _chunk({"s": {"x": 1, "y": None}})))) == [{"s.x": 1}]
