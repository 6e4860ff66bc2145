"""Arrow values as what orjson writes the way Spark's JSON writer does.

Fields that are null are left out (`spark.sql.jsonGenerator.ignoreNullFields`, true by default), nulls in lists stay.
Times are ISO 8601, in UTC or a zone that is named, with milliseconds, or microseconds where there are any; decimals are
numbers with all their digits; binary is base64; NaN and the infinities, which JSON has no form for, are text. A choice
is its one value.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from gluepot.connectors.value_texts import text
from gluepot.frames.cast.times import in_micros
from gluepot.frames.chunk import is_choice
from gluepot.frames.columns import Column
from gluepot.frames.time_zone import UTC, TimeZone, datetime_at
from gluepot.frames.timestamps import as_micros, has_instants, is_instant

Encode = Callable[[Any], Any]


def json_values(field: pa.Field, column: pa.Array, zone: TimeZone = UTC) -> Sequence[Any]:
    """Return a column's values, None where they are null, ready for `orjson.dumps`; timestamps in a zone."""
    if not zone.is_utc and has_instants(field.type):
        encode_zoned = _encoder(field, zone) or _same
        numbers = as_micros(Column(field, column)).array.to_pylist()
        return [None if value is None else encode_zoned(value) for value in numbers]
    if pa.types.is_timestamp(column.type):
        column = in_micros(column).cast(pa.timestamp("us", column.type.tz))  # Spark's own unit
    encode = _encoder(field)
    values: list[Any] = column.to_pylist()
    return values if encode is None else [None if value is None else encode(value) for value in values]


def json_document(fields: Mapping[str, Any]) -> bytes:
    """Return the JSON of a row that is in Python's values already; the text that its columns would give, see above.

    Args:
        fields: see `Document`.
    """
    return orjson.dumps(_plain(fields), option=orjson.OPT_NON_STR_KEYS)


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {text(name): _plain(one) for name, one in value.items() if one is not None}
        case list():
            return [_plain(one) for one in value]
        case Decimal():
            return _decimal(value)
        case float():
            return _double(value)
        case datetime():
            return iso_text(value)
        case bytes():
            return _base64(value)
        case _:
            return value


def iso_text(value: datetime) -> str:
    """Return a time as Spark's `yyyy-MM-dd'T'HH:mm:ss.SSS[XXX]`, with six digits where three would lose some."""
    precision = "microseconds" if value.microsecond % 1000 else "milliseconds"
    if value.tzinfo is None:
        return value.isoformat(timespec=precision)
    return value.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def iso_text_at(micros: int, zone: TimeZone) -> str:
    """Return an instant as `iso_text` does, as the zone's clocks show it, with its offset.

    An offset with seconds, as of mean solar time, has no place in ISO 8601; such a time is in UTC.
    """
    at = datetime_at(micros, zone)
    offset = at.utcoffset() or dt.timedelta()
    if offset % dt.timedelta(minutes=1):
        return iso_text(at)
    return iso_text(at.replace(tzinfo=None)) + (at.isoformat()[-6:] if offset else "Z")


def _encoder(field: pa.Field, zone: TimeZone | None = None) -> Encode | None:
    """Return what turns a value that is not None into JSON's terms; None where it is that already.

    Args:
        field: of the values.
        zone: the zone of instants, which are given as numbers of microseconds; None for datetimes in UTC.
    """
    kind = field.type
    if is_choice(field):
        return _choice_encoder(kind, zone)
    if pa.types.is_struct(kind):
        return _struct_encoder(kind, zone)
    if pa.types.is_map(kind):
        return _map_encoder(kind, zone)
    if pa.types.is_nested(kind):
        return _list_encoder(kind, zone)
    if pa.types.is_decimal(kind):
        return _decimal
    if pa.types.is_float32(kind):
        return _single
    if pa.types.is_floating(kind):
        return _double
    if pa.types.is_timestamp(kind):
        return iso_text if zone is None or not is_instant(kind) else partial(iso_text_at, zone=zone)
    return _base64 if _is_binary(kind) else None


def _choice_encoder(kind: pa.StructType, zone: TimeZone | None) -> Encode:
    alternatives = [(field.name, _encoder(field, zone) or _same) for field in kind]
    return lambda value: next((encode(value[name]) for name, encode in alternatives if value[name] is not None), None)


def _struct_encoder(kind: pa.StructType, zone: TimeZone | None) -> Encode:
    fields = [(field.name, _encoder(field, zone) or _same) for field in kind]

    def encode(value: dict[str, Any]) -> dict[str, Any]:
        encoded = {name: encode_one(value[name]) for name, encode_one in fields if value[name] is not None}
        return {name: one for name, one in encoded.items() if one is not None}

    return encode


def _map_encoder(kind: pa.MapType, zone: TimeZone | None) -> Encode:
    encode = _encoder(kind.item_field, zone) or _same
    return lambda value: {text(key): None if item is None else encode(item) for key, item in value}


def _list_encoder(kind: pa.ListType, zone: TimeZone | None) -> Encode | None:
    encode = _encoder(kind.value_field, zone)
    return None if encode is None else lambda value: [None if item is None else encode(item) for item in value]


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _same(value: Any) -> Any:
    return value


def _decimal(value: Decimal) -> orjson.Fragment:
    return orjson.Fragment(format(value, "f"))


def _double(value: float) -> float | str:
    return value if math.isfinite(value) else text(value)


def _single(value: float) -> float | str:
    return float(str(np.float32(value))) if math.isfinite(value) else text(value)


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()
