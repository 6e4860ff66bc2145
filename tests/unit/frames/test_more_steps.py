import json
import pickle
from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import CallSite, Chunk, Coordinates, ErrorRecord, is_choice
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.packing import pack, pieces, unpack
from gluepot.frames.rows import rows
from gluepot.frames.schema.relabel import Relabel
from gluepot.frames.transforms import (
    ApplyMapping,
    BoxedCsv,
    BoxedJson,
    CompareRows,
    DropFields,
    ErrorRows,
    MapRows,
    SampleRows,
    Stage,
    Unbox,
    known_schema,
    map_partition,
)

EARLIER = ErrorRecord(b"x", "malformed_json", "The record is not JSON.", Coordinates("clicks", "0", "7"))


def _chunk(*records):
    return Chunk(batch_from_objects(records), [EARLIER])


def _after(step, *records):
    chunk = pickle.loads(pickle.dumps(step))(_chunk(*records))
    chunk.batch.validate(full=True)
    return list(rows(chunk)), list(chunk.errors)


def test_unbox_puts_the_document_in_place_of_its_text():
    records = [{"i": 1, "t": '{"a": 1}'}, {"i": 2, "t": None}, {"i": 3, "t": '{"b": [2]}'}]

    assert _after(Unbox("t", BoxedJson()), *records)[0] == [
        {"i": 1, "t": {"a": 1, "b": None}},
        {"i": 2, "t": None},
        {"i": 3, "t": {"a": None, "b": [2]}},
    ]


def test_what_cannot_be_unboxed_is_an_error_with_the_whole_record():
    kept, errors = _after(
        Unbox("s.t", BoxedJson()), {"s": {"t": "{"}}, {"s": {"t": 7}}, {"s": {"t": "{}"}}, {"s": None}
    )

    assert kept == [{"s": {"t": {}}}, {"s": None}]
    assert [(error.reason, json.loads(error.raw)) for error in errors[1:]] == [
        ("malformed_json", {"s": {"t": "{"}}),
        ("not_text", {"s": {"t": 7}}),
    ]


def test_unbox_leaves_records_without_the_field_alone():
    assert _after(Unbox("t", BoxedJson()), {"a": 1}) == ([{"a": 1}], [EARLIER])


def test_csv_is_unboxed_with_the_options_of_the_format():
    assert _after(Unbox("t", BoxedCsv(separator="|")), {"t": '1|"a|b"'})[0] == [{"t": {"col0": "1", "col1": "a|b"}}]
    assert _after(Unbox("t", BoxedCsv(with_header=True)), {"t": "x,y\n1,2"})[0] == [{"t": {"x": "1", "y": "2"}}]
    assert _after(Unbox("t", BoxedCsv(skip_first=True)), {"t": "gone\n1"})[0] == [{"t": {"col0": "1"}}]
    assert _after(Unbox("t", BoxedCsv()), {"t": ""})[1][1].reason == "malformed_csv"


@pytest.mark.parametrize(
    ("comparisons", "kept"),
    [
        ({"a": {">": 1}}, [2, 3]),
        ({"a": {">": 1, "<": 2.5}}, [2]),
        ({"a": {"!=": 2}}, [1, 3]),
        ({"a": {"=": "x"}}, [4]),
        ({"n.d": {">=": "2026-01-02"}}, [2]),
        ({"n.d": {"<": date(2026, 1, 2)}}, [1]),
        ({"n.t": {">": "2026-01-01T12:00:00Z"}}, [2]),
        ({"a": {">": 0}, "i": {"<=": 2}}, [1, 2]),
        ({"no": {"=": 1}}, []),
        ({}, [1, 2, 3, 4, 5]),
    ],
)
def test_rows_that_fulfil_all_comparisons_are_kept_and_the_others_are_the_rest(comparisons, kept):
    day, noon = date(2026, 1, 1), datetime(2026, 1, 1, 12, tzinfo=UTC)
    records = [
        {"i": 1, "a": 1, "n": {"d": day, "t": noon}},
        {"i": 2, "a": 2, "n": {"d": date(2026, 1, 2), "t": datetime(2026, 1, 2, tzinfo=UTC)}},
        {"i": 3, "a": 3, "n": None},
        {"i": 4, "a": "x", "n": None},
        {"i": 5, "a": None, "n": None},
    ]

    assert [row["i"] for row in _after(CompareRows(comparisons), *records)[0]] == kept
    assert {row["i"] for row in _after(CompareRows(comparisons, fulfilled=False), *records)[0]} == {1, 2, 3, 4, 5} - {
        *kept
    }


@pytest.mark.parametrize("comparisons", [{"a": {"==": 1}}, {"a": {"=": object()}}])
def test_a_comparison_nobody_can_make_is_refused_at_once(comparisons):
    with pytest.raises(ConfigError):
        CompareRows(comparisons)


