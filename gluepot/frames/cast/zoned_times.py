"""Casts between timestamps, dates and texts in a time zone other than UTC, as Spark has them (docs/decisions/0071).

A timestamp without a zone in its type is what a clock shows; so its text and its day are the same in every zone.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast import times
from gluepot.frames.cast.calendar import timestamp_text
from gluepot.frames.cast.masks import cast_each, cast_in_two
from gluepot.frames.cast.time_texts import read_timestamp
from gluepot.frames.time_zone import MICROS, TimeZone, instant_micros, local_micros

_INSTANT = pa.timestamp("us", tz="UTC")
_LOCAL = pa.timestamp("us")
_DAY_SECS = 86_400
_INT64_LIMIT = 2**63
# Times of the years that Arrow writes as Java does are in these years in every zone.
_FIRST, _LAST = -62_135_500_000 * MICROS, 253_402_200_000 * MICROS


def text_to_timestamp(texts: pa.StringArray, target: pa.DataType, zone: TimeZone) -> pa.Array:
    """Read the texts that `times.text_to_timestamp` reads; those without a zone are in this one."""
    read = times.text_to_timestamp_by(
        texts,
        lambda local: pc.cast(instant_micros(pc.cast(local, pa.int64()), zone), _INSTANT),
        partial(read_timestamp, zone=zone),
    )
    return pc.cast(read, target, safe=False)


def timestamp_to_text(array: pa.Array, target: pa.DataType, zone: TimeZone) -> pa.Array:
    """Write what the zone's clocks show."""
    if array.type.tz is None:
        return times.timestamp_to_text(array, target)
    micros = _micros(array)
    ordinary = pc.and_(pc.greater_equal(micros, _FIRST), pc.less_equal(micros, _LAST))
    return cast_in_two(
        micros,
        ordinary,
        lambda usual: times.timestamp_to_text(pc.cast(local_micros(usual, zone), _LOCAL), target),
        lambda odd: cast_each(odd, target, lambda at: timestamp_text(at + zone.offset_at(at // MICROS) * MICROS)),
    )


def timestamp_to_date(array: pa.Array, target: pa.DataType, zone: TimeZone) -> pa.Array:
    """Take the day that the zone's calendars show."""
    if array.type.tz is None:
        return times.timestamp_to_date(array, target)
    micros = _micros(array)
    secs = np.asarray(micros.fill_null(0)) // MICROS
    days = (secs + zone.offsets_at(secs)) // _DAY_SECS
    mask = np.asarray(micros.is_null())
    return pc.cast(pc.cast(pa.array(days.astype(np.int32), pa.int32(), mask=mask), pa.date32()), target)


def date_to_timestamp(array: pa.Array, target: pa.DataType, zone: TimeZone) -> pa.Array:
    """Take the day's first instant in the zone; null if a timestamp cannot hold it."""
    days = pc.cast(pc.cast(array, pa.int32()), pa.int64())
    local = np.asarray(days.fill_null(0)) * _DAY_SECS
    secs = local - zone.offsets_of(local)
    most = _INT64_LIMIT // MICROS
    mask = np.asarray(days.is_null()) | (secs < -most) | (secs > most)
    micros = pa.array(np.where(mask, 0, secs) * MICROS, pa.int64(), mask=mask)
    return pc.cast(pc.cast(micros, _INSTANT), target)


def timestamp_to_timestamp(array: pa.Array, target: pa.DataType, zone: TimeZone) -> pa.Array:
    """Change the unit; between what clocks show and instants, by the zone."""
    return times.timestamp_to_timestamp(in_zone(array, target.tz is not None, zone), target)


def in_zone(array: pa.Array, as_instants: bool, zone: TimeZone) -> pa.Array:
    """Return timestamps as instants, or as what the zone's clocks show; those that are so already as they are."""
    if (array.type.tz is not None) == as_instants:
        return array
    if as_instants:
        return pc.cast(instant_micros(_micros(array), zone), _INSTANT)
    return pc.cast(local_micros(_micros(array), zone), _LOCAL)


def _micros(array: pa.Array) -> pa.Array:
    return pc.cast(pc.cast(array, pa.timestamp("us", array.type.tz), safe=False), pa.int64())
