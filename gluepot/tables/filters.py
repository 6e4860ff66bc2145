"""Filters that Spark pushes down, as Arrow expressions.

Only those whose meaning is the same in both, for every value: on text, integers and booleans. In floats the two
disagree about NaN. Whatever is not here Spark applies itself.
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
    """Return what keeps exactly the rows that a filter keeps; None if only Spark can tell.

    Args:
        wanted: as Spark gives it.
        schema: columns of the rows.
    """
    match wanted:
        case spark.Not(child=spark.In()):
            return None  # Arrow says that a null is in no list, SQL does not know
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
