"""Lengths of time as scripts and people write them, in the two forms that Spark has. Pure.

Where Glue hands a text to Spark as an interval, we accept no more than Spark does: the script would fail on Glue.
"""

from __future__ import annotations

import re
from decimal import Decimal

# Of `IntervalUtils.stringToInterval`, without months and years, which have no fixed length.
_INTERVAL_MICROS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
# Of `JavaUtils.timeStringAs`.
_SHORT_MICROS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
_LONGEST_MICROS = 2**63 - 1  # Spark keeps an interval as a signed 64-bit count of microseconds
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
_SHORT = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.ASCII)


def interval_secs(given: object) -> float | None:
    """Return the seconds of a Spark interval; None where it is none, is negative, or is longer than Spark can count.

    The grammar is that of `IntervalUtils.stringToInterval`: pairs of number and unit, singular or plural, in any letter
    case, after an optional `interval`. A bare number means seconds.

    Args:
        given: a text such as `1 minute 30 seconds`, or a number of seconds.
    """
    words = [] if isinstance(given, bool) else str(given).lower().split()
    if len(words) == 1:
        words.append("seconds")
    if words[:1] == ["interval"]:
        words = words[1:]
    numbers, units = words[::2], [word.removesuffix("s") for word in words[1::2]]
    readable = (
        len(numbers) == len(units) > 0
        and all(_NUMBER.fullmatch(number) for number in numbers)
        and all(unit in _INTERVAL_MICROS for unit in units)
    )
    if not readable:
        return None
    return _secs(sum((Decimal(n) * _INTERVAL_MICROS[unit] for n, unit in zip(numbers, units, strict=True)), Decimal()))


def duration_secs(given: object, *, bare_unit: str = "s") -> float | None:
    """Return the seconds of a time such as `15m`, `500 ms` or `1 minute 30 seconds`; None where it is none.

    It is a number with a short unit as in `JavaUtils.timeStringAs`, or an interval.

    Args:
        given: a text, or a number.
        bare_unit: the short unit of a number that has none.
    """
    short = _SHORT.fullmatch(str(given).strip().lower())
    unit = short and (short[2] or bare_unit)
    if short and unit in _SHORT_MICROS:
        return _secs(Decimal(short[1]) * _SHORT_MICROS[unit])
    return interval_secs(given)


def _secs(micros: Decimal) -> float | None:
    return float(micros / 1_000_000) if 0 <= micros <= _LONGEST_MICROS else None
