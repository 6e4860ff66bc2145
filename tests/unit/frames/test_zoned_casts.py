import datetime as dt

import pyarrow as pa
import pytest

from gluepot.frames.cast import try_cast
from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import batch_of
from gluepot.frames.declared import DeclaredCsv, DeclaredJson
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.rows import rows
from gluepot.frames.schema.glue_types import TIMESTAMP
from gluepot.frames.timestamps import in_utc
from gluepot.frames.transforms import ApplyMapping, CompareRows, FilterRows, MapRows, ReadTexts, ResolveChoice
from tests.zones import NEW_YORK


def instants(*texts):
    return pa.array([None if text is None else dt.datetime.fromisoformat(text) for text in texts], TIMESTAMP)


def cast(values, kind, target):
    return try_cast(pa.array(values, kind), target, NEW_YORK)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2024-07-01 23:30:00", "2024-07-01T23:30-04:00"),
        ("2024-01-01", "2024-01-01T00:00-05:00"),
        ("2024", "2024-01-01T00:00-05:00"),
        ("2024-03-10 02:30:00", "2024-03-10T03:30-04:00"),
        ("2024-11-03 01:30:00", "2024-11-03T01:30-04:00"),
        ("2024-07-01 23:30:00Z", "2024-07-01T23:30+00:00"),
        ("2024-07-01T23:30:00+09:00", "2024-07-01T23:30+09:00"),
        ("2024-7-1 23:30:00 Asia/Tokyo", "2024-07-01T23:30+09:00"),
        ("1800-01-01 00:00:00", "1800-01-01T00:00-04:56:02"),
        ("2400-07-01 12:00:00", "2400-07-01T12:00-04:00"),
        ("never", None),
    ],
)
def test_a_text_without_a_zone_is_in_the_sessions(text, wanted):
    assert cast([text], pa.string(), TIMESTAMP) == instants(wanted)
    # next to others that are read one by one
    assert cast([text, "2024-1-1 0:0", "x"], pa.string(), TIMESTAMP)[0] == instants(wanted)[0]


def test_a_timestamp_has_the_text_and_the_day_of_the_session():
    at = instants("2024-07-02T03:30:00.5+00:00", "2024-11-03T06:30+00:00", None, "0001-01-01T05:00+00:00")

    assert try_cast(at, pa.string(), NEW_YORK).to_pylist() == [
        "2024-07-01 23:30:00.5",
        "2024-11-03 01:30:00",
        None,
        "0001-01-01 00:03:58",
    ]
    assert try_cast(at, pa.date32(), NEW_YORK)[0].as_py() == dt.date(2024, 7, 1)


def test_a_timestamp_of_any_year_has_a_text():
    last = pa.array([2**63 - 1, -(2**63), 253_402_300_799_000_000], pa.int64()).cast(TIMESTAMP)

    assert try_cast(last, pa.string(), NEW_YORK).to_pylist() == [
        "+294247-01-09 23:00:54.775807",
        "-290308-12-21 15:03:03.224192",
        "9999-12-31 18:59:59",
    ]


def test_a_day_begins_when_the_session_says():
    days = cast([dt.date(2024, 7, 1), None, dt.date(2024, 1, 1)], pa.date32(), TIMESTAMP)

    assert days == instants("2024-07-01T00:00-04:00", None, "2024-01-01T00:00-05:00")
    assert cast([2**31 - 1], pa.int32(), pa.int32())[0].as_py() == 2**31 - 1
    assert try_cast(pa.array([2**31 - 1], pa.int32()).cast(pa.date32()), TIMESTAMP, NEW_YORK).null_count == 1


def test_what_a_clock_shows_stays_the_same_as_text_and_becomes_an_instant_in_the_session():
    shown = pa.array([dt.datetime(2024, 7, 1, 23, 30)], pa.timestamp("us"))

    assert try_cast(shown, pa.string(), NEW_YORK).to_pylist() == ["2024-07-01 23:30:00"]
    assert try_cast(shown, pa.date32(), NEW_YORK).to_pylist() == [dt.date(2024, 7, 1)]
    assert try_cast(shown, TIMESTAMP, NEW_YORK) == instants("2024-07-01T23:30-04:00")
    assert try_cast(shown, pa.int64(), NEW_YORK).to_pylist() == [1_719_891_000]


