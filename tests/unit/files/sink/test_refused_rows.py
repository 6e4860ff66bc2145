"""Rows that a file sink refuses are told with the bytes and the position of the record they were made from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest

from gluepot.connectors.contracts import StreamReading
from gluepot.connectors.files.formats.parquet.sink import glueparquet_sink
from gluepot.connectors.files.sink import partitions
from gluepot.connectors.values import RawBatch, SourceRange
from gluepot.engine.pipeline import RangeInput
from gluepot.engine.task import Tally, load_chunks, through
from gluepot.frames.chunk import Chunk
from gluepot.frames.transforms import ApplyMapping, CompareRows, DropFields, FilterRows, MapRows
from tests.unit.files.sink.staged import KEY, parquet_rows

LONG = "x" * 300
RECORDS = [
    b'{"n": 0, "k": "a"}',
    b"{",
    b'{"n": 2,  "k": "b"}',
    b'{"n": 3,  "k": "%s"}' % LONG.encode(),
    b'{"n": 4, "k": "a"}',
    b'{"k": "c"}',
    b'{"n": 6, "k": "%s" }' % LONG.encode(),
    b'{"n": 7, "k": "a"}',
]


@dataclass
class Stream:
    """A stream of one shard in memory, read three records at a time."""

    records: list[bytes]
    first: int = 100
    gap: int = 1
    least_piece: int | None = 1
    lost: frozenset[int] = frozenset()

    def read(self, wanted):
        held = [
            (position, value)
            for at, value in enumerate(self.records)
            if wanted.start <= (position := self.first + at * self.gap) < wanted.end and position not in self.lost
        ]
        for at in range(0, len(held), 3):
            positions, values = zip(*held[at : at + 3], strict=True)
            is_whole = positions[-1] - positions[0] == len(positions) - 1
            yield RawBatch(values, range(positions[0], positions[-1] + 1) if is_whole else positions, "clicks", "0")


def drained(source, sink, *steps, between=lambda: None):
    """Write a stream the way a task does; return what was refused, and the part."""
    wanted = SourceRange("kafka", "clicks", "", "0", source.first, source.first + len(source.records) * source.gap)
    tally = Tally()

    def chunks():
        yield from through(
            load_chunks(RangeInput(StreamReading(source, least_piece=source.least_piece), (wanted,)), [wanted], tally),
            steps,
            tally,
        )
        between()

    part = sink.write(chunks(), 0, "attempt/0")
    rejects = [file for file in part.files if file.rejects]
    found = [row for row in parquet_rows(sink, *rejects) if row["reason"] != "malformed_json"] if rejects else []
    assert sum(part.rejected.values()) == sum(file.rows for file in rejects)
    return [(row["reason"], row["stream"], row["shard"], row["position"], row["raw"]) for row in found], part


def told(reason, *positions, source_first=100, gap=1):
    return [(reason, "clicks", "0", str(position), RECORDS[(position - source_first) // gap]) for position in positions]


@pytest.fixture
def sink(tmp_path):
    return glueparquet_sink(str(tmp_path), KEY, {}, ctx="s", rejects_path=None, partition_keys=("k",))


def explode(chunk: Chunk) -> Chunk:
    """A step that makes two rows of each."""
    return chunk.taken(np.repeat(np.arange(chunk.batch.num_rows), 2))


def test_a_partition_value_that_is_too_long_is_told_with_its_record(sink):
    refused, part = drained(Stream(RECORDS), sink)

    assert refused == told("partition_value_too_long", 103, 106)
    assert part.rejected == {"malformed_json": 1, "partition_value_too_long": 2}


@pytest.mark.parametrize("split_bytes", [1, 64 << 20])
def test_records_are_found_wherever_the_rows_were_split(sink, monkeypatch, split_bytes):
    monkeypatch.setattr(partitions, "_SPLIT_BYTES", split_bytes)

    refused, _ = drained(Stream(RECORDS), sink)

    assert refused == told("partition_value_too_long", 103, 106)


@pytest.mark.parametrize(
    "step",
    [
        FilterRows(lambda row: row["k"] != "b"),
        CompareRows({"k": {"!=": "b"}}, fulfilled=True),
        MapRows(lambda row: {**row, "more": 1} if row["k"] != "b" else None),
        DropFields(["n"]),
        ApplyMapping([("n", "long", "m", "long"), ("k", "string", "k", "string")]),
    ],
)
def test_steps_that_leave_rows_or_columns_out_change_nothing_about_it(sink, step):
    refused, _ = drained(Stream(RECORDS), sink, step)

    assert [one for one in refused if one[0] == "partition_value_too_long"] == told(
        "partition_value_too_long", 103, 106
    )


def test_each_row_of_a_record_that_became_several_is_told_with_it(sink):
    refused, _ = drained(Stream(RECORDS), sink, explode, FilterRows(lambda row: row["k"] != "b"))

    assert refused == told("partition_value_too_long", 103, 103, 106, 106)


def test_a_row_without_a_column_to_write_is_told_with_its_record(sink):
    refused, _ = drained(Stream(RECORDS), sink, FilterRows(lambda row: row["k"] in "abc"), DropFields(["n"]))

    assert sorted(refused) == told("nothing_to_write", 100, 102, 104, 105, 107)


def test_a_row_of_another_type_is_told_with_its_record(tmp_path):
    sink = glueparquet_sink(
        str(tmp_path), KEY, {"typeDrift": "reject"}, ctx="s", rejects_path=None, partition_keys=("k",)
    )
    before = sink.write(iter([Chunk(pa.RecordBatch.from_pylist([{"n": "text", "k": "a"}]))]), 0, "attempt/1")

    refused, part = drained(Stream(RECORDS), sink.knowing(before.columns))

    assert [one for one in refused if one[0] == "type_drift"] == told("type_drift", 100, 102, 103, 104, 106, 107)
    assert [one for one in refused if one[0] != "type_drift"] == told("nothing_to_write", 105)
    assert part.rows_out == 0


def test_rows_that_stay_when_others_are_turned_away_are_still_known(tmp_path):
    sink = glueparquet_sink(
        str(tmp_path), KEY, {"typeDrift": "reject"}, ctx="s", rejects_path=None, partition_keys=("k",)
    )
    before = sink.write(iter([Chunk(pa.RecordBatch.from_pylist([{"n": 1, "k": "a"}]))]), 0, "attempt/1")
    records = [b'{"n": "no", "k": "a"}', RECORDS[3], b'{"n": "no"}', RECORDS[6], RECORDS[7]]

    refused, _ = drained(Stream(records), sink.knowing(before.columns))

    assert [(reason, position, raw) for reason, _, _, position, raw in refused] == [
        ("type_drift", "100", records[0]),
        ("partition_value_too_long", "101", records[1]),
        ("type_drift", "102", records[2]),
        ("partition_value_too_long", "103", records[3]),
    ]


def test_positions_may_be_larger_than_any_integer_of_a_machine_and_have_gaps(sink):
    first, gap = 49_590_338_271_490_256_608_559_692_538_361_571_095_921_575_989_136_588_898, 3

    refused, _ = drained(Stream(RECORDS, first, gap), sink)

    assert refused == told("partition_value_too_long", first + 9, first + 18, source_first=first, gap=gap)


def test_a_source_that_reads_no_pieces_reads_the_range_again(sink):
    class Whole:
        """A stream whose ranges are read as a whole."""

        least_piece = None

        def __init__(self) -> None:
            self.first, self.gap, self.records = 100, 1, RECORDS
            self.wanted: list[SourceRange] = []

        def read(self, wanted):
            self.wanted.append(wanted)
            return Stream(RECORDS).read(wanted)

    source = Whole()

    refused, _ = drained(source, sink)

    assert refused == told("partition_value_too_long", 103, 106)
    assert source.wanted[0] == source.wanted[1]


def test_a_record_that_is_gone_meanwhile_is_told_by_its_position(sink):
    source = Stream(RECORDS)

    def lose():
        source.lost = frozenset([103])

    refused, part = drained(source, sink, between=lose)

    gone = ("partition_value_too_long", "clicks", "0", "103", None)
    assert refused == [gone, *told("partition_value_too_long", 106)]
    (message,) = {
        row["message"] for row in parquet_rows(sink, *(one for one in part.files if one.rejects)) if not row["raw"]
    }
    assert message.endswith("the source no longer had the record.")


def test_a_row_whose_origin_a_step_does_not_pass_on_is_told_as_json(sink):
    refused, _ = drained(Stream(RECORDS), sink, lambda chunk: replace(chunk, origin=None))

    assert refused[0] == ("partition_value_too_long", None, None, None, b'{"k":"%s","n":3}' % LONG.encode())


def test_nothing_is_read_again_where_no_row_is_refused(sink):
    source = Stream([RECORDS[0], RECORDS[1], RECORDS[2]])

    def forget():
        source.records = []

    refused, part = drained(source, sink, between=forget)

    assert (refused, part.rows_out) == ([], 2)
