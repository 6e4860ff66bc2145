from __future__ import annotations

import pyarrow as pa
import pytest

from gluepot.commit.record import CommitRecord
from gluepot.connectors.values import CommitKey
from gluepot.frames.chunk import CHOICE
from gluepot.tables.evolution import column_histories, in_time_order, type_text


def commit(batch_id: int, schema: dict[str, pa.DataType] | None, at: int = 0, query_id: str = "q1") -> CommitRecord:
    recorded = None if schema is None else pa.schema(schema).serialize().to_pybytes()
    return CommitRecord(CommitKey(query_id, batch_id, "sink0"), 1, schema=recorded, committed_at_epoch_ms=at)


def test_a_column_appears_and_changes_in_batches():
    histories = column_histories(
        [
            commit(0, {"a": pa.int32()}),
            commit(1, {"a": pa.int32(), "b": pa.null()}),
            commit(2, None),
            commit(3, {"a": pa.int64(), "b": pa.string()}),
            commit(4, {"b": pa.string()}),
            commit(5, {"a": pa.int32()}),
        ]
    )
    assert {one.name: [(seen.type, seen.key.batch_id) for seen in one.seen] for one in histories} == {
        "a": [("int", 0), ("long", 3), ("int", 5)],
        "b": [("string", 3)],
    }


def test_time_decides_the_order_and_without_times_query_and_batch():
    commits = [
        commit(1, None, 5, "q0"),
        commit(0, None, 9, "q0"),
        commit(7, None, 2, "q1"),
        commit(3, None),
        commit(2, None),
    ]
    assert [one.key.batch_id for one in in_time_order(commits)] == [2, 3, 7, 1, 0]


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (pa.field("a", pa.int64()), "long"),
        (pa.field("a", pa.decimal128(5, 2)), "decimal(5,2)"),
        (pa.field("a", pa.list_(pa.struct({"x": pa.string()}))), "array<struct<x:string>>"),
        (pa.field("a", pa.map_(pa.string(), pa.int32())), "map<string,int>"),
        (pa.field("a", pa.struct({"long": pa.int64(), "string": pa.string()}), metadata=CHOICE), "choice<long,string>"),
        (pa.field("a", pa.duration("us")), "duration[us]"),
    ],
)
def test_types_are_said_in_glues_words(field, text):
    assert type_text(field) == text
