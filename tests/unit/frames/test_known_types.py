"""Values without a type get the type that their table has for them, and no other value changes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import columns_of
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.schema import is_storable, untyped_values
from gluepot.frames.transforms import KnownTypes

TYPES = {
    "l": pa.list_(pa.int32()),
    "s": pa.struct([("n", pa.int32()), ("L", pa.list_(pa.struct([("k", pa.string())])))]),
    "m": pa.map_(pa.string(), pa.list_(pa.int32())),
}


def typed(*records: dict[str, object]) -> pa.RecordBatch:
    batch = KnownTypes(TYPES)(Chunk(batch_from_objects(records))).batch
    batch.validate(full=True)
    return batch


@pytest.mark.parametrize(
    "value",
    [{"l": []}, {"l": [None]}, {"s": {}}, {"s": {"n": None}}, {"s": {"n": 1, "L": []}}, {"s": {"L": [{}, None]}}],
    ids=str,
)
def test_values_without_a_type_can_be_stored(value):
    batch = typed(value)
    assert all(is_storable(field.type) for field in batch.schema)
    (row,) = batch.to_pylist()
    assert KnownTypes({})(Chunk(batch_from_objects([value]))).batch.to_pylist() == [value]
    assert {name: _without_none(one) for name, one in row.items()} == {
        name: _without_none(one) for name, one in value.items()
    }


def test_types_that_values_have_stay_and_so_do_columns_of_nulls():
    batch = typed({"l": ["a"], "s": {"L": []}, "m": None, "other": []})
    assert batch.schema.field("l").type == pa.list_(pa.string())
    assert batch.schema.field("m").type == pa.null()
    assert batch.schema.field("other").type == pa.list_(pa.null())


def test_names_of_a_catalog_are_in_lower_case():
    assert typed({"L": []}).schema.field("L").type == TYPES["l"]


def test_a_choice_with_an_empty_list_stays():
    batch = typed({"l": []}, {"l": "text"})
    assert batch.schema.equals(batch_from_objects([{"l": []}, {"l": "text"}]).schema, check_metadata=True)


@pytest.mark.parametrize(
    ("records", "lost"),
    [
        ([{"v": []}, {"v": None}, {"v": [None]}], 2),
        ([{"v": {}}], 1),
        ([{"v": {"n": 1, "l": []}}, {"v": {"n": 1, "l": None}}], 1),
        ([{"v": [{"n": 1, "l": {}}, {"n": 2, "l": {}}]}], 2),
        ([{"v": None}], 0),
        ([{"v": [1]}, {"v": []}], 0),
    ],
)
def test_values_that_are_lost_because_they_have_no_type_are_counted(records, lost):
    (column,) = columns_of(batch_from_objects(records))
    assert untyped_values(column) == lost


def _without_none(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_none(one) for name, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, list) else value
