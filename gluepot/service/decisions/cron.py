"""Schedules as AWS writes them: `cron(Minutes Hours Day-of-month Month Day-of-week Year)` in UTC. Pure.

The rules are those of docs/glue 11.7. No published parser can be used: those for this form fail on `LW`, on lists that
contain `L` or `W`, on steps of years, and on the 29th of February.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

LEAST_MINUTES = 5
"""The shortest time between two firings that AWS Glue allows."""

_FORM = re.compile(r"\s*cron\((?P<fields>[^()]*)\)\s*")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_SATURDAY = 7
_MINUTES_OF_HOUR, _LAST_HOUR = 60, 23
# No month has a weekday six times.
_MOST_OCCURRENCES = 5


class CronError(Exception):
    """A schedule that is malformed or not allowed. The message is one sentence for people."""


@dataclass(frozen=True, slots=True)
class _Field:
    """What a field may hold.

    Args:
        name: for messages.
        least: its smallest number.
        most: its largest number.
        names: of the numbers, from the smallest one.
    """

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_MINUTE = _Field("Minutes", 0, 59)
_HOUR = _Field("Hours", 0, _LAST_HOUR)
_DAY = _Field("Day-of-month", 1, 31)
_MONTH = _Field("Month", 1, 12, _MONTHS)
_WEEKDAY = _Field("Day-of-week", 1, 7, _WEEKDAYS)
_YEAR = _Field("Year", 1970, 2199)

# Returns the days of a month on which a part of a day field fires, given the year and the month.
_Days = Callable[[int, int], Iterable[int]]


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule.

    Args:
        minutes: of an hour, in order.
        hours: of a day, in order.
        months: of a year.
        years: in which it fires.
        days: the parts of the day field that is not `?`.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: frozenset[int]
    years: frozenset[int]
    days: tuple[_Days, ...]

    def days_of(self, year: int, month: int) -> list[int]:
        """Return the days of a month on which it fires, in order."""
        if year not in self.years or month not in self.months:
            return []
        return sorted({day for part in self.days for day in part(year, month)})

    def dates(self, since: date) -> Iterator[date]:
        """Yield the dates on which it fires, from a date on."""
        for year in sorted(one for one in self.years if one >= since.year):
            for month in sorted(self.months):
                for day in self.days_of(year, month):
                    if (found := date(year, month, day)) >= since:
                        yield found


def next_time(expression: str, after: datetime) -> datetime | None:
    """Return when a schedule fires next.

    Args:
        expression: such as `cron(0 18 ? * MON-FRI *)`.
        after: the result is later than this time, which has a time zone.

    Returns:
        The time in UTC; None if it never fires again.

    Raises:
        CronError: the expression is malformed, or fires more often than every five minutes.
    """
    cron = parse(expression)
    utc = after.astimezone(UTC)
    for day in cron.dates(utc.date()):
        for hour in cron.hours:
            for minute in cron.minutes:
                found = datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
                if found > utc:
                    return found
    return None


def check_schedule(expression: str, now: datetime) -> None:
    """Refuse a schedule that AWS Glue would refuse.

    Raises:
        CronError: the expression is malformed, fires more often than every five minutes, or never from now on.
    """
    if next_time(expression, now) is None:
        raise CronError(f"The schedule {expression} never fires after {now:%Y-%m-%d %H:%M}; choose days that come.")


# Messages repeat parts of a schedule. The lists of all minutes, hours and days have 314 characters.
_MOST_CHARACTERS = 500


@lru_cache(maxsize=1024)
def parse(expression: str) -> Cron:
    """Return a schedule.

    Raises:
        CronError: the expression is malformed, or fires more often than every five minutes.
    """
    if len(expression) > _MOST_CHARACTERS:
        raise CronError(f"The schedule has {len(expression)} characters; use at most {_MOST_CHARACTERS}.")
    found = _FORM.fullmatch(expression)
    if found is None:
        raise CronError(
            f"The schedule {expression!r} has not the form cron(Minutes Hours Day-of-month Month Day-of-week Year)."
        )
    fields = found["fields"].upper().split()
    if len(fields) != 6:
        raise CronError(
            f"The schedule {expression} has {len(fields)} fields; give the six fields "
            "Minutes Hours Day-of-month Month Day-of-week Year."
        )
    minutes, hours, days, months, weekdays, years = fields
    if (days == "?") == (weekdays == "?"):
        raise CronError(
            f"The schedule {expression} has {days} as Day-of-month and {weekdays} as Day-of-week; "
            "write ? in exactly one of the two."
        )
    cron = Cron(
        tuple(sorted(_numbers(_MINUTE, minutes))),
        tuple(sorted(_numbers(_HOUR, hours))),
        frozenset(_numbers(_MONTH, months)),
        frozenset(_numbers(_YEAR, years)),
        _days(days) if weekdays == "?" else _weekdays(weekdays),
    )
    if _too_often(cron):
        raise CronError(
            f"The schedule {expression} fires more often than every {LEAST_MINUTES} minutes; make its steps longer."
        )
    return cron


def _numbers(field: _Field, text: str) -> set[int]:
    return {number for part in text.split(",") for number in _range(field, part)}


def _range(field: _Field, part: str) -> Sequence[int]:
    """Return the numbers of one part of a list: a number, a range, `*`, or one of these with a step.

    A range may go over the end of the field: `FRI-MON` has four days. Years have no end to go over.
    """
    span, slash, step_text = part.partition("/")
    if slash and (not step_text.isdecimal() or not 1 <= int(step_text) <= max(1, field.most)):
        raise CronError(f"{field.name} has the step {step_text!r} in {part!r}; use a number from 1 to {field.most}.")
    step = int(step_text) if slash else 1
    if span == "*":
        return range(field.least, field.most + 1, step)
    first_text, dash, last_text = span.partition("-")
    first = _number(field, first_text, part)
    if not dash:
        return range(first, field.most + 1, step) if slash else (first,)
    last = _number(field, last_text, part)
    if first <= last:
        return range(first, last + 1, step)
    if field is _YEAR:
        raise CronError(f"{field.name} has the range {span!r}, which ends before it begins.")
    return [*range(first, field.most + 1), *range(field.least, last + 1)][::step]


def _number(field: _Field, text: str, part: str) -> int:
    if text in field.names:
        return field.least + field.names.index(text)
    if not (text.isascii() and text.isdecimal()) or not field.least <= int(text) <= field.most:
        named = f" or {field.names[0]} to {field.names[-1]}" if field.names else ""
        raise CronError(f"{field.name} has {part!r}; use numbers from {field.least} to {field.most}{named}.")
    return int(text)


def _days(text: str) -> tuple[_Days, ...]:
    return tuple(_day(part) for part in text.split(","))


def _day(part: str) -> _Days:
    """Return the days of one part of Day-of-month, which may also be `L`, `L-3`, `LW` or `15W`."""
    if part == "L":
        return lambda year, month: [_length(year, month)]
    if part == "LW":
        return lambda year, month: [_nearest_weekday(year, month, _length(year, month))]
    if part.startswith("L-"):
        before = _number(_DAY, part.removeprefix("L-"), part)
        return lambda year, month: [_length(year, month) - before] if _length(year, month) > before else []
    if part.endswith("W"):
        wanted = _number(_DAY, part.removesuffix("W"), part)
        return lambda year, month: [_nearest_weekday(year, month, wanted)] if wanted <= _length(year, month) else []
    chosen = _range(_DAY, part)
    return lambda year, month: [day for day in chosen if day <= _length(year, month)]


def _weekdays(text: str) -> tuple[_Days, ...]:
    return tuple(_weekday(part) for part in text.split(","))


def _weekday(part: str) -> _Days:
    """Return the days of one part of Day-of-week, which may also be `L` (Saturday), `6L` or `6#3`."""
    name, mark, number = part.partition("#")
    if mark:
        weekday = _number(_WEEKDAY, name, part)
        if number not in {str(one) for one in range(1, _MOST_OCCURRENCES + 1)}:
            raise CronError(f"Day-of-week has {part!r}; use a number from 1 to {_MOST_OCCURRENCES} after #.")
        return lambda year, month: _on(year, month, {weekday})[int(number) - 1 : int(number)]
    if part.endswith("L") and part != "L":
        weekday = _number(_WEEKDAY, part.removesuffix("L"), part)
        return lambda year, month: _on(year, month, {weekday})[-1:]
    chosen = {_SATURDAY} if part == "L" else set(_range(_WEEKDAY, part))
    return lambda year, month: _on(year, month, chosen)


def _on(year: int, month: int, weekdays: set[int]) -> list[int]:
    """Return the days of a month that are certain weekdays; 1 is Sunday."""
    return [day for day in range(1, _length(year, month) + 1) if _weekday_of(year, month, day) in weekdays]


def _weekday_of(year: int, month: int, day: int) -> int:
    return (calendar.weekday(year, month, day) + 1) % 7 + 1


def _nearest_weekday(year: int, month: int, day: int) -> int:
    """Return the day from Monday to Friday of the same month that is nearest to a day."""
    match _WEEKDAYS[_weekday_of(year, month, day) - 1]:
        case "SAT":
            return day - 1 if day > 1 else day + 2
        case "SUN":
            return day + 1 if day < _length(year, month) else day - 2
    return day


def _length(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]


def _too_often(cron: Cron) -> bool:
    if any(later - earlier < LEAST_MINUTES for earlier, later in pairwise(cron.minutes)):
        return True
    if cron.minutes[0] + _MINUTES_OF_HOUR - cron.minutes[-1] >= LEAST_MINUTES:
        return False
    if any(later - earlier == 1 for earlier, later in pairwise(cron.hours)):
        return True
    # The last firing of a day may be close to the first one of the next day.
    return (cron.hours[0], cron.hours[-1]) == (0, _LAST_HOUR) and any(
        later - earlier == timedelta(days=1) for earlier, later in pairwise(cron.dates(date.min))
    )
