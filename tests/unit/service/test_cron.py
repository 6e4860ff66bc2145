"""Schedules: examples from AWS's documents, and a comparison with a matcher that tries every minute."""

import calendar
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluepot.service.decisions.cron import CronError, check_schedule, next_time, parse


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("fields", "after", "expected"),
    [
        ("15 12 * * ? *", "2026-01-01 12:14:59", "2026-01-01 12:15"),
        ("15 12 * * ? *", "2026-01-01 12:15", "2026-01-02 12:15"),
        ("0 18 ? * MON-FRI *", "2026-01-02 18:00", "2026-01-05 18:00"),
        ("0 18 ? * mon-fri *", "2026-01-02 18:00", "2026-01-05 18:00"),
        ("0 8 1 * ? *", "2026-01-01 08:00", "2026-02-01 08:00"),
        ("0/10 * ? * MON-FRI *", "2026-01-02 23:50", "2026-01-05 00:00"),
        ("0/5 8-17 ? * MON-FRI *", "2026-01-02 17:55", "2026-01-05 08:00"),
        ("1/10 * * * ? *", "2026-01-01 00:01", "2026-01-01 00:11"),
        ("*/15 0-6/2 ? JAN,MAR MON,WED *", "2026-01-28 06:45", "2026-03-02 00:00"),
        ("0 0 L * ? *", "2026-02-01", "2026-02-28 00:00"),
        ("0 0 1,L * ? *", "2026-01-01", "2026-01-31 00:00"),
        ("0 0 L-2 * ? *", "2026-02-01", "2026-02-26 00:00"),
        ("0 0 LW * ? *", "2026-01-01", "2026-01-30 00:00"),
        ("0 0 LW * ? *", "2026-05-01", "2026-05-29 00:00"),
        ("0 0 1W * ? *", "2026-07-30", "2026-08-03 00:00"),
        ("0 0 15W * ? *", "2026-08-01", "2026-08-14 00:00"),
        ("0 0 31W * ? *", "2026-04-01", "2026-05-29 00:00"),
        ("0 0 3,15W * ? *", "2026-08-03", "2026-08-14 00:00"),
        ("0 0 ? * L *", "2026-01-01", "2026-01-03 00:00"),
        ("0 0 ? * 6L *", "2026-01-01", "2026-01-30 00:00"),
        ("0 0 ? * FRIL *", "2026-01-01", "2026-01-30 00:00"),
        ("0 0 ? * 3#2 *", "2026-01-01", "2026-01-13 00:00"),
        ("0 0 ? * TUE#5 *", "2026-01-01", "2026-03-31 00:00"),
        ("0 0 ? * FRI-MON *", "2026-01-06", "2026-01-09 00:00"),
        ("0 0 29 2 ? *", "2026-01-01", "2028-02-29 00:00"),
        ("0 0 29 2 ? *", "2096-02-29", "2104-02-29 00:00"),
        ("0 0 1 1 ? 2030/2", "2030-01-01", "2032-01-01 00:00"),
        ("59 23 31 12 ? 2199", "2026-01-01", "2199-12-31 23:59"),
    ],
)
def test_the_next_time_of_a_schedule(fields, after, expected):
    assert next_time(f"cron({fields})", at(after)) == at(expected)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("0 0 * * ? *", "has not the form"),
        ("rate(5 minutes)", "has not the form"),
        ("cron(0 0 * * ?)", "has 5 fields"),
        ("cron(0 0 * * * *)", "write [?] in exactly one"),
        ("cron(0 0 ? * ? *)", "write [?] in exactly one"),
        ("cron(0 0 1 * MON *)", "write [?] in exactly one"),
        ("cron(60 0 * * ? *)", "Minutes has '60'; use numbers from 0 to 59"),
        ("cron(0 24 * * ? *)", "Hours has '24'"),
        ("cron(0 0 0 * ? *)", "Day-of-month has '0'"),
        ("cron(0 0 32 * ? *)", "Day-of-month has '32'"),
        ("cron(0 0 1 FOO ? *)", "Month has 'FOO'; use numbers from 1 to 12 or JAN to DEC"),
        ("cron(0 0 ? * 8 *)", "Day-of-week has '8'"),
        ("cron(0 0 ? * 2#6 *)", "from 1 to 5 after #"),
        ("cron(0 0 ? * 2W *)", "Day-of-week has '2W'"),
        ("cron(0 0 1 1 ? 1969)", "Year has '1969'"),
        ("cron(0 0 1 1 ? 2030-2029)", "ends before it begins"),
        ("cron(0/0 0 * * ? *)", "has the step '0'"),
        ("cron(*/100 0 * * ? *)", "has the step '100'"),
        ("cron(1,,2 0 * * ? *)", "Minutes has ''"),
        ("cron(L 0 * * ? *)", "Minutes has 'L'"),
        ("cron(٣ 0 * * ? *)", "Minutes has"),
        ("cron(0 ? * * ? *)", "Hours has '[?]'"),
        ("cron(* * * * ? *)", "more often than every 5 minutes"),
        ("cron(0/4 * * * ? *)", "more often than every 5 minutes"),
        ("cron(0,58 8-9 * * ? *)", "more often than every 5 minutes"),
        ("cron(0,58 0,23 * * ? *)", "more often than every 5 minutes"),
        ("cron(0 0 31 4 ? *)", "never fires after 2026-01-01"),
        ("cron(0 0 30 2 ? *)", "never fires"),
        ("cron(0 0 1 1 ? 2025)", "never fires"),
    ],
)
def test_what_is_refused_and_why(expression, reason):
    with pytest.raises(CronError, match=reason):
        check_schedule(expression, at("2026-01-01"))


