"""The steps over chunks: nested columns, nulls, slices, choices, samples."""

from __future__ import annotations

import pickle
from hashlib import sha256

import pyarrow as pa
import pytest

from gluepot.entities.actions import Action, Rule
from gluepot.entities.finding import Sensitivity
from gluepot.entities.steps import DETECTED, CountEntities, DetectEntities, classified
from gluepot.frames.chunk import CHOICE, Chunk, ErrorRecord
from gluepot.frames.transforms import output_schema

MAIL = "ada@example.com"


def chunk(*rows, schema=None, errors=()):
    return Chunk(pa.RecordBatch.from_pylist(list(rows), schema=schema), errors)


def detect(*rules):
    return DetectEntities(rules or (Rule("EMAIL"),), Sensitivity.LOW, "found")


def redact(**options):
    return Rule("EMAIL", Action.REDACT, text="*****", **options)


def told(done):
    return [
        {
            column: [(one["entityType"], one["start"], one["end"], one["actionUsed"]) for one in found]
            for column, found in row
        }
        for row in done.batch["found"].to_pylist()
    ]


def test_findings_are_told_by_row_and_column():
    done = detect()(chunk({"id": 1, "a": f"to {MAIL}", "b": MAIL}, {"id": 2, "a": None, "b": "x"}))

    assert done.batch.schema.names == ["id", "a", "b", "found"]
    assert done.batch.schema.field("found").type == DETECTED
    assert told(done) == [{"a": [("EMAIL", 3, 18, "DETECT")], "b": [("EMAIL", 0, 15, "DETECT")]}, {}]
    assert done.batch["a"].to_pylist() == [f"to {MAIL}", None]


def test_texts_inside_structs_lists_and_maps_are_told_and_hidden():
    schema = pa.schema(
        {
            "user": pa.struct({"name": pa.string(), "mail": pa.string()}),
            "tags": pa.list_(pa.string()),
            "orders": pa.list_(pa.struct({"to": pa.string()})),
            "extra": pa.map_(pa.string(), pa.string()),
        }
    )
    given = chunk(
        {"user": None, "tags": None, "orders": [], "extra": None},
        {"user": {"name": "Ada", "mail": MAIL}, "tags": ["x", MAIL], "orders": [{"to": MAIL}, None], "extra": [("k", MAIL)]},
        {"user": {"name": None, "mail": None}, "tags": [None], "orders": None, "extra": []},
        schema=schema,
    )  # fmt: skip

    done = detect(redact())(given)

    assert told(done) == [
        {},
        {path: [("EMAIL", 0, 15, "REDACT")] for path in ("user.mail", "tags", "orders.to", "extra")},
        {},
    ]
    rows = done.batch.drop_columns(["found"]).to_pylist()
    assert rows[1] == {
        "user": {"name": "Ada", "mail": "*****"},
        "tags": ["x", "*****"],
        "orders": [{"to": "*****"}, None],
        "extra": [("k", "*****")],
    }
    assert [rows[0], rows[2]] == [given.batch.to_pylist()[0], given.batch.to_pylist()[2]]
    assert done.batch.schema.remove(4).equals(schema)


def test_a_slice_tells_the_rows_of_the_slice():
    rows = [{"tags": [MAIL]}, {"tags": ["x"]}, {"tags": ["y", f"at {MAIL}"]}]

    done = detect(redact())(Chunk(pa.RecordBatch.from_pylist(rows).slice(1)))

    assert told(done) == [{}, {"tags": [("EMAIL", 3, 18, "REDACT")]}]
    assert done.batch["tags"].to_pylist() == [["x"], ["y", "at *****"]]


def test_the_text_of_a_choice_has_the_name_of_the_choice():
    kind = pa.struct({"long": pa.int64(), "string": pa.string()})
    schema = pa.schema([pa.field("v", kind, metadata=CHOICE)])

    done = detect(redact())(chunk({"v": {"string": MAIL}}, {"v": {"long": 1}}, {"v": None}, schema=schema))

    assert told(done) == [{"v": [("EMAIL", 0, 15, "REDACT")]}, {}, {}]
    assert done.batch["v"].to_pylist() == [{"long": None, "string": "*****"}, {"long": 1, "string": None}, None]
    assert done.batch.schema.field("v").metadata == CHOICE


