"""Spark's interval strings, as `windowSize` takes them."""

from __future__ import annotations

import re
from decimal import Decimal

from gluepot.core.errors import ConfigError

_UNIT_MICROS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
_LONGEST_MICROS = 2**63 - 1  # Spark keeps an interval as a signed 64-bit count of microseconds
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
_EXAMPLES = "'100 seconds', '1 minute 30 seconds' or '500 milliseconds'"


def parse_interval(interval: object, option: str = "windowSize") -> float:
    """Return the seconds of a Spark interval.

    The grammar is that of Spark's `IntervalUtils.stringToInterval` without months and years, which have no fixed
    length: pairs of number and unit, singular or plural, in any letter case, after an optional `interval`. A bare
    number means seconds.

    Args:
        interval: a text such as `1 minute 30 seconds`, or a number of seconds.
        option: the name to use in the error.

    Raises:
        ConfigError: not an interval, negative, or longer than Spark can count.
    """
    words = [] if isinstance(interval, bool) else str(interval).lower().split()
    if len(words) == 1:
        words.append("seconds")
    if words[:1] == ["interval"]:
        words = words[1:]
    numbers, units = words[::2], [word.removesuffix("s") for word in words[1::2]]
    readable = (
        len(numbers) == len(units) > 0
        and all(_NUMBER.fullmatch(number) for number in numbers)
        and all(unit in _UNIT_MICROS for unit in units)
    )
    if readable:
        micros = sum(Decimal(n) * _UNIT_MICROS[unit] for n, unit in zip(numbers, units, strict=True))
        if 0 <= micros <= _LONGEST_MICROS:
            return float(micros / 1_000_000)
    raise ConfigError(f"{option} is {interval!r}, which is not an interval Spark knows; write {_EXAMPLES}")
