import copy
import datetime as dt
import pickle
from random import Random
from zoneinfo import ZoneInfo

import numpy as np
import orjson
import pyarrow as pa
import pytest

from gluepot.frames.time_zone import UTC, TimeZone, datetime_at, instant_micros, local_micros
from gluepot.frames.zone_rules import YearlyRule, offset_secs, time_zone
from tests.zones import BERLIN, NEW_YORK


def secs(text):
    return int(dt.datetime.fromisoformat(f"{text}+00:00").timestamp())


@pytest.mark.parametrize("zone", [NEW_YORK, BERLIN])
def test_offsets_are_those_of_pythons_own_zones(zone):
    random, known = Random(1), ZoneInfo(zone.name)
    instants = [random.randrange(secs("2008-01-01"), secs("2600-01-01")) for _ in range(500)]
    instants += [start + beside for start in zone.starts[3:40] for beside in (-1, 0, 1)]
    wanted = [int(dt.datetime.fromtimestamp(at, known).utcoffset().total_seconds()) for at in instants]

    assert [zone.offset_at(at) for at in instants] == wanted
    assert zone.offsets_at(np.array(instants)).tolist() == wanted


def test_a_time_in_a_gap_moves_by_the_gaps_length():
    assert NEW_YORK.offset_of(secs("2024-03-10T02:30")) == -5 * 3600
    assert NEW_YORK.offset_of(secs("2024-03-10T01:59:59")) == -5 * 3600
    assert NEW_YORK.offset_of(secs("2024-03-10T03:00")) == -4 * 3600
    assert NEW_YORK.offset_of(secs("2024-03-10T02:30"), second=True) == -4 * 3600


def test_a_time_that_occurs_twice_is_the_first():
    assert NEW_YORK.offset_of(secs("2024-11-03T01:30")) == -4 * 3600
    assert NEW_YORK.offset_of(secs("2024-11-03T01:30"), second=True) == -5 * 3600
    assert NEW_YORK.offset_of(secs("2024-11-03T02:00"), second=True) == -5 * 3600
    assert NEW_YORK.offset_of(secs("2024-11-03T00:59:59"), second=True) == -4 * 3600


def test_many_local_times_have_the_offsets_of_each():
    local = [secs("1700-01-01"), secs("2024-03-10T02:30"), secs("2024-11-03T01:30"), secs("9999-07-01"), 10**12]

    assert NEW_YORK.offsets_of(np.array(local)).tolist() == [NEW_YORK.offset_of(at) for at in local]
    assert NEW_YORK.offset_of(secs("1700-01-01")) == -17_762
    assert NEW_YORK.offset_of(secs("9999-07-01")) == -4 * 3600


def test_a_zone_without_changes_has_one_offset():
    india = TimeZone("+05:30", (), (19_800,))

    assert india.offsets_at(np.array([-(10**12), 0, 10**12])).tolist() == [19_800] * 3
    assert not india.is_utc
    assert UTC.is_utc


def test_shifts_keep_nulls():
    instants = pa.array([0, None, -1])

    local = local_micros(instants, NEW_YORK)

    assert local.to_pylist() == [-5 * 3600 * 10**6, None, -5 * 3600 * 10**6 - 1]
    assert instant_micros(local, NEW_YORK) == instants


def test_a_datetime_knows_which_of_two_hours_it_means():
    first = datetime_at(secs("2024-11-03T05:30") * 10**6, NEW_YORK)
    second = datetime_at(secs("2024-11-03T06:30") * 10**6, NEW_YORK)

    assert (first.isoformat(), second.isoformat()) == ("2024-11-03T01:30:00-04:00", "2024-11-03T01:30:00-05:00")
    assert second.timestamp() - first.timestamp() == 3600
    assert second.astimezone(dt.UTC).astimezone(NEW_YORK.tzinfo) == second
    assert pickle.loads(pickle.dumps(second)) == second


def test_libraries_of_scripts_know_the_zone():
    pandas = pytest.importorskip("pandas")
    summer = datetime_at(secs("2024-07-01T12:00") * 10**6, NEW_YORK)

    assert orjson.dumps(summer) == b'"2024-07-01T08:00:00-04:00"'
    assert copy.deepcopy({"t": summer}) == {"t": summer}
    assert (pandas.Timestamp(summer) + pandas.Timedelta(days=180)).isoformat() == "2024-12-28T07:00:00-05:00"


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        (YearlyRule(3, -1, 7, 3600, "UTC", 0, 0, 3600), "2024-03-31T01:00"),
        (YearlyRule(12, -1, 0, 0, "WALL", 3600, 3600, 7200), "2024-12-30T23:00"),
        (YearlyRule(2, 29, 0, 0, "UTC", 0, 0, 3600), "2024-02-29T00:00"),
        (YearlyRule(4, 25, 5, 86_400, "WALL", 7200, 7200, 10_800), "2024-04-26T22:00"),
        (YearlyRule(10, 1, 7, 7200, "STANDARD", 36_000, 36_000, 39_600), "2024-10-05T16:00"),
    ],
)
def test_a_yearly_rule_gives_the_instant_of_its_year(rule, wanted):
    assert rule.start(2024) == secs(wanted)


def test_offsets_are_read_as_java_writes_them():
    assert [offset_secs(text) for text in ("Z", "-05:00", "+05:45", "-04:56:02")] == [0, -18_000, 20_700, -17_762]


def test_transitions_in_another_form_are_refused():
    with pytest.raises(ValueError, match="another form"):
        time_zone("X", 0, "[Transition[Gap on Sunday]]", [])