def test_rules_are_for_their_columns_and_hiding_goes_before_telling():
    rules = (Rule("EMAIL"), redact(columns=("a",)), Rule("USA_SSN", Action.SHA256_HASH, excluded=("a",)))
    row = {"a": f"{MAIL} 536-90-4399", "b": f"{MAIL} 536-90-4399"}

    done = detect(*rules)(chunk(row))

    assert done.batch["a"].to_pylist() == ["***** 536-90-4399"]
    assert done.batch["b"].to_pylist() == [f"{MAIL} {sha256(b'536-90-4399').hexdigest()}"]
    assert told(done) == [
        {
            "a": [("EMAIL", 0, 15, "REDACT")],
            "b": [("EMAIL", 0, 15, "DETECT"), ("USA_SSN", 16, 27, "SHA256_HASH")],
        }
    ]


def test_errors_stay_and_a_column_of_the_name_is_replaced():
    error = ErrorRecord(b"{", "malformed_json", "no object")

    done = detect()(chunk({"found": 1, "a": "x"}, errors=[error]))

    assert list(done.errors) == [error]
    assert done.batch.schema.names == ["a", "found"]


@pytest.mark.parametrize("rows", [[], [{}], [{}, {}]])
def test_chunks_without_rows_or_columns_pass(rows):
    given = (
        chunk(*rows, schema=pa.schema({}))
        if not rows
        else Chunk(pa.RecordBatch.from_struct_array(pa.array(rows, pa.struct([]))))
    )

    assert told(detect()(given)) == [{}] * len(rows)


def test_the_schema_is_known_without_rows_and_the_step_can_be_sent_to_tasks():
    step = pickle.loads(pickle.dumps(detect(redact())))

    assert step == detect(redact())
    assert output_schema([step], pa.schema({"a": pa.string()})) == pa.schema({"a": pa.string(), "found": DETECTED})


def counted(*chunks, fraction=1.0, threshold=0.1, types=("EMAIL", "IP_ADDRESS")):
    step = CountEntities(types, Sensitivity.LOW, fraction)
    return classified([row for one in chunks for row in step(one).batch.to_pylist()], threshold)


def test_columns_are_classified_over_all_chunks():
    first = chunk({"a": MAIL, "b": "10.0.0.1", "c": 1}, {"a": "x", "b": MAIL, "c": 2})
    second = chunk({"a": None, "b": "10.0.0.2", "c": None}, {"a": "y", "b": None, "c": 3})

    assert counted(first, second) == {"a": ["EMAIL"], "b": ["EMAIL", "IP_ADDRESS"]}
    assert counted(first, second, threshold=0.5) == {"b": ["IP_ADDRESS"]}
    assert counted(first, second, threshold=0) == {"a": ["EMAIL"], "b": ["EMAIL", "IP_ADDRESS"]}


def test_nested_values_count_for_the_whole_column_and_once_a_row():
    rows = chunk({"user": {"mails": [MAIL, MAIL]}}, {"user": {"mails": []}})

    assert counted(rows, threshold=0.5) == {"user": ["EMAIL"]}
    assert counted(rows, threshold=0.51) == {}


def test_a_sample_is_never_smaller_than_a_hundred_rows():
    rows = [{"a": MAIL if at == 50 else "x"} for at in range(100)]

    assert counted(chunk(*rows), fraction=0.0, threshold=0.01) == {"a": ["EMAIL"]}


def test_a_sample_is_a_fraction_of_a_large_chunk():
    step = CountEntities(("EMAIL",), Sensitivity.LOW, 0.1)
    values = [row["values"] for row in step(chunk(*[{"a": "x"}] * 5000)).batch.to_pylist()]

    assert values == [500]