def test_an_instant_has_the_same_number_in_every_zone():
    at = instants("2024-07-01T23:30-04:00")

    assert try_cast(at, pa.int64(), NEW_YORK) == try_cast(at, pa.int64())


def of(**columns):
    return Chunk(pa.RecordBatch.from_pydict(columns))


AT = instants("2024-07-01T23:30-04:00", "2024-11-03T01:30-05:00", "9999-12-31T23:59:59-05:00", None)


def test_a_function_gets_times_of_the_session_and_its_naive_times_are_in_it():
    def naive(record):
        return {"t": record["t"] and record["t"].replace(tzinfo=None), "text": str(record["t"])}

    mapped = MapRows(naive, NEW_YORK)(of(t=AT.slice(0, 2))).batch

    assert mapped["t"] == AT.slice(0, 2)
    assert mapped["text"].to_pylist() == ["2024-07-01 23:30:00-04:00", "2024-11-03 01:30:00-05:00"]


def test_a_function_that_changes_nothing_keeps_times_at_any_depth_and_of_the_last_day():
    batch = pa.RecordBatch.from_pydict({"t": AT.slice(0, 2), "s": [{"t": one, "l": [one]} for one in AT.slice(0, 2)]})

    assert list(rows(Chunk(MapRows(lambda one: one, NEW_YORK)(Chunk(batch)).batch))) == list(rows(Chunk(batch)))
    last = list(rows(of(t=AT), zone=NEW_YORK))[2]["t"]
    assert last.isoformat() == "9999-12-31T23:59:59-05:00"


def test_a_filter_sees_the_hour_of_the_session():
    kept = FilterRows(lambda record: record["t"].hour == 23, NEW_YORK)(of(t=AT.slice(0, 2))).batch

    assert kept["t"] == AT.slice(0, 1)


def test_naive_and_zoned_times_may_be_mixed():
    naive, zoned = dt.datetime(2024, 11, 3, 1, 30), dt.datetime(2024, 7, 1, tzinfo=dt.UTC)

    found = batch_from_objects([{"t": naive}, {"t": zoned}, {"t": None}, {"t": naive.replace(fold=1)}], NEW_YORK)

    assert found["t"] == instants("2024-11-03T01:30-04:00", "2024-07-01T00:00+00:00", None, "2024-11-03T01:30-05:00")


def test_steps_cast_in_their_zone():
    texts = of(s=["2024-07-01 23:30:00"])
    wanted = instants("2024-07-01T23:30-04:00")

    assert ApplyMapping([("s", "string", "s", "timestamp")], zone=NEW_YORK)(texts).batch["s"] == wanted
    assert ResolveChoice([("s", "cast:timestamp")], zone=NEW_YORK).bound(None)(texts).batch["s"] == wanted
    assert ReadTexts({"s": TIMESTAMP}, NEW_YORK)(texts).batch["s"] == wanted


@pytest.mark.parametrize("bound", ["2024-07-01 23:30:00", dt.datetime(2024, 7, 1, 23, 30)])
def test_bounds_without_a_zone_are_in_the_sessions(bound):
    assert CompareRows({"t": {"=": bound}}, zone=NEW_YORK)(of(t=AT)).batch.num_rows == 1
    assert CompareRows({"t": {"=": bound}})(of(t=AT)).batch.num_rows == 0


def test_declared_columns_of_streams_are_in_the_sessions_zone():
    schema, wanted = pa.schema([("t", TIMESTAMP)]), instants("2024-07-01T23:30-04:00")
    json, csv = DeclaredJson.of(schema, NEW_YORK), DeclaredCsv.of(schema, ",", NEW_YORK)

    assert json.decoder().decode([b'{"t": "2024-07-01T23:30:00"}'], [0], "", "").batch["t"] == wanted
    assert csv.decoder().decode([b"2024-07-01 23:30:00"], [0], "", "").batch["t"] == wanted


def test_sparks_zone_in_types_does_not_reach_the_steps():
    there = AT.cast(pa.timestamp("us", "America/New_York"))
    batch = pa.RecordBatch.from_pydict({"t": there, "n": [1, 2, 3, 4]})

    assert in_utc(batch).schema.field("t").type == TIMESTAMP
    assert in_utc(batch)["t"] == AT
    assert in_utc(in_utc(batch)) is not None
    same = batch_of([], 3)
    assert in_utc(same) is same