@pytest.mark.parametrize("fields", ["0/5 * * * ? *", "0,58 8,10 * * ? *", "0,58 0,23 1,3 * ? *"])
def test_firings_five_minutes_apart_are_allowed(fields):
    assert parse(f"cron({fields})")


# The matcher below knows the rules in another way: it asks of each minute whether it fits.

NAMES = {
    "Month": [None, *calendar.month_abbr[1:]],
    "Day-of-week": [None, "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
}


def number(text, names):
    return next((at for at, name in enumerate(names) if name and name.upper() == text.upper()), None) or int(text)


def fits(text, value, least, most, names=()):
    for part in text.split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, last = least, most
        else:
            first, _, last = span.partition("-")
            first = number(first, names)
            last = number(last, names) if last else (most if step else first)
        if first <= last:
            inside, distance = first <= value <= last, value - first
        else:
            size = most - least + 1
            inside, distance = value >= first or value <= last, (value - first) % size
        if inside and distance % int(step or 1) == 0:
            return True
    return False


def day_fits(part, day):
    last = calendar.monthrange(day.year, day.month)[1]
    if part == "L":
        return day.day == last
    if part.endswith("W"):
        target = last if part == "LW" else int(part[:-1])
        if target > last or day.weekday() > 4:
            return False
        days = [one for one in range(1, last + 1) if datetime(day.year, day.month, one).weekday() < 5]
        return day.day == min(days, key=lambda one: abs(one - target))
    return fits(part, day.day, 1, 31)


def weekday_fits(part, day):
    weekday = (day.weekday() + 1) % 7 + 1
    last = calendar.monthrange(day.year, day.month)[1]
    if part == "L":
        return weekday == 7
    if part.endswith("L"):
        return weekday == number(part[:-1], NAMES["Day-of-week"]) and day.day + 7 > last
    if "#" in part:
        name, _, which = part.partition("#")
        return weekday == number(name, NAMES["Day-of-week"]) and (day.day - 1) // 7 + 1 == int(which)
    return fits(part, weekday, 1, 7, NAMES["Day-of-week"])


def brute_force(fields, after, until):
    minutes, hours, days, months, weekdays, years = fields
    now = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
    while now < until:
        day_matches = (
            fits(years, now.year, 1970, 2199)
            and fits(months, now.month, 1, 12, NAMES["Month"])
            and (
                any(day_fits(part, now) for part in days.split(","))
                if weekdays == "?"
                else any(weekday_fits(part, now) for part in weekdays.split(","))
            )
        )
        if not day_matches:
            now = now.replace(hour=0, minute=0) + timedelta(days=1)
        elif fits(hours, now.hour, 0, 23) and fits(minutes, now.minute, 0, 59):
            return now
        else:
            now += timedelta(minutes=1)
    return None


def values(least, most, names=()):
    spelled = st.integers(least, most).map(lambda n: names[n] if names and n % 2 else str(n))
    span = st.one_of(spelled, st.just("*"), st.tuples(spelled, spelled).map("-".join))
    return st.lists(
        st.one_of(span, st.tuples(span, st.integers(1, 7).map(str)).map("/".join)), min_size=1, max_size=3
    ).map(",".join)


DAYS = st.lists(
    st.one_of(values(1, 31), st.just("L"), st.just("LW"), st.integers(1, 31).map(lambda n: f"{n}W")),
    min_size=1,
    max_size=2,
).map(",".join)
WEEKDAY = st.sampled_from(["1", "4", "7", "sun", "Fri"])
WEEKDAYS = st.lists(
    st.one_of(
        values(1, 7, NAMES["Day-of-week"]),
        st.just("L"),
        WEEKDAY.map(lambda one: f"{one}L"),
        st.tuples(WEEKDAY, st.integers(1, 5)).map(lambda pair: f"{pair[0]}#{pair[1]}"),
    ),
    min_size=1,
    max_size=2,
).map(",".join)
YEARS = st.sampled_from(["*", "2024", "2024-2025", "2023/2", "1970/3", "2024,2026"])
MINUTES = st.sampled_from(["0", "59", "0/5", "4/11", "*/30", "10-50/20", "5,55", "50-10/10"])


@given(
    minutes=MINUTES,
    hours=values(0, 23),
    month=values(1, 12, NAMES["Month"]),
    day=st.one_of(st.tuples(DAYS, st.just("?")), st.tuples(st.just("?"), WEEKDAYS)),
    year=YEARS,
    after=st.datetimes(datetime(2023, 1, 1), datetime(2025, 12, 31)),
)
@settings(max_examples=3 * settings.default.max_examples)
def test_the_next_time_is_the_first_minute_that_fits(minutes, hours, month, day, year, after):
    fields = (minutes, hours, day[0], month, day[1], year)
    found = next_time(f"cron({' '.join(fields)})", after.replace(tzinfo=UTC))
    until = at("2027-01-01")
    expected = brute_force(fields, after.replace(tzinfo=UTC), until)
    assert expected == (found if found is not None and found < until else None)
