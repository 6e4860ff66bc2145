"""Time zones as Java and Spark name them, and their offsets."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

# Java's ZoneId.SHORT_IDS.
_SHORT_IDS = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
# Names in Python's data that Java does not know.
_NOT_IN_JAVA = frozenset({"Factory", "localtime", "EST", "HST", "MST", "ROC", "posixrules"})
# Spark writes these in Java's form first.
_SINGLE_HOUR = re.compile(r"([+-])(\d):", re.ASCII)
_SINGLE_MINUTE = re.compile(r"([+-])(\d\d):(\d)$", re.ASCII)
_OFFSET = re.compile(
    r"([+-])(?:(\d)|(\d\d)|(\d\d):?(\d\d)|(\d\d)(\d\d)(\d\d)|(\d\d):(\d\d):(\d\d))",
    re.ASCII,
)
_MOST_OFFSET_SECS = 18 * 3600
_DAY_SECS = 86_400
# Rules repeat each 400 years, because the calendar does.
_CYCLE_SECS = 146_097 * _DAY_SECS
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # local times
_FIRST_SECS = int((dt.datetime(1, 1, 3) - _EPOCH).total_seconds())  # noqa: DTZ001
_LAST_SECS = int((dt.datetime(9999, 12, 29) - _EPOCH).total_seconds())  # noqa: DTZ001


def offset_secs(zone: str, local_secs: int) -> int | None:
    """Return by how many seconds a zone is ahead of UTC at a local time; None if there is no such zone.

    In an hour that occurs twice the first one counts. A time that is skipped has the offset from before.

    Args:
        zone: in a form that Spark reads: `Z`, `+01:00`, `+1`, `-013015`, `UTC+3`, `PST`, `Europe/Berlin`.
        local_secs: what the clock of the zone shows, as seconds from 1970-01-01.
    """
    zone = _SINGLE_MINUTE.sub(r"\1\2:0\3", _SINGLE_HOUR.sub(r"\g<1>0\2:", zone, count=1), count=1)
    zone = _SHORT_IDS.get(zone, zone)
    if zone in ("Z", "UTC", "GMT", "UT"):
        return 0
    if zone[0] in "+-":
        return _fixed(zone)
    for prefix in ("UTC", "GMT", "UT"):
        if zone.startswith(prefix) and zone[len(prefix)] in "+-":
            return _fixed(zone[len(prefix) :])
    region = _region(zone)
    return None if region is None else _at(region, local_secs)


def _fixed(text: str) -> int | None:
    found = _OFFSET.fullmatch(text)
    if found is None:
        return None
    parts = [int(part) for part in found.groups()[1:] if part is not None]
    hours, minutes, seconds = (*parts, 0, 0)[:3]
    total = hours * 3600 + minutes * 60 + seconds
    if minutes > 59 or seconds > 59 or total > _MOST_OFFSET_SECS:
        return None
    return -total if found[1] == "-" else total


@lru_cache
def _region(name: str) -> ZoneInfo | None:
    return ZoneInfo(name) if name in _names() else None


@lru_cache
def _names() -> frozenset[str]:
    return frozenset(available_timezones() - _NOT_IN_JAVA)


def _at(region: ZoneInfo, local_secs: int) -> int:
    if local_secs < _FIRST_SECS:
        local_secs = _FIRST_SECS
    elif local_secs > _LAST_SECS:
        local_secs -= ((local_secs - _LAST_SECS) // _CYCLE_SECS + 1) * _CYCLE_SECS
    offset = region.utcoffset(_EPOCH + dt.timedelta(seconds=local_secs))
    assert offset is not None  # only a zone without rules has none
    return int(offset.total_seconds())
