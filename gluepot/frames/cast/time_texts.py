"""Reads dates and timestamps in all forms that Spark's cast reads. Slow; `times` reads the usual forms.

After `DateTimeUtils.stringToDate` and `stringToTimestamp` of Spark. A time without a date is not read, because Spark
adds the day on which it runs and a batch that is tried again has to give the same rows.
"""

from __future__ import annotations

import re

from gluepot.frames.cast.calendar import day_number
from gluepot.frames.cast.texts import BLANKS, CONTROLS
from gluepot.frames.cast.zones import offset_secs
from gluepot.frames.time_zone import UTC, TimeZone

_DATE = re.compile(r"([+-]?)(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.ASCII | re.DOTALL)
_TIMESTAMP = re.compile(
    r"([+-]?)(\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[ T](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(\.\d*)?([^\d].*)?)?)?)?)?)?",
    re.ASCII | re.DOTALL,
)
_INT32, _INT64 = 2**31, 2**63
_MICRO_DIGITS = 6


def read_date(text: str) -> int | None:
    """Return the days from 1970-01-01; None if the text is not a date.

    Reads `2024`, `2024-2`, `2024-2-5`, with a sign, and after a whole date a space or T with any text.
    """
    found = _DATE.fullmatch(text.strip(CONTROLS))
    if found is None:
        return None
    days = _day(found)
    return days if days is not None and -_INT32 <= days < _INT32 else None


def read_timestamp(text: str, zone: TimeZone = UTC) -> int | None:
    """Return microseconds from 1970; None if the text is not a timestamp with a date.

    Reads `2024`, `2024-2`, `2024-2-5`, `2024-2-5 4`, `2024-2-5T4:5`, and with seconds also a fraction and a zone.

    Args:
        text: what is to be read.
        zone: the zone of a text that has none.
    """
    found = _TIMESTAMP.fullmatch(text.strip(CONTROLS))
    if found is None or (days := _day(found)) is None:
        return None
    hour, minute, second = (int(found[group] or 0) for group in (5, 6, 7))
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = (found[8] or ".")[1:][:_MICRO_DIGITS].ljust(_MICRO_DIGITS, "0")
    local_secs = days * 86_400 + hour * 3600 + minute * 60 + second
    offset = offset_secs(found[9].strip(BLANKS), local_secs) if found[9] else zone.offset_of(local_secs)
    if offset is None:
        return None
    micros = (local_secs - offset) * 1_000_000 + int(fraction)
    return micros if -_INT64 <= micros < _INT64 else None


def _day(found: re.Match[str]) -> int | None:
    year = int(found[2]) * (-1 if found[1] == "-" else 1)
    return day_number(year, int(found[3] or 1), int(found[4] or 1))
