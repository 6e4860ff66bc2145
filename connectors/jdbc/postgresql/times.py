"""Dates and timestamps that PostgreSQL has and Arrow does not, and the other way round. Pure."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

# PostgreSQL counts from the year 2000, the driver adds the distance to 1970, and the sum of a large number wraps. No
# date of PostgreSQL is before 4714-11-24 BC, so an earlier one has wrapped.
_FIRST_DAY, _LAST_DAY = -2_440_588, 2_145_042_905
_FIRST_MICROSECOND = -210_866_803_200_000_000
_TO_2000 = {32: 10_957, 64: 946_684_800_000_000}


def leaves(array: pa.Array) -> pa.Array:
    """Return the elements of a list, at any depth; other arrays as they are."""
    while pa.types.is_list(array.type):
        array = array.flatten()
    return array


def unheld(array: pa.Array) -> str | None:
    """Return a value that the driver could not hold, as PostgreSQL writes it; None if there is none.

    Args:
        array: a column as the driver returns it.
    """
    values = leaves(array)
    if pa.types.is_date32(values.type):
        bits, first = 32, _FIRST_DAY
    elif pa.types.is_timestamp(values.type):
        bits, first = 64, _FIRST_MICROSECOND
    else:
        return None
    least = pc.min(values).value
    if least is None or least >= first:
        return None
    sent = (least - _TO_2000[bits]) % 2**bits
    names = {2 ** (bits - 1) - 1: "'infinity'", 2 ** (bits - 1): "'-infinity'"}
    return names.get(sent, "a year after 294246")


def unstored(array: pa.Array) -> str | None:
    """Return a value that PostgreSQL cannot store; None if there is none.

    Args:
        array: dates, or timestamps in microseconds, or lists of these.
    """
    values = leaves(array)
    if pa.types.is_date32(values.type):
        first, last = _FIRST_DAY, _LAST_DAY
    elif pa.types.is_timestamp(values.type):
        first, last = _FIRST_MICROSECOND, 2**63 - 1  # which is before the end of PostgreSQL's own timestamps
    else:
        return None
    ends = pc.min_max(values)
    low, high = ends["min"].value, ends["max"].value
    if low is None or (low >= first and high <= last):
        return None
    unit = "days" if last == _LAST_DAY else "microseconds"
    return f"{low if low < first else high} {unit} from 1970-01-01"
