"""What the code of a function tells of the fields it looks at; a wrong guess would be a wrong filter."""

from __future__ import annotations

import re
from functools import partial

import pyarrow as pa
import pytest

from gluepot.frames.chunk import Chunk
from gluepot.frames.transforms import FilterRows
from gluepot.frames.transforms.fields_read import fields_read

LIMIT = 3


def by_name(record):
    if record["a"] > LIMIT:
        return record.b == "x" or bool(re.match("y", record["b"]))
    return record["c"]["d"] is not None


def reassigned(record):
    record = dict(record)
    return record["a"]


def changed(record):
    record["a"] = 1
    return record["a"]


def closed_over(record):
    return any(record["a"] == one for one in (1, 2))


def handed_on(record):
    return by_name(record)


def seen_as_locals(record):
    return locals()["record"]["a"] and record["b"]


def deleted(record):
    del record["a"]
    return True


@pytest.mark.parametrize(
    ("function", "fields"),
    [
        (by_name, {"a", "b", "c"}),
        (lambda row: row["a"] > 0 and row["b"] == "x", {"a", "b"}),
        (lambda row: bool(re.match("x", row["a"])) and row["b"] is not None, {"a", "b"}),
        (lambda _: True, set()),
        (lambda row, least=LIMIT: row["a"] > least, {"a"}),
        (lambda row: [row["a"], row["a"]], {"a"}),
    ],
)
def test_fields_that_are_named_are_told(function, fields):
    assert fields_read(function) == fields


@pytest.mark.parametrize(
    "function",
    [
        reassigned,
        changed,
        closed_over,
        handed_on,
        seen_as_locals,
        deleted,
        len,
        partial(by_name),
        lambda row: "a" in row,
        lambda row: row.get("a"),
        lambda row: row.items,
        lambda row: {**row},
        lambda row: row[LIMIT],
        lambda row: [row, row["a"]],
        lambda row: (row if LIMIT else {})["a"],
        lambda *rows: rows[0]["a"],
        lambda row: row == row,  # noqa: PLR0124
    ],
)
def test_everything_is_read_where_the_code_does_not_tell(function):
    assert fields_read(function) is None


def test_a_filter_that_reads_one_field_keeps_whole_records_and_whole_errors():
    batch = pa.RecordBatch.from_pylist([{"a": 1, "b": "x"}, {"a": 0, "b": "y"}, {"a": 7, "b": "z"}])

    done = FilterRows(lambda record: 1 / record["a"] > 0.5)(Chunk(batch))

    assert done.batch.to_pylist() == [{"a": 1, "b": "x"}]
    assert [error.raw for error in done.errors] == [b'{"a":0,"b":"y"}']


def test_a_field_that_no_record_has_leaves_out_all():
    batch = pa.RecordBatch.from_pylist([{"a": 1}])

    assert FilterRows(lambda record: record["no"])(Chunk(batch)).batch.num_rows == 0
