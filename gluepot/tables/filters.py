"""Translates the filters that Spark pushes down to Arrow expressions.

It translates only filters that mean the same in Spark and Arrow for every value: on text, integers and booleans. On
floats, the two disagree about NaN. Spark itself applies all other filters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource as spark

_COMPARISONS: Mapping[type[spark.Filter], Callable[[pc.Expression, Any], pc.Expression]] = {
    spark.EqualTo: lambda column, value: column == value,
    spark.GreaterThan: lambda column, value: column > value,
    spark.GreaterThanOrEqual: lambda column, value: column >= value,
    spark.LessThan: lambda column, value: column < value,
    spark.LessThanOrEqual: lambda column, value: column <= value,
    spark.StringStartsWith: pc.starts_with,
}


def expression(wanted: spark.Filter, schema: pa.Schema) -> pc.Expression | None:
    """Return an expression that keeps exactly the rows that a filter keeps; None if only Spark can apply the filter.

    Args:
        wanted: the filter that Spark pushes down.
        schema: columns of the rows.
    """
    match wanted:
        case spark.Not(child=spark.In()):
            return None  # `null NOT IN (...)` is true in Arrow and null in SQL
        case spark.Not(child=child):
            inner = expression(child, schema)
            return None if inner is None else ~inner
        case spark.IsNull(attribute=(name,)) if name in schema.names:
            return pc.field(name).is_null()
        case spark.IsNotNull(attribute=(name,)) if name in schema.names:
            return pc.field(name).is_valid()
        case spark.In(attribute=(name,), value=values) if all(_alike(schema, name, value) for value in values):
            return pc.field(name).isin(pa.array(values, schema.field(name).type))
        case (
            spark.EqualTo(attribute=(name,), value=value)
            | spark.GreaterThan(attribute=(name,), value=value)
            | spark.GreaterThanOrEqual(attribute=(name,), value=value)
            | spark.LessThan(attribute=(name,), value=value)
            | spark.LessThanOrEqual(attribute=(name,), value=value)
            | spark.StringStartsWith(attribute=(name,), value=value)
        ) if _alike(schema, name, value):
            return _COMPARISONS[type(wanted)](pc.field(name), value)
    return None


def _alike(schema: pa.Schema, name: str, value: object) -> bool:
    if name not in schema.names:
        return False
    kind = schema.field(name).type
    if isinstance(value, bool):
        return bool(pa.types.is_boolean(kind))
    if isinstance(value, int):
        return bool(pa.types.is_integer(kind))
    return isinstance(value, str) and bool(pa.types.is_string(kind))
