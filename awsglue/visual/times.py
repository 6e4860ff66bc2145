"""Studio's transforms of times (docs/glue 13.2)."""

from __future__ import annotations

from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from awsglue.visual.columns import column, target
from gluepot.core.errors import ConfigError
from gluepot.engine.session_zone import session_zone
from gluepot.streaming.query import session

_MICROS = {"seconds": 1_000_000, "milliseconds": 1_000, "microseconds": 1}
_TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})
_TYPES = ("autodetect", "iso", *_MICROS)
# Numbers below the first limit are seconds, below the second milliseconds, and beyond it microseconds. So seconds and
# milliseconds are recognised up to the year 5138.
_MOST_SECS, _MOST_MILLIS = 10**11, 10**14
# Six decimals, because a timestamp has microseconds; the 32 digits before them are enough for the 19 of a long.
_NUMBER = "decimal(38,6)"


def gs_now(frame: DataFrame, colName: str = "timestamp", dateFormat: str | None = None) -> DataFrame:
    """Add the time of the call, the same for all rows: a timestamp or, with a format, a text in the session's zone.

    Args:
        frame: any frame.
        colName: name of the new column.
        dateFormat: a format of Python's strftime, such as `%Y-%m-%d`, or without `%` a format of Spark's date_format.
    """
    now = datetime.fromtimestamp(session.current().clock.epoch(), UTC)
    moment = F.lit(now)
    if dateFormat:
        local = now.astimezone(session_zone(frame.sparkSession).tzinfo)
        moment = F.lit(local.strftime(dateFormat)) if "%" in dateFormat else F.date_format(moment, dateFormat)
    return frame.withColumn(target(colName), moment)


def gs_to_timestamp(frame: DataFrame, colName: str, colType: str, newColName: str | None = None) -> DataFrame:
    """Convert a text or number to a timestamp; values that cannot be converted give null.

    Args:
        frame: the frame with the column.
        colName: name of the column; it is replaced unless `newColName` is given.
        colType: `iso`, or `seconds`, `milliseconds`, `microseconds` since 1970 UTC, or `autodetect`: ISO texts, and
            numbers by their size.
        newColName: name of the new column.

    Raises:
        ConfigError: `colType` is none of these.
    """
    kind = colType.strip().lower()
    if kind not in _TYPES:
        raise ConfigError(f"colType is {colType!r}; use {', '.join(_TYPES)}.")
    value = column(frame, colName)
    text = F.trim(value.cast("string"))
    number = text.try_cast(_NUMBER)
    if frame.select(value.alias("value")).schema["value"].dataType.typeName() in _TIMES:
        moment = value.cast("timestamp")
    elif kind == "iso":
        moment = text.try_cast("timestamp")
    elif kind == "autodetect":
        moment = F.coalesce(text.try_cast("timestamp"), _by_size(number))
    else:
        moment = _since_1970(number, kind)
    return frame.withColumn(target(newColName or colName), moment)


def gs_format_timestamp(frame: DataFrame, colName: str, dateFormat: str, newColName: str | None = None) -> DataFrame:
    """Format a timestamp, date or ISO text by a format of Spark's date_format; other values give null."""
    moment = column(frame, colName).cast("string").try_cast("timestamp")
    return frame.withColumn(target(newColName or colName), F.date_format(moment, dateFormat))


def _by_size(number: Column) -> Column:
    seconds, millis = F.abs(number) < _MOST_SECS, F.abs(number) < _MOST_MILLIS
    return (
        F.when(seconds, _since_1970(number, "seconds"))
        .when(millis, _since_1970(number, "milliseconds"))
        .otherwise(_since_1970(number, "microseconds"))
    )


def _since_1970(number: Column, unit: str) -> Column:
    return F.timestamp_micros(F.try_multiply(number, F.lit(_MICROS[unit])).try_cast("bigint"))
