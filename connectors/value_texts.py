"""One value as text, exactly as Spark's `cast(value as string)` writes it; in UTC if no zone is named."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from gluepot.frames.cast import try_cast
from gluepot.frames.time_zone import TimeZone
from gluepot.frames.timestamps import is_instant

if TYPE_CHECKING:
    from collections.abc import Sequence

# java.lang.Double.toString: plain digits within these bounds, computerized scientific notation outside.
_PLAIN_FROM = 1e-3
_PLAIN_BELOW = 1e7


def texts(column: pa.Array, zone: TimeZone | None = None) -> Sequence[str | None]:
    """Return the values of a column without nested types as text, timestamps in a zone; None stays None."""
    if zone is not None and not zone.is_utc and is_instant(column.type):
        zoned: list[str | None] = try_cast(column, pa.string(), zone).to_pylist()
        return zoned
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)  # Spark's own unit
    if pa.types.is_float32(column.type):
        return [None if value is None else _float_text(value, str(np.float32(value))) for value in column.to_pylist()]
    return [None if value is None else text(value) for value in column.to_pylist()]


def text(value: object) -> str:
    """Return a Python value that came out of an Arrow column as text."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return _float_text(value, repr(value))
        case Decimal():
            return format(value, "f")
        case datetime():
            return _datetime_text(value)
        case date():
            return value.isoformat()
        case bytes():
            return value.decode("utf-8", "backslashreplace")  # Spark replaces what is not UTF-8; we keep it apart
        case _:
            return str(value)


def _float_text(value: float, shortest: str) -> str:
    """Write a float as Java does, from its shortest decimal form."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    sign, digits, exponent = Decimal(shortest).normalize().as_tuple()
    figures = "".join(map(str, digits))
    point = len(figures) + int(exponent)
    if _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        padded = "0" * (1 - point) + figures if point < 1 else figures.ljust(point, "0")
        whole = max(point, 1)
        plain = f"{padded[:whole]}.{padded[whole:] or '0'}"
    else:
        plain = f"{figures[0]}.{figures[1:] or '0'}E{point - 1}"
    return "-" + plain if sign else plain


def _datetime_text(value: datetime) -> str:
    naive = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    whole = naive.isoformat(sep=" ")
    return whole.rstrip("0") if naive.microsecond else whole
