"""Time zones as tables of transitions.

Spark and the JVM say when a zone's clocks change; the table travels with a step. So a worker needs no time zone data of
its own, and its answers are those of Spark (docs/decisions/0071).
"""

from __future__ import annotations

import datetime as dt
import struct
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa

MICROS: Final = 1_000_000
# Rules repeat each 400 years, because the calendar does.
CYCLE_SECS: Final = 146_097 * 86_400
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # what a clock shows, of any zone
_MICROSECOND = dt.timedelta(microseconds=1)

# A zone without transitions, of one type and its name (RFC 8536).
_EMPTY_TZIF = b"TZif" + bytes(16) + struct.pack(">6l", 0, 0, 0, 0, 1, 4) + struct.pack(">lbb", 0, 0, 0) + b"UTC\0"

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TimeZone:
    """A time zone.

    Args:
        name: as Spark's session has it.
        starts: the seconds from 1970 UTC at which the offset changes, ascending.
        offsets: by how many seconds the zone is ahead of UTC: before the first start, then after each of them.
        repeats: whether the last 400 years of `starts` repeat forever; else the last offset stays.
    """

    name: str
    starts: tuple[int, ...] = ()
    offsets: tuple[int, ...] = (0,)
    repeats: bool = False

    @property
    def is_utc(self) -> bool:
        """Whether local times are those of UTC, always."""
        return self.offsets == (0,)

    @property
    def tzinfo(self) -> dt.tzinfo:
        """The zone for Python's datetimes."""
        return _tzinfo(self)

    def offset_at(self, secs: int) -> int:
        """Return by how many seconds the zone is ahead of UTC at an instant, given in seconds from 1970 UTC."""
        limits = _limits(self).starts
        return self.offsets[bisect_right(limits, _within(self, limits, secs))]

    def offset_of(self, local_secs: int, *, second: bool = False) -> int:
        """Return by how many seconds the zone is ahead of UTC when its clocks show a time.

        Args:
            local_secs: what they show, in seconds from 1970-01-01.
            second: of an hour that occurs twice, whether the second one is meant. A time that is skipped has the offset
                from before the gap, or with `second` that from after it. So without, it becomes the time that is later
                by the length of the gap. Java resolves both in this way.
        """
        limits = _limits(self)
        secs = _within(self, limits.local, local_secs)
        at = bisect_right(limits.local, secs)
        if second and at < len(self.starts) and secs >= self.starts[at] + min(self.offsets[at : at + 2]):
            at += 1
        return self.offsets[at]

    def offsets_at(self, secs: Int64s) -> Int64s:
        """Do what `offset_at` does, for many."""
        limits = _limits(self)
        return _offsets(self, limits.starts_array, limits.offsets, secs)

    def offsets_of(self, local_secs: Int64s) -> Int64s:
        """Do what `offset_of` does, for many."""
        limits = _limits(self)
        return _offsets(self, limits.local_array, limits.offsets, local_secs)


UTC: Final = TimeZone("UTC")


def local_micros(instants: pa.Array, zone: TimeZone) -> pa.Array:
    """Return what a zone's clocks show, as int64 of microseconds from 1970-01-01.

    Args:
        instants: int64, microseconds from 1970 UTC, of years -9999 to 9999.
        zone: the zone.
    """
    return _shifted(instants, zone.offsets_at)


def instant_micros(local: pa.Array, zone: TimeZone) -> pa.Array:
    """Return when a zone's clocks show a time, as int64 of microseconds from 1970 UTC; see `offset_of`.

    Args:
        local: int64, microseconds from 1970-01-01, of years -9999 to 9999.
        zone: the zone.
    """
    return _shifted(local, lambda secs: -zone.offsets_of(secs))


def datetime_at(micros: int, zone: TimeZone) -> dt.datetime:
    """Return an instant, in microseconds from 1970 UTC, as a datetime of the zone.

    Raises:
        OverflowError: Python has no such year.
    """
    secs = micros // MICROS
    offset = zone.offset_at(secs)
    local = _EPOCH + (micros + offset * MICROS) * _MICROSECOND
    is_second = zone.offset_of(secs + offset) != offset
    return local.replace(tzinfo=zone.tzinfo, fold=1 if is_second else 0)


@dataclass(frozen=True, slots=True)
class _Limits:
    """The starts of a zone, and for each the local time from which on the offset after it counts."""

    starts: tuple[int, ...]
    local: tuple[int, ...]
    starts_array: Int64s
    local_array: Int64s
    offsets: Int64s


@lru_cache(maxsize=8)
def _limits(zone: TimeZone) -> _Limits:
    # The end of the gap, or of the hour that occurs twice.
    local = tuple(start + max(zone.offsets[at : at + 2]) for at, start in enumerate(zone.starts))
    arrays = (np.array(numbers, np.int64) for numbers in (zone.starts, local, zone.offsets))
    return _Limits(zone.starts, local, *arrays)


def _within(zone: TimeZone, limits: tuple[int, ...], secs: int) -> int:
    """Return a time within the table at which the offset is the same."""
    if zone.repeats and secs >= limits[-1]:
        secs -= ((secs - limits[-1]) // CYCLE_SECS + 1) * CYCLE_SECS
    return secs


def _offsets(zone: TimeZone, limits: Int64s, offsets: Int64s, secs: Int64s) -> Int64s:
    if zone.repeats and len(secs) and secs.max() >= limits[-1]:
        secs = secs - np.maximum((secs - limits[-1]) // CYCLE_SECS + 1, 0) * CYCLE_SECS
    found: Int64s = offsets[np.searchsorted(limits, secs, side="right")]
    return found


def _shifted(micros: pa.Array, offsets: Callable[[Int64s], Int64s]) -> pa.Array:
    plain = np.asarray(micros.fill_null(0)) if micros.null_count else np.asarray(micros)
    moved = plain + offsets(plain // MICROS) * MICROS
    mask = np.asarray(micros.is_null()) if micros.null_count else None
    return pa.array(moved, pa.int64(), mask=mask)


class _SessionZone(ZoneInfo):
    """A `TimeZone` for Python's datetimes, `fold` as in PEP 495.

    It is a ZoneInfo because pandas takes any other kind for a fixed offset.
    """

    _zone: TimeZone

    @classmethod
    def of(cls, zone: TimeZone) -> _SessionZone:
        """Return the zone; Python's own data are not used."""
        made = cls.from_file(BytesIO(_EMPTY_TZIF), zone.name)
        made._zone = zone  # noqa: SLF001
        return made

    def utcoffset(self, at: dt.datetime | None) -> dt.timedelta | None:
        if at is None:
            return None
        secs = (at.replace(tzinfo=None) - _EPOCH) // dt.timedelta(seconds=1)
        return dt.timedelta(seconds=self._zone.offset_of(secs, second=bool(at.fold)))

    def dst(self, _: dt.datetime | None) -> dt.timedelta | None:
        return None

    def tzname(self, _: dt.datetime | None) -> str:
        return self._zone.name

    def fromutc(self, at: dt.datetime) -> dt.datetime:
        return datetime_at((at.replace(tzinfo=None) - _EPOCH) // _MICROSECOND, self._zone)

    def __reduce__(self) -> tuple[Any, ...]:
        return _tzinfo, (self._zone,)


@lru_cache(maxsize=8)
def _tzinfo(zone: TimeZone) -> dt.tzinfo:
    return dt.UTC if zone.is_utc else _SessionZone.of(zone)
