"""Tells whether a frame holds the rows that an earlier commit has added to a table.

Rows are compared as multisets and bit by bit, more strictly than Spark's own comparison: -0.0 differs from 0.0, and
collations do not matter.
"""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  the usual name
from pyspark.sql import types as T  # noqa: N812

from gluepot.connectors.lake.commits import Rows
from gluepot.core.logging import get_logger

log = get_logger(__name__)

_PLAIN = (
    T.IntegralType,
    T.DecimalType,
    T.BooleanType,
    T.BinaryType,
    T.DateType,
    T.TimestampType,
    T.TimestampNTZType,
    T.DayTimeIntervalType,
    T.YearMonthIntervalType,
)


class _Incomparable(Exception):
    """The frame cannot hold the same rows, or nothing is known of how to compare a type."""


def compare(earlier: DataFrame, frame: DataFrame, *, by_case: bool) -> Rows:
    """Compare the rows of an earlier commit with those that are to be appended; this runs one Spark job.

    Args:
        earlier: the rows that the commit has added, with the columns of the table.
        frame: the rows to append. Its columns are matched by name; columns that it lacks are null.
        by_case: whether names of columns differ by case.

    Returns:
        UNKNOWN if one of the two cannot be read. Types that cannot be compared count as different.
    """
    try:
        names = [f"c{at}" for at in range(len(earlier.schema.fields))]
        ours = _fields(frame.schema, earlier.schema, lambda name: frame[f"`{name.replace('`', '``')}`"], by_case)
        theirs = _fields(earlier.schema, earlier.schema, lambda name: earlier[f"`{name.replace('`', '``')}`"], by_case)
        sides = [
            side.select(*(column.alias(name) for column, name in zip(columns, names, strict=True)), F.lit(n).alias("n"))
            for side, columns, n in ((earlier, theirs, 1), (frame, ours, -1))
        ]
        surplus = sides[0].unionAll(sides[1]).groupBy(*names).agg(F.sum("n").alias("n")).where("n <> 0")
        return Rows.EQUAL if surplus.isEmpty() else Rows.DIFFERENT
    except _Incomparable:
        return Rows.DIFFERENT
    except (PySparkException, Py4JError) as failed:
        log.warning("rows_not_compared", error=str(failed).partition("\n")[0])
        return Rows.UNKNOWN


def _fields(have: T.StructType, want: T.StructType, get: Any, by_case: bool) -> list[Column]:
    """Return a column for each field that is wanted, in a form that is compared bit by bit."""

    def spelled(name: str) -> str:
        return name if by_case else name.lower()

    given = {spelled(one.name): one for one in have.fields}
    if len(given) < len(have.fields) or not given.keys() <= {spelled(one.name) for one in want.fields}:
        raise _Incomparable
    columns = []
    for field in want.fields:
        known = given.get(spelled(field.name))
        value = F.lit(None) if known is None else get(known.name)
        columns.append(_exact(value, T.NullType() if known is None else known.dataType, field.dataType, by_case))
    return columns


def _exact(value: Column, have: T.DataType, want: T.DataType, by_case: bool) -> Column:
    """Return a value as the table would hold it, in a form that is compared bit by bit."""
    if isinstance(have, T.NullType):
        value, have = value.cast(want), want
    match want:
        case T.StructType():
            if not isinstance(have, T.StructType):
                raise _Incomparable
            fields = _fields(have, want, value.getField, by_case)
            named = [one.alias(f"f{at}") for at, one in enumerate(fields)]
            return F.when(value.isNotNull(), F.struct(*named)) if named else value.isNotNull()
        case T.ArrayType():
            if not isinstance(have, T.ArrayType):
                raise _Incomparable
            return F.transform(value, lambda one: _exact(one, have.elementType, want.elementType, by_case))
        case T.MapType():
            if not isinstance(have, T.MapType):
                raise _Incomparable
            entries = F.transform(
                F.map_entries(value),
                lambda one: F.struct(
                    _exact(one["key"], have.keyType, want.keyType, by_case).alias("k"),
                    _exact(one["value"], have.valueType, want.valueType, by_case).alias("v"),
                ),
            )
            return F.array_sort(entries)
    held = value if have == want else value.cast(want)
    match want:
        case T.StringType():
            return held.cast("binary")
        case T.FloatType() | T.DoubleType():
            return held.cast("string")
        case _ if isinstance(want, _PLAIN):
            return held
        case _:
            raise _Incomparable
