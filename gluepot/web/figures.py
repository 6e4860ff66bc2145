"""Formats numbers for people: with few digits, and always with a unit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

UNKNOWN = "\N{EN DASH}"
_SPACE = "\N{NARROW NO-BREAK SPACE}"
_MINUTE_SECS, _HOUR_SECS, _DAY_SECS = 60, 3_600, 86_400


class Figure(NamedTuple):
    """A number and its unit, kept apart so that the page can style them differently."""

    value: str
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value}{_SPACE}{self.unit}" if self.unit else self.value


def count(number: float | None) -> Figure:
    """Return a count: `9,876`, `12.3 k`, `4.56 M`."""
    if number is None:
        return Figure(UNKNOWN)
    if abs(number) < 9_999.5:
        return Figure(f"{number:,.0f}")
    return _scaled(number, 1_000, ("k", "M", "G", "T"))


def rate(number: float | None) -> Figure:
    """Return rows per second."""
    if number is None:
        return Figure(UNKNOWN)
    value, unit = count(number) if number >= 10 or number == 0 else Figure(f"{number:.1f}")
    return Figure(value, f"{unit} rows/s".strip())


def size(size_bytes: float | None) -> Figure:
    """Return an amount of bytes, in powers of 1,000."""
    if size_bytes is None:
        return Figure(UNKNOWN)
    if size_bytes < 999.5:
        return Figure(f"{size_bytes:.0f}", "B")
    return _scaled(size_bytes, 1_000, ("kB", "MB", "GB", "TB"))


def span(secs: float | None) -> Figure:
    """Return a length of time: `850 ms`, `2.1 s`, `5 s`, `3:20 min`, `2:05 h`, `3.2 d`."""
    if secs is None:
        return Figure(UNKNOWN)
    if secs < 0.9995:
        return Figure(f"{secs * 1_000:.0f}", "ms")
    if secs < 9.95:
        return Figure(f"{secs:.1f}".removesuffix(".0"), "s")
    whole = round(secs)
    if whole < _MINUTE_SECS:
        return Figure(f"{whole}", "s")
    if whole < _HOUR_SECS:
        return Figure(f"{whole // _MINUTE_SECS}:{whole % _MINUTE_SECS:02}", "min")
    if whole < _DAY_SECS:
        return Figure(f"{whole // _HOUR_SECS}:{whole % _HOUR_SECS // _MINUTE_SECS:02}", "h")
    return Figure(f"{secs / _DAY_SECS:.1f}", "d")


def share(part: float | None) -> Figure:
    """Return a part of 1 in per cent."""
    return Figure(UNKNOWN) if part is None else Figure(f"{part * 100:.0f}", "%")


def clock_time(epoch: float) -> str:
    """Return the time of day, UTC."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%H:%M:%S")


def iso_time(epoch: float) -> str:
    """Return a time in the format of `<time datetime>`."""
    return datetime.fromtimestamp(epoch, UTC).isoformat(timespec="seconds")


def _scaled(number: float, step: int, units: tuple[str, ...]) -> Figure:
    scaled = number / step
    for unit in units[:-1]:
        if abs(scaled) < step * 0.9995:
            return Figure(_three_digits(scaled), unit)
        scaled /= step
    return Figure(_three_digits(scaled), units[-1])


def _three_digits(number: float) -> str:
    digits = 2 if abs(number) < 9.995 else 1 if abs(number) < 99.95 else 0
    return f"{number:,.{digits}f}"
