"""Spark's interval strings, as `windowSize` takes them."""

from __future__ import annotations

from gluepot.core.durations import interval_secs
from gluepot.core.errors import ConfigError

_EXAMPLES = "'100 seconds', '1 minute 30 seconds' or '500 milliseconds'"


def parse_interval(interval: object, option: str = "windowSize") -> float:
    """Return the seconds of a Spark interval; a bare number means seconds.

    Args:
        interval: a text such as `1 minute 30 seconds`, or a number of seconds.
        option: the name to use in the error.

    Raises:
        ConfigError: not an interval, negative, or longer than Spark can count.
    """
    secs = interval_secs(interval)
    if secs is None:
        raise ConfigError(f"{option} is {interval!r}, which is not an interval Spark knows; write {_EXAMPLES}")
    return secs
