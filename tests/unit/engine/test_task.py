import json
from itertools import islice

import pyarrow as pa
import pytest

from gluepot.connectors.contracts import StreamReading
from gluepot.connectors.streams.rejects import RejectsOfFrame
from gluepot.connectors.values import RawBatch, SourceRange
from gluepot.core import logging
from gluepot.core.errors import ConfigError, DataLoss, PermanentError
from gluepot.core.on_malformed import OnMalformed
from gluepot.engine.account import Reading
from gluepot.engine.pipeline import RangeInput, SplitInput, StickySchema
from gluepot.engine.task import FETCH, Tally, begun, frame_chunks, good_rows, load_chunks, split_chunks, through
from gluepot.frames.chunk import CallSite, Chunk, Coordinates, ErrorRecord
from gluepot.frames.declared import DeclaredJson
from gluepot.frames.transforms import ApplyMapping, DropFields, ErrorRows, MapRows, RenameField, SelectFields, Stage

ROWS = pa.RecordBatch.from_pylist([{"a": 1}])
ERROR = ErrorRecord(b"{", "malformed_json", "not JSON", Coordinates("clicks", "0", "7"))


def test_rows_for_a_dataframe_leave_errors_out_and_keep_them(tmp_path, capsys):
    logging.configure(json=True)
    rejects = RejectsOfFrame(str(tmp_path), "batch-").of_task(3)

    assert list(good_rows([Chunk(ROWS, [ERROR]), Chunk(ROWS)], rejects)) == [ROWS, ROWS]

    (line,) = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert (said["msg"], said["reasons"], said["kept"]) == ("records_rejected", {"malformed_json": 1}, str(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["batch-00003-000.rejects"]


def test_rows_that_are_not_all_taken_keep_the_errors_so_far_under_another_name(tmp_path):
    rows = good_rows([Chunk(ROWS, [ERROR]), Chunk(ROWS, [ERROR])], RejectsOfFrame(str(tmp_path), "b-").of_task(0))
    next(rows)
    rows.close()

    assert [file.name for file in tmp_path.iterdir()] == ["b-partial-00000-000.rejects"]


FAILED = ErrorRecord(b"{}", "function_failed", "no such key", callsite=CallSite("job.py"))


def test_records_that_cannot_be_read_are_told_from_those_that_fail_later():
    tally = Tally(rows_in=3)

    list(through([Chunk(ROWS, [ERROR, FAILED])], [], tally))

    assert tally.reading(keeps=False) == Reading(3, 1, 1)
    assert tally.reading(keeps=True) == Reading(3, 1, 1, kept=1)
    assert tally.rejected_as_rows == 0


def test_records_that_could_not_be_read_and_are_rows_of_an_error_frame_are_counted():
    tally = Tally(rows_in=3)

    list(through([Chunk(ROWS, [ERROR, FAILED])], [ErrorRows()], tally))

    assert (tally.rejected, tally.rejected_as_rows, tally.rows_dropped) == (1, 1, 1)


def test_records_that_cannot_be_read_are_dropped_and_counted_if_the_job_says_so():
    tally = Tally(rows_in=3)

    (chunk,) = through([Chunk(ROWS, [ERROR, FAILED])], [], tally, OnMalformed.DROP)

    assert (chunk.errors, tally.left_out, tally.rejected) == ([FAILED], 1, 0)


def test_values_that_become_null_in_the_read_or_in_a_step_are_counted_and_told(capsys):
    logging.configure(json=True)
    tally, read = Tally(), Chunk(ROWS, misfits={"b": 2})

    list(through([read, read], [ApplyMapping([("a", "string", "a", "string")])], tally))

    assert tally.misfits == {"a": 2, "b": 4}
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line).items() >= {"msg": "values_do_not_fit", "nulls_by_field": {"a": 2, "b": 4}}.items()


def test_a_row_with_a_text_that_python_cannot_take_is_an_error_of_the_steps():
    tally = Tally(rows_in=2)
    texts = pa.array([b"\xff", b"a"]).view(pa.string())

    (chunk,) = through([Chunk(pa.record_batch({"t": texts}))], [MapRows(dict)], tally)

    assert (chunk.batch.to_pylist(), [error.raw for error in chunk.errors]) == ([{"t": "a"}], [b'{"t":"\xff"}'])
    assert (tally.delivered, tally.rejected, tally.rows_dropped) == (2, 0, 0)


def test_a_record_that_cannot_be_read_ends_the_job_if_it_says_so():
    with pytest.raises(PermanentError, match=r"clicks 0, position 7: this record is malformed.*--on-malformed"):
        list(through([Chunk(ROWS, [ERROR])], [], Tally(), OnMalformed.FAIL))
    assert list(through([Chunk(ROWS, [FAILED])], [], Tally(), OnMalformed.FAIL))


def test_a_decoder_that_loses_a_record_ends_the_job():
    class Loses:
        def decode(self, values, positions, stream, shard):
            return Chunk(ROWS)

    class Declares:
        def decoder(self):
            return Loses()

    given = RangeInput(StreamReading(TwoBatches()), (), declared=Declares())
    with pytest.raises(PermanentError, match="2 records of clicks-0 became 1 rows"):
        list(load_chunks(given, [SourceRange("kafka", "clicks", "", "0", 7, 10)], Tally()))


def test_errors_of_every_step_stay_with_their_chunk():
    def fails(chunk):
        return Chunk(chunk.batch, [*chunk.errors, ERROR])

    (chunk,) = through([Chunk(ROWS, [ERROR])], [fails, fails], Tally())

    assert len(chunk.errors) == 3


def test_a_json_column_is_expanded_beside_the_others_and_bad_rows_leave_both():
    batch = pa.RecordBatch.from_pydict({"j": ['{"a": 1}', "{", '{"a": 3}'], "other": [10, 20, 30]})

    (chunk,) = frame_chunks([batch], "j", Tally(), None)

    assert chunk.batch.to_pylist() == [{"a": 1, "other": 10}, {"a": 3, "other": 30}]
    assert [(e.raw, e.at) for e in chunk.errors] == [(b"{", Coordinates())]


def test_a_column_beside_the_json_takes_the_place_of_a_field_of_its_name():
    batch = pa.RecordBatch.from_pydict({"j": ['{"ts": 1, "a": 2}', '{"a": 3}'], "ts": ["now", "then"]})

    (chunk,) = frame_chunks([batch], "j", Tally(), None)

    assert chunk.batch.to_pylist() == [{"ts": "now", "a": 2}, {"ts": "then", "a": 3}]


class TwoBatches:
    """A source of three records, one of them broken."""

    def read(self, wanted):
        for values, positions in (([b'{"a": 1, "b": 2}', b"{"], [7, 9]), ([b'{"a": 2.5}'], [10])):
            yield RawBatch(values, positions, "clicks", "0", columns={"at": pa.array(positions)})


def test_declared_records_of_a_range_become_their_columns_and_teach_the_stream_no_schema():
    declared = DeclaredJson.of(pa.schema([("a", pa.int64())]))
    given = RangeInput(StreamReading(TwoBatches()), (), extras=("at",), declared=declared)
    tally = Tally()

    chunks = list(load_chunks(given, [SourceRange("kafka", "clicks", "", "0", 7, 11)], tally))

    assert [chunk.batch.to_pylist() for chunk in chunks] == [[{"a": 1, "at": 7}], [{"a": None, "at": 10}]]
    assert [error.at.position for chunk in chunks for error in chunk.errors] == ["9"]
    assert (tally.rows_in, tally.source_schema) == (3, None)


class Replaced:
    """A stream that is deleted and created again while it is read."""

    def remaining(self, load):
        return load[1:]

    def confirm(self, load):
        raise DataLoss(f"{[one.shard for one in load]} are gone")


def test_streams_are_confirmed_once_all_ranges_that_remain_have_been_read():
    chunks = load_chunks(
        RangeInput(StreamReading(TwoBatches(), identity=Replaced()), ()),
        [SourceRange("kafka", "clicks", "id", shard, 7, 11) for shard in "012"],
        Tally(),
    )

    assert sum(1 for _ in islice(chunks, 4)) == 4
    with pytest.raises(DataLoss, match=r"\['1', '2'\] are gone"):
        next(chunks)


def test_time_is_counted_for_whoever_makes_the_items():
    tally = Tally()

    assert list(tally.timed(FETCH, [1, 2])) == [1, 2]
    assert tally.phase_secs[FETCH] >= 0


class Fetching:
    """A source that notes what it is to begin with."""

    def __init__(self) -> None:
        self.told = []

    def begin(self, wanted):
        self.told.append(wanted.shard)


def test_the_next_shards_of_a_task_are_begun_before_one_is_read():
    source = Fetching()
    load = [SourceRange("kafka", "clicks", "", shard, 0, 5) for shard in "abbcd"]

    seen = []
    for wanted in begun(StreamReading(source, ahead=source), load):
        seen.append((wanted.shard, "".join(source.told)))
        source.told.clear()

    assert seen == [("a", "bc"), ("b", "cd"), ("b", "cd"), ("c", "d"), ("d", "")]


def test_a_source_that_fetches_nothing_ahead_is_told_nothing():
    load = [SourceRange("kinesis", "clicks", "", shard, 0, 5) for shard in "ab"]

    assert list(begun(StreamReading(TwoBatches()), load)) == load


class OneRow:
    guarantee = ""

    def read(self, split):
        yield Chunk(pa.record_batch({split: [1]}))


def test_a_stream_learns_nothing_from_files_tables_and_results_of_queries():
    tally = Tally()
    list(split_chunks(SplitInput(OneRow(), ("n",)), "n", tally))

    assert (tally.rows_in, tally.source_schema) == (1, None)


def known(*names):
    return StickySchema(pa.schema([(name, pa.int64()) for name in names]))


@pytest.mark.parametrize(
    ("sticky", "learned"), [(StickySchema(), ["a", "b"]), (known("z"), ["z", "a", "b"]), (None, None)]
)
def test_a_stream_learns_from_the_ranges_of_its_own_batch_only(sticky, learned):
    tally, wanted = Tally(), SourceRange("kafka", "clicks", "", "0", 7, 11)
    list(load_chunks(RangeInput(StreamReading(TwoBatches()), (wanted,), sticky), [wanted], tally))

    assert (tally.source_schema and tally.source_schema.names) == learned


@pytest.mark.parametrize(
    ("column", "sticky", "learned"),
    [("j", StickySchema(), ["a"]), ("j", known("z"), ["z", "a"]), ("j", None, None), (None, StickySchema(), None)],
)
def test_a_stream_learns_from_the_documents_of_its_own_batch_only(column, sticky, learned):
    tally = Tally()
    list(frame_chunks([pa.RecordBatch.from_pydict({"j": ['{"a": 1}']})], column, tally, sticky))

    assert (tally.source_schema and tally.source_schema.names) == learned


def rows(**columns):
    return Chunk(pa.RecordBatch.from_pydict(columns))


@pytest.mark.parametrize("step", [
    ApplyMapping([("name", "nom"), ("price", "price")]),
    SelectFields(["name", "price"]),
    Stage(SelectFields(["name", "price"]), CallSite("job.py")),
    RenameField("name", "nom"),
])  # fmt: skip
def test_fields_that_have_no_value_in_any_chunk_are_noted(step):
    absent, null = rows(id=[1, 2], price=[1.5, 2.5]), rows(nmae=["a", "b"], name=pa.nulls(2), price=[1.5, None])
    tally = Tally()
    list(through([absent, null, rows(name=[])], [step], tally))

    seen = tally.missing
    assert (seen.wanted, seen.null, seen.rows) == ({"name"}, {"name"}, 4)
    assert seen.names - {"price"} == {"id", "nmae"}

    list(through([rows(name=["x", None])], [step], tally))
    assert tally.missing.wanted == set()


def test_a_field_to_remove_that_no_row_has_is_noted_and_one_with_nulls_is_not():
    tally = Tally()
    list(through([rows(email=["a"], ssn=pa.nulls(1))], [DropFields(["emial", "ssn"])], tally))

    seen = tally.missing
    assert (seen.wanted, seen.optional, seen.names) == ({"emial"}, {"emial"}, {"email"})


def test_each_step_asks_for_fields_of_its_own():
    tally = Tally()
    list(
        through([rows(id=[1], nmae=["a"])], [ApplyMapping([("nmae", "name"), ("x", "y")]), SelectFields(["id"])], tally)
    )

    assert tally.missing.wanted == {"x", "id"}


@pytest.mark.parametrize("field", ["topic", "Topic"])
def test_a_field_never_takes_the_place_of_a_column_that_the_script_asked_for(field):
    batch = pa.RecordBatch.from_pydict({"j": [f'{{"{field}": 1}}'], "topic": ["clicks"]})

    with pytest.raises(ConfigError, match=r"addRecordColumns adds a column 'topic'"):
        list(frame_chunks([batch], "j", Tally(), None, ("topic",)))
