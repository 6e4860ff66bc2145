"""Casts from and to dates and timestamps in UTC, the zone of every Glue job; `zoned_times` has those in others."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.calendar import date_text, timestamp_text
from gluepot.frames.cast.decimals import decimal_to_decimal, decimal_to_micros
from gluepot.frames.cast.masks import cast_at_once, cast_each, cast_in_two, keep, matching
from gluepot.frames.cast.numbers import number_to_number
from gluepot.frames.cast.texts import CONTROLS, read_at_once
from gluepot.frames.cast.time_texts import read_date, read_timestamp

_INSTANT = pa.timestamp("us", tz="UTC")
_LOCAL = pa.timestamp("us")
_SECONDS = pa.decimal128(19, 6)
_MICROS = 1_000_000
_DAY_MICROS = 86_400 * _MICROS
_INT64_LIMIT = 2**63
# Arrow writes these years as Java does: from 0001-01-01 to 9999-12-31.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896

# Every day of the proleptic calendar and no other text, since Arrow's cast raises on the 30th of February.
_LEAP_YEAR = "[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00"
_DAY_OF_ANY_YEAR = (
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])"
)
_DATE = f"(?:[0-9]{{4}}-(?:{_DAY_OF_ANY_YEAR})|(?:{_LEAP_YEAR})-02-29)"
_MINUTE = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_SECOND = rf"{_MINUTE}:[0-5][0-9](?:\.[0-9]{{1,6}})?"
_ZONE = "(?:Z|[+-](?:0[0-9]|1[0-7])(?::?[0-5][0-9])?)"
_LOCAL_TEXT = f"{_DATE}(?:[T ](?:{_MINUTE}|{_SECOND}))?"
_INSTANT_TEXT = f"{_DATE}[T ]{_SECOND}{_ZONE}"


def text_to_date(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    """Read `2026-11-21` and the other forms of `read_date`."""
    texts, found = read_at_once(texts, CONTROLS, lambda texts: cast_at_once(texts, target))
    if found is not None:
        return found
    return cast_in_two(
        texts,
        matching(texts, f"{_DATE}(?:[T ].*)?"),
        lambda dated: pc.cast(pc.utf8_slice_codeunits(dated, 0, 10), target),
        lambda odd: pc.cast(cast_each(odd, pa.int32(), read_date), target),
    )


def text_to_timestamp(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    """Read ISO 8601 and the other forms of `read_timestamp`; digits beyond microseconds are cut off."""
    read = text_to_timestamp_by(texts, lambda local: pc.cast(local, _INSTANT), read_timestamp)
    return pc.cast(read, target, safe=False)


def text_to_timestamp_by(
    texts: pa.StringArray, to_instants: Callable[[pa.Array], pa.Array], read: Callable[[str], int | None]
) -> pa.Array:
    """Return the instants of texts, in microseconds.

    Args:
        texts: in any of the forms of `read_timestamp`.
        to_instants: says when the clocks show a time, for texts without a zone.
        read: reads a text, as `read_timestamp` does.
    """
    texts, found = read_at_once(texts, CONTROLS, lambda texts: _common_times(texts, to_instants))
    if found is not None:
        return found
    is_local, is_instant = matching(texts, _LOCAL_TEXT), matching(texts, _INSTANT_TEXT)
    return cast_in_two(
        texts,
        pc.or_(is_local, is_instant),
        lambda texts: pc.coalesce(
            to_instants(pc.cast(keep(texts, is_local), _LOCAL)), pc.cast(keep(texts, is_instant), _INSTANT)
        ),
        lambda odd: pc.cast(cast_each(odd, pa.int64(), read), _INSTANT),
    )


def _common_times(texts: pa.StringArray, to_instants: Callable[[pa.Array], pa.Array]) -> pa.Array | None:
    """Return instants if all texts have the minute, and none a zone or all of them seconds and Z; None otherwise.

    Arrow takes an hour without a minute, too, and zones further away or after a minute.
    """
    if not _have_colon(texts, 13):
        return None
    if pc.all(pc.ends_with(texts, "Z")).as_py():
        return cast_at_once(texts, _INSTANT) if _have_colon(texts, 16) else None
    local = cast_at_once(texts, _LOCAL)
    return None if local is None else to_instants(local)


def _have_colon(texts: pa.StringArray, position: int) -> bool:
    """Return whether all texts have a colon at a position in bytes."""
    found = pc.binary_slice(texts.cast(pa.binary()), position, position + 1)
    return pc.all(pc.equal(found, b":")).as_py() is not False


def timestamp_to_text(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Write as Spark does: `2026-11-21 04:00:00.5`, in UTC, without trailing zeros."""
    micros = _micros(array)
    return cast_in_two(
        micros,
        _is_between(micros, _FIRST_DAY * _DAY_MICROS, (_LAST_DAY + 1) * _DAY_MICROS - 1),
        lambda ordinary: pc.replace_substring_regex(
            pc.cast(pc.cast(ordinary, _LOCAL), target), r"(\.[0-9]*[1-9])0+$|\.0+$", r"\1"
        ),
        lambda odd: cast_each(odd, target, timestamp_text),
    )


