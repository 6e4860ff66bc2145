"""Casts from and to dates and time stamps. A time without a zone is UTC, the zone of every Glue job."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.masks import cast_at_once, keep, keep_matching
from gluepot.frames.cast.numbers import number_to_number

_INSTANT = pa.timestamp("us", tz="UTC")
_LOCAL = pa.timestamp("us")
_MICROS = 1_000_000

# Every day of the proleptic calendar and no other text, since Arrow's cast raises on the 30th of February.
_LEAP_YEAR = "[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00"
_DAY_OF_ANY_YEAR = (
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])"
)
_DATE = f"(?:[0-9]{{4}}-(?:{_DAY_OF_ANY_YEAR})|(?:{_LEAP_YEAR})-02-29)"
_MINUTE = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = rf"{_MINUTE}(?::[0-5][0-9](?:\.[0-9]+)?)?"
_ZONE = "(?:Z|[+-](?:0[0-9]|1[0-8])(?::?[0-5][0-9])?)"


def text_to_date(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    """Read `2026-11-21`, alone or followed by a time, which is ignored."""
    found = cast_at_once(texts, target)
    if found is not None:
        return found
    dated = keep_matching(texts, f"{_DATE}(?:[T ].*)?")
    return pc.cast(pc.utf8_slice_codeunits(dated, 0, 10), target)


def text_to_timestamp(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    """Read ISO 8601 dates, with or without a time, fraction and zone; digits beyond microseconds are cut off."""
    if (found := _common_times(texts)) is not None:
        return pc.cast(found, target, safe=False)
    texts = pc.replace_substring_regex(texts, r"(\.[0-9]{6})[0-9]+", r"\1")
    local = pc.cast(keep_matching(texts, f"{_DATE}(?:[T ]{_TIME})?"), _LOCAL)
    instant = pc.cast(keep_matching(texts, f"{_DATE}[T ]{_TIME}{_ZONE}"), _INSTANT)
    return pc.cast(pc.coalesce(pc.cast(local, _INSTANT), instant), target, safe=False)


def _common_times(texts: pa.StringArray) -> pa.Array | None:
    """Return instants if all texts have the minute, and none a zone or all of them Z; None otherwise.

    Arrow takes an hour without a minute, too, and zones further away.
    """
    if pc.all(pc.equal(pc.utf8_slice_codeunits(texts, 13, 14), ":")).as_py() is False:
        return None
    if pc.all(pc.ends_with(texts, "Z")).as_py():
        return cast_at_once(texts, _INSTANT)
    local = cast_at_once(texts, _LOCAL)
    return None if local is None else pc.cast(local, _INSTANT)


def timestamp_to_text(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Write as Spark does: `2026-11-21 04:00:00.5`, in UTC, without trailing zeros."""
    long = pc.cast(_local(array), target)
    return pc.replace_substring_regex(long, r"(\.[0-9]*[1-9])0+$|\.0+$", r"\1")


def timestamp_to_timestamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Change unit or zone; the instant stays."""
    return pc.cast(array, target, safe=False)


def timestamp_to_date(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Take the day in UTC."""
    return pc.cast(_local(array), target, safe=False)


def date_to_timestamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Take the day's first instant in UTC."""
    return pc.cast(pc.cast(array, _LOCAL), target)


def number_to_timestamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Count seconds from 1970, as Spark's cast does."""
    if pa.types.is_integer(array.type):
        limit = 2**63 // _MICROS
        seconds = pc.cast(array, pa.int64())
        in_range = pc.and_(pc.greater(seconds, -limit), pc.less(seconds, limit))
        micros = pc.multiply(keep(seconds, in_range), _MICROS)
    else:
        micros = number_to_number(pc.floor(pc.multiply(pc.cast(array, pa.float64()), float(_MICROS))), pa.int64())
    return pc.cast(pc.cast(micros, _INSTANT), target)


def timestamp_to_number(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return seconds from 1970: whole ones, rounded down, as an integer; with their fraction as a float."""
    micros = pc.cast(pc.cast(pc.cast(array, _INSTANT, safe=False), pa.int64()), pa.float64(), safe=False)
    seconds = pc.divide(micros, float(_MICROS))
    return number_to_number(pc.floor(seconds) if pa.types.is_integer(target) else seconds, target)


def _local(array: pa.Array) -> pa.Array:
    """Return time stamps without zone, as a clock in UTC shows them."""
    return pc.cast(pc.cast(array, _INSTANT, safe=False), _LOCAL)
