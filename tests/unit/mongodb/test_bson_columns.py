"""Columns as BSON: the bytes are those that each row alone would give, and what has no such form is left to rows."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from gluepot.connectors.documents.rows import DocumentRows
from gluepot.connectors.mongodb.bson_columns import upserts
from gluepot.connectors.mongodb.bson_values import upsert
from gluepot.frames.chunk import Chunk

TIMES = some.datetimes(datetime(1800, 1, 1), datetime(3000, 1, 1))
VALUES = {
    pa.string(): some.text(some.characters(exclude_categories=["Cs"]), max_size=8),
    pa.binary(): some.binary(max_size=8),
    pa.bool_(): some.booleans(),
    pa.int16(): some.integers(-(2**15), 2**15 - 1),
    pa.int64(): some.integers(-(2**63), 2**63 - 1) | some.integers(-5, 5),
    pa.uint32(): some.integers(0, 2**32 - 1),
    pa.float64(): some.floats(),
    pa.float32(): some.floats(width=32),
    pa.date32(): some.dates(date(1800, 1, 1), date(3000, 1, 1)),
    pa.timestamp("us"): TIMES,
    pa.timestamp("ms", "UTC"): TIMES.map(lambda one: one.replace(microsecond=0, tzinfo=UTC)),
    pa.timestamp("s"): TIMES.map(lambda one: one.replace(microsecond=0)),
    pa.null(): some.none(),
}
ROWS = 4


def ids(count):
    return [f"{n:032x}" for n in range(count)]


@some.composite
def batches(draw):
    kinds = draw(some.lists(some.sampled_from([*VALUES]), max_size=4))
    columns = [draw(some.lists(some.none() | VALUES[kind], min_size=ROWS, max_size=ROWS)) for kind in kinds]
    arrays = [pa.array(values, kind) for values, kind in zip(columns, kinds, strict=True)]
    schema = pa.schema([(f"ä{at}", kind) for at, kind in enumerate(kinds)])
    if not arrays:
        return pa.record_batch({"n": pa.array([None] * ROWS, pa.int8())})
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@given(batches())
def test_columns_give_the_bytes_that_the_rows_give(batch):
    made = upserts(batch.slice(1), ids(ROWS - 1))
    rows = DocumentRows(Chunk(batch.slice(1)), ids(ROWS - 1))
    assert made.to_pylist() == [upsert(one.fields, one.id, replaces=True).raw for one in rows]


@pytest.mark.parametrize(
    "columns",
    [
        {"_id": pa.array(["a"])},
        {"a\0b": pa.array([1])},
        {"n": pa.array([2**63], pa.uint64())},
        {"d": pa.array([Decimal("1.5")])},
        {"s": pa.array([{"a": 1}])},
        {"t": pa.array(["x" * (16 << 20)])},
    ],
)
def test_what_columns_cannot_give_is_left_to_rows(columns):
    assert upserts(pa.record_batch(columns), ids(1)) is None


def test_an_id_of_another_length_is_left_to_rows():
    assert upserts(pa.record_batch({"n": pa.array([1])}), ["own"]) is None
    twice = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["n", "n"])
    assert upserts(twice, ids(1)) is None