def test_errors_of_a_stage_tell_where_it_was_called_and_earlier_ones_do_not():
    def fail(record):
        raise OSError("no luck")

    chunk = Stage(MapRows(fail), CallSite("job.py:3", "first"))(_chunk({"a": 1}))

    assert chunk.errors[0] is EARLIER
    assert chunk.errors[1].callsite == CallSite("job.py:3", "first")


def test_errors_become_rows_with_what_is_known_of_them():
    own = ErrorRecord(b'{"a":1}', "map_error", "OSError: no", callsite=CallSite("job.py:3", "i"), stack_trace="trace")
    done = ErrorRows()(Chunk(batch_from_objects([{"a": 1}]), [EARLIER, own]))

    assert not done.errors
    assert [row["error"] for row in rows(done)] == [
        {
            "callsite": {"site": "", "info": ""},
            "msg": "The record is not JSON.",
            "stackTrace": "",
            "input": "x",
            "bytesread": "7",
            "source": "clicks-0",
            "dynamicRecord": None,
        },
        {
            "callsite": {"site": "job.py:3", "info": "i"},
            "msg": "OSError: no",
            "stackTrace": "trace",
            "input": None,
            "bytesread": None,
            "source": None,
            "dynamicRecord": '{"a":1}',
        },
    ]


def test_a_sample_is_about_as_large_as_asked_for_and_the_same_for_a_seed():
    records = [{"i": i} for i in range(2000)]
    first, again, other = (_after(SampleRows(0.25, seed), *records)[0] for seed in (1, 1, 2))

    assert 400 < len(first) < 600
    assert first == again != other


def test_a_packed_chunk_is_the_same_with_choices_and_errors():
    chunk = _chunk({"a": 1}, {"a": "x"}, {"a": None, "n": None})
    back = unpack(pack(Chunk(chunk.batch.slice(1), chunk.errors)))

    assert list(rows(back)) == list(rows(chunk))[1:]
    assert back.batch.schema.equals(chunk.batch.schema, check_metadata=True)
    assert list(back.errors) == [EARLIER]


def test_a_packed_slice_has_no_more_bytes_than_its_rows():
    whole = Chunk(batch_from_objects([{"a": "x" * 100} for _ in range(1000)]))

    assert len(pack(Chunk(whole.batch.slice(10, 1)))) < len(pack(whole)) / 20


@pytest.mark.parametrize(("records", "count", "sizes"), [(10, 3, [4, 4, 2]), (2, 5, [1, 1]), (0, 4, [0]), (5, 1, [5])])
def test_pieces_are_about_equal_and_the_errors_are_with_the_first(records, count, sizes):
    cut = list(pieces(_chunk(*({"a": n} for n in range(records))), count))

    assert [piece.batch.num_rows for piece in cut] == sizes
    assert [len(piece.errors) for piece in cut] == [1, *[0] * (len(sizes) - 1)]


def test_choices_are_recognised_again_at_any_depth_by_their_place():
    chunk = _chunk({"a": 1, "s": {"l": [1, "x"]}}, {"a": "y", "s": None})
    plain = pa.RecordBatch.from_arrays([pa.array(one.to_pylist()) for one in chunk.batch.columns], ["c0", "c1"])
    told = Relabel(chunk.batch.schema)(Chunk(plain))

    assert list(rows(told)) == list(rows(chunk))
    assert is_choice(told.batch.schema.field("a"))


TYPED = ApplyMapping([("a", "b", "int")])


def test_a_mapping_that_names_every_type_tells_the_schema_whatever_it_is_given():
    assert known_schema([Stage(TYPED, CallSite())], None) == pa.schema([("b", pa.int32())])
    assert known_schema([MapRows(str), TYPED, DropFields(["x"])], None) == pa.schema([("b", pa.int32())])


@pytest.mark.parametrize(
    "steps", [[], [ApplyMapping([("a", "b")])], [TYPED, MapRows(str)], [TYPED, Unbox("b", BoxedJson())]]
)
def test_other_steps_do_not_tell_a_schema_nobody_knows(steps):
    assert known_schema(steps, None) is None


def test_a_known_schema_goes_through_the_steps():
    assert known_schema([DropFields(["a"])], pa.schema([("a", pa.int32()), ("b", pa.string())])) == pa.schema(
        [("b", pa.string())]
    )


def test_a_function_over_a_task_sees_the_records_of_all_chunks_and_keeps_their_errors():
    chunks = [_chunk({"a": 1}, {"a": 2}), _chunk({"a": 3})]

    done = list(map_partition(lambda records: [{"sum": sum(record.a for record in records)}], iter(chunks)))

    assert [row for chunk in done for row in rows(chunk)] == [{"sum": 6}]
    assert [error for chunk in done for error in chunk.errors] == [EARLIER, EARLIER]


def test_a_function_that_stops_early_loses_no_errors():
    done = list(map_partition(lambda records: [next(records)], iter([_chunk({"a": 1}), _chunk({"a": 2})])))

    assert sum(len(chunk.errors) for chunk in done) == 2
