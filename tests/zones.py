"""Time zones for tests that have no JVM to ask."""

from __future__ import annotations

from gluepot.frames.zone_rules import YearlyRule, time_zone

_HOUR = 3600
# As Java tells them, without the years between local mean time and today's rules.
NEW_YORK = time_zone(
    "America/New_York",
    -17_762,
    "[Transition[Overlap at 1883-11-18T12:03:58-04:56:02 to -05:00], Transition[Gap at 2007-03-11T02:00-05:00 to -04:00],"
    " Transition[Overlap at 2007-11-04T02:00-04:00 to -05:00]]",
    [
        YearlyRule(3, 8, 7, 2 * _HOUR, "WALL", -5 * _HOUR, -5 * _HOUR, -4 * _HOUR),
        YearlyRule(11, 1, 7, 2 * _HOUR, "WALL", -5 * _HOUR, -4 * _HOUR, -5 * _HOUR),
    ],
)
BERLIN = time_zone(
    "Europe/Berlin",
    3208,
    "[Transition[Gap at 1996-03-31T02:00+01:00 to +02:00], Transition[Overlap at 1996-10-27T03:00+02:00 to +01:00]]",
    [
        YearlyRule(3, -1, 7, _HOUR, "UTC", _HOUR, _HOUR, 2 * _HOUR),
        YearlyRule(10, -1, 7, _HOUR, "UTC", _HOUR, 2 * _HOUR, _HOUR),
    ],
)
