"""The proleptic Gregorian calendar for years that Python's dates do not have."""

from __future__ import annotations

from typing import Final

DAY_MICROS: Final = 86_400_000_000
# From 0000-03-01, where a cycle of 400 years begins, to 1970-01-01.
_EPOCH: Final = 719_468
_CYCLE_DAYS: Final = 146_097
_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def day_number(year: int, month: int, day: int) -> int | None:
    """Return the days from 1970-01-01; None if there is no such day.

    The year before year 1 is year 0.
    """
    if not 1 <= month <= 12 or not 1 <= day <= _MONTH_DAYS[month - 1] + (month == 2 and _is_leap(year)):
        return None
    # Years that begin in March have their leap day at the end. 153 days are five months from March or August.
    shifted = year - (month <= 2)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + of_year - _EPOCH


def civil(days: int) -> tuple[int, int, int]:
    """Return year, month and day of a number of days from 1970-01-01."""
    cycle, of_cycle = divmod(days + _EPOCH, _CYCLE_DAYS)
    year = (of_cycle - of_cycle // 1460 + of_cycle // 36524 - of_cycle // 146096) // 365
    of_year = of_cycle - (365 * year + year // 4 - year // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return cycle * 400 + year + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def date_text(days: int) -> str:
    """Return a day as Java writes it: years after 9999 have a sign."""
    year, month, day = civil(days)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}"


def timestamp_text(micros: int) -> str:
    """Return microseconds from 1970 as Spark writes a timestamp in UTC."""
    days, rest = divmod(micros, DAY_MICROS)
    seconds, fraction = divmod(rest, 1_000_000)
    text = f"{date_text(days)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