def date_to_text(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Write `2026-11-21`; years after 9999 have a sign."""
    days = pc.cast(array, pa.int32())
    return cast_in_two(
        days,
        _is_between(days, _FIRST_DAY, _LAST_DAY),
        lambda ordinary: pc.cast(pc.cast(ordinary, pa.date32()), target),
        lambda odd: cast_each(odd, target, date_text),
    )


def timestamp_to_timestamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Change unit or zone; the instant stays."""
    return pc.cast(in_micros(array) if target.unit == "us" else array, target, safe=False)


def timestamp_to_date(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Take the day in UTC."""
    return pc.cast(pc.cast(pc.cast(in_micros(array), _INSTANT, safe=False), _LOCAL), target, safe=False)


def date_to_timestamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Take the day's first instant in UTC; null if a timestamp cannot hold it."""
    days = pc.cast(pc.cast(array, pa.int32()), pa.int64())
    most = _INT64_LIMIT // _DAY_MICROS
    micros = pc.multiply(keep(days, _is_between(days, -most, most)), _DAY_MICROS)
    return pc.cast(pc.cast(micros, _INSTANT), target)


def number_to_timestamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Count seconds from 1970. What a timestamp cannot hold is the first or the last one, as in Spark."""
    micros = _float_micros(array) if pa.types.is_floating(array.type) else _integer_micros(array)
    return pc.cast(pc.cast(micros, _INSTANT), target)


def _integer_micros(array: pa.Array) -> pa.Array:
    seconds = pc.cast(array, pa.int64())
    most = _INT64_LIMIT // _MICROS
    micros = pc.multiply(keep(seconds, _is_between(seconds, -most, most)), _MICROS)
    return _saturated(micros, pc.less(seconds, -most), pc.greater(seconds, most))


def _float_micros(array: pa.Array) -> pa.Array:
    seconds = pc.cast(array, pa.float64())
    micros = pc.trunc(pc.multiply(keep(seconds, pc.is_finite(seconds)), float(_MICROS)))
    limit = float(_INT64_LIMIT)
    fits = pc.and_(pc.greater_equal(micros, -limit), pc.less(micros, limit))
    whole = pc.cast(keep(micros, fits), pa.int64())
    return _saturated(whole, pc.less(micros, -limit), pc.greater_equal(micros, limit))


def _saturated(micros: pa.Array, is_below: pa.BooleanArray, is_above: pa.BooleanArray) -> pa.Array:
    first, last = pa.scalar(-_INT64_LIMIT, pa.int64()), pa.scalar(_INT64_LIMIT - 1, pa.int64())
    return pc.if_else(is_below, first, pc.if_else(is_above, last, micros))


def decimal_to_timestamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Count seconds from 1970 with their fraction."""
    return pc.cast(pc.cast(decimal_to_micros(array), _INSTANT), target)


def timestamp_to_number(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return seconds from 1970: whole ones, rounded down, as an integer; with their fraction as a float."""
    micros = _micros(array)
    if pa.types.is_floating(target):
        return number_to_number(_seconds(micros), target)
    whole = pc.divide(micros, _MICROS)  # rounded towards zero
    is_below = pc.less(micros, pc.multiply(whole, _MICROS))
    return number_to_number(pc.subtract(whole, pc.cast(is_below, pa.int64())), target)


def timestamp_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return seconds from 1970 with their fraction."""
    wide = pc.cast(_micros(array), pa.decimal128(19, 0))
    seconds = pa.Array.from_buffers(_SECONDS, len(wide), wide.buffers(), wide.null_count, wide.offset)
    return decimal_to_decimal(seconds, target)


def timestamp_to_boolean(array: pa.Array, _: pa.DataType) -> pa.Array:
    """Return whether a timestamp is not 1970-01-01 00:00."""
    return pc.not_equal(_micros(array), 0)


def boolean_to_timestamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return one microsecond or none after 1970-01-01 00:00, as Spark does."""
    return pc.cast(pc.cast(pc.cast(array, pa.int64()), _INSTANT), target)


def in_micros(array: pa.Array) -> pa.Array:
    """Return timestamps in nanoseconds in microseconds, rounded down as in Spark; other units stay."""
    kind = array.type
    if kind.unit != "ns":
        return array
    nanos = pc.cast(array, pa.int64())
    micros = pc.divide(nanos, 1000)  # rounded towards zero
    is_below = pc.less(nanos, pc.multiply(micros, 1000))
    return pc.cast(pc.subtract(micros, pc.cast(is_below, pa.int64())), pa.timestamp("us", kind.tz))


def _micros(array: pa.Array) -> pa.Array:
    return pc.cast(pc.cast(in_micros(array), _INSTANT, safe=False), pa.int64())


def _seconds(micros: pa.Array) -> pa.Array:
    return pc.divide(pc.cast(micros, pa.float64(), safe=False), float(_MICROS))


def _is_between(array: pa.Array, first: int, last: int) -> pa.BooleanArray:
    return pc.and_(pc.greater_equal(array, first), pc.less_equal(array, last))
