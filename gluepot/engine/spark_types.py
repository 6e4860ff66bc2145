"""Types on the way to and from Spark, and one sentence about those that do not exist on the other side."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, YearMonthIntervalType

from gluepot.core.errors import ConfigError

MOST_DIGITS = 38


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the columns as a DataFrame has them.

    Raises:
        ConfigError: Spark has no such type, such as a decimal of more than 38 digits.
    """
    try:
        return _both_ways(schema)
    except (PySparkException, ValueError):
        for field in schema:
            _refuse(field)
        raise


def _both_ways(schema: pa.Schema) -> StructType:
    """Return Spark's types, of which each has a type of Arrow: only that conversion counts the digits of decimals."""
    columns = from_arrow_schema(schema, prefer_timestamp_ntz=True)
    to_arrow_schema(columns)
    return columns


def _refuse(field: pa.Field) -> None:
    try:
        _both_ways(pa.schema([field]))
    except (PySparkException, ValueError) as error:
        raise ConfigError(
            f"A DataFrame cannot hold the column '{field.name}' of type {field.type}, because Spark has no such type"
            f" (decimals have at most {MOST_DIGITS} digits); cast the column first, for example with resolveChoice and"
            f" the spec ('{field.name}', 'cast:string')."
        ) from error


def in_spark_types(schema: pa.Schema) -> pa.Schema:
    """Return the columns with decimals in 128 bits where these have room, because Spark reads no others from Arrow."""
    return pa.schema([field.with_type(_narrowed(field.type)) for field in schema])


def _narrowed(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_decimal(kind) and kind.precision <= MOST_DIGITS:
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_narrowed(field.type)) for field in kind])
    if pa.types.is_map(kind):
        key, item = (field.with_type(_narrowed(field.type)) for field in (kind.key_field, kind.item_field))
        return pa.map_(key, item)
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_narrowed(kind.value_type)))
    return kind


def refuse_unread(schema: StructType) -> None:
    """Refuse columns of a DataFrame that Arrow's Python library cannot read.

    Raises:
        ConfigError: a column holds an interval of years and months.
    """
    for field in schema:
        if _holds_months(field.dataType):
            raise ConfigError(
                f"A DynamicFrame cannot hold the column '{field.name}' of type {field.dataType.simpleString()}; cast"
                " the column to a string or a number before it becomes a DynamicFrame."
            )


def _holds_months(kind: DataType) -> bool:
    inner: Iterable[DataType] = ()
    match kind:
        case StructType():
            inner = (field.dataType for field in kind)
        case ArrayType():
            inner = (kind.elementType,)
        case MapType():
            inner = (kind.keyType, kind.valueType)
    return isinstance(kind, YearMonthIntervalType) or any(map(_holds_months, inner))
