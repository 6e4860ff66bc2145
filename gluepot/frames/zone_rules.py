"""Makes a time zone from the rules that Java has for it. Pure; `gluepot.engine.session_zone` asks Java."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gluepot.frames.time_zone import CYCLE_SECS, TimeZone

_CYCLE_YEARS = 400
_DAY_SECS = 86_400
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_OFFSET = r"Z|[+-]\d\d:\d\d(?::\d\d)?"
_TRANSITION = re.compile(
    rf"Transition\[(?:Gap|Overlap) at (\d{{4}})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d))?({_OFFSET}) to ({_OFFSET})\]"
)


@dataclass(frozen=True, slots=True)
class YearlyRule:
    """A change of a zone's clocks in each year; the fields of Java's `ZoneOffsetTransitionRule`.

    Args:
        month: 1 to 12.
        day: of the month; negative ones count from its end, -1 is the last day.
        weekday: 1 is Monday: the first such day on or after `day`, or the last on or before a negative one; 0 for the
            day itself.
        secs_of_day: when; 86,400 for midnight at the end of the day.
        clock: what `secs_of_day` is told in: `UTC`, `WALL` or `STANDARD`.
        standard: offset of the zone's standard time from UTC, in seconds.
        before: offset before the change.
        after: offset after it.
    """

    month: int
    day: int
    weekday: int
    secs_of_day: int
    clock: str
    standard: int
    before: int
    after: int

    def start(self, year: int) -> int:
        """Return when the clocks change in a year, in seconds from 1970 UTC."""
        ahead = {"UTC": 0, "WALL": self.before, "STANDARD": self.standard}[self.clock]
        return (self._date(year) - _EPOCH_DAY) * _DAY_SECS + self.secs_of_day - ahead

    def _date(self, year: int) -> int:
        if self.day > 0:
            day = dt.date(year, self.month, self.day).toordinal()
            return day + (self.weekday - 1 - (day - 1)) % 7 if self.weekday else day
        after = dt.date(year + self.month // 12, self.month % 12 + 1, 1).toordinal()
        day = after + self.day
        return day - (day - 1 - (self.weekday - 1)) % 7 if self.weekday else day


def time_zone(name: str, first_offset: int, transitions: str, rules: Sequence[YearlyRule]) -> TimeZone:
    """Return a zone.

    Args:
        name: of the zone.
        first_offset: in seconds, before the first transition.
        transitions: Java's text of `ZoneRules.getTransitions()`.
        rules: for the years after the last transition.

    Raises:
        ValueError: a transition cannot be read, or the transitions do not ascend.
    """
    found = _TRANSITION.findall(transitions)
    if len(found) != transitions.count("Transition["):
        raise ValueError(f"Java's transitions of {name} have another form than Java 17 gives them: {transitions[:200]}")
    changes = [_change(one) for one in found]
    if rules:
        last = changes[-1][0] if changes else -CYCLE_SECS
        first_year = int(found[-1][0]) if found else 1970
        years = range(first_year, first_year + _CYCLE_YEARS + 2)
        later = sorted((rule.start(year), rule.after) for year in years for rule in rules)
        changes += [one for one in later if one[0] > last]
    starts = tuple(start for start, _ in changes)
    if list(starts) != sorted(set(starts)):
        raise ValueError(f"Java's transitions of {name} do not ascend.")
    return TimeZone(name, starts, (first_offset, *(offset for _, offset in changes)), repeats=bool(rules))


def _change(found: Sequence[str]) -> tuple[int, int]:
    year, month, day, hour, minute, second = (int(number or 0) for number in found[:6])
    days = dt.date(year, month, day).toordinal() - _EPOCH_DAY
    local = days * _DAY_SECS + hour * 3600 + minute * 60 + second
    return local - offset_secs(found[6]), offset_secs(found[7])


def offset_secs(text: str) -> int:
    """Return the seconds of an offset as Java writes it: `Z`, `-05:00`, `-04:56:02`."""
    if text == "Z":
        return 0
    hours, minutes, seconds = (*map(int, text[1:].split(":")), 0)[:3]
    return (hours * 3600 + minutes * 60 + seconds) * (-1 if text[0] == "-" else 1)
