"""Studio's transforms that add, remove or rearrange rows and columns (docs/glue 13.2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType

from awsglue.visual.columns import column, listed, quoted, target
from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.option_values import is_true

AGGREGATES = {
    "avg": F.avg,
    "collect_list": F.collect_list,
    "collect_set": F.collect_set,
    "count": F.count,
    "countDistinct": F.count_distinct,
    "first": F.first,
    "kurtosis": F.kurtosis,
    "last": F.last,
    "max": F.max,
    "mean": F.mean,
    "min": F.min,
    "skewness": F.skewness,
    "stddev": F.stddev,
    "stddev_pop": F.stddev_pop,
    "stddev_samp": F.stddev_samp,
    "sum": F.sum,
    "sumDistinct": F.sum_distinct,
    "var_pop": F.var_pop,
    "var_samp": F.var_samp,
    "variance": F.variance,
}


def gs_derived(frame: DataFrame, colName: str, expr: str) -> DataFrame:
    """Add or replace a column by a Spark SQL expression over the others."""
    return frame.withColumn(target(colName), F.expr(expr))


def gs_uuid(frame: DataFrame, colName: str = "uuid") -> DataFrame:
    """Add a random UUID to each row; it stays the same when the frame is read again."""
    return frame.withColumn(target(colName), F.expr("uuid()"))


def gs_identifier(frame: DataFrame, colName: str = "id") -> DataFrame:
    """Add a number that no other row has; they rise, with gaps between tasks."""
    return frame.withColumn(target(colName), F.monotonically_increasing_id())


def gs_repartition(
    frame: DataFrame, numPartitionsStr: str | int | None = None, colList: str | Sequence[str] = ()
) -> DataFrame:
    """Spread the rows evenly.

    Args:
        frame: any.
        numPartitionsStr: over how many tasks; as many as the cluster runs at a time if it is empty.
        colList: rows with equal values of these columns come into one task.

    Raises:
        ConfigError: the number is none.
    """
    text = str(numPartitionsStr or "").strip()
    if text and not (text.isdecimal() and int(text)):
        raise ConfigError(f"numPartitionsStr is {numPartitionsStr!r}; write an integer above 0.")
    tasks = int(text or frame.sparkSession.sparkContext.defaultParallelism)
    return frame.repartition(tasks, *(column(frame, one) for one in listed(colList)))


def gs_pivot(frame: DataFrame, aggCol: str, aggFunction: str, colList: str | Sequence[str]) -> DataFrame:
    """Make a column of each value, or combination of values joined by `_`; all columns not named are what rows keep.

    Reads the rows once for the values.

    Raises:
        ConfigError: the function is not known.
    """
    named = {name.lower(): function for name, function in AGGREGATES.items()}
    if aggFunction.lower() not in named:
        hint = did_you_mean(aggFunction, AGGREGATES)
        raise ConfigError(f"aggFunction is {aggFunction!r}; use {', '.join(AGGREGATES)}.{hint}")
    pivoted = listed(colList)
    gone = {target(name).casefold() for name in [*pivoted, aggCol]}
    kept = [quoted(name) for name in frame.columns if name.casefold() not in gone]
    texts = (F.coalesce(column(frame, name).cast("string"), F.lit("null")) for name in pivoted)
    value = F.concat_ws("_", *texts)
    grouped = frame.withColumn("_gs_pivot", value).groupBy(*kept).pivot("_gs_pivot")
    return grouped.agg(named[aggFunction.lower()](column(frame, aggCol)))


def gs_unpivot(
    frame: DataFrame, nameCol: str, valueCol: str, colList: str | Sequence[str], includeNulls: bool = False
) -> DataFrame:
    """Make a row of each of some columns, with its name and its value; nulls make none, unless asked for."""
    unpivoted = {target(name).casefold() for name in listed(colList)}
    kept = tuple(F.col(quoted(name)) for name in frame.columns if name.casefold() not in unpivoted)
    values = tuple(column(frame, name) for name in listed(colList))
    rows = frame.unpivot(kept, values, target(nameCol), target(valueCol))
    return rows if is_true(includeNulls) else rows.where(F.col(quoted(target(valueCol))).isNotNull())


def gs_explode(frame: DataFrame, colName: str, newCol: str, outer: bool = False) -> DataFrame:
    """Make a row of each element of an array, in a column `newCol`, or of each entry of a map, as `key` and `value`.

    Rows whose array or map is null or empty go, unless `outer` keeps them, with null.
    """
    nested = column(frame, colName)
    exploded = (F.explode_outer if is_true(outer) else F.explode)(nested)
    if isinstance(frame.select(nested.alias("nested")).schema["nested"].dataType, MapType):
        return frame.select("*", exploded.alias("key", "value"))
    return frame.withColumn(target(newCol), exploded)


def gs_flatten(frame: DataFrame, maxLevels: int = 0, separator: str = ".") -> DataFrame:
    """Make columns of the fields of structs, their names joined; 0 levels for all of them. Arrays stay."""
    levels = int(maxLevels) or None
    return frame.select(
        *(
            one
            for field in frame.schema
            for one in _flat(F.col(quoted(field.name)), field.name, field.dataType, separator, levels)
        )
    )


def gs_lookup(
    frame: DataFrame, tableName: str, keyCols: str | Sequence[str], colList: str | Sequence[str]
) -> DataFrame:
    """Add columns from a table by lookup; they are null if the table has no row with equal keys.

    Args:
        frame: any.
        tableName: a table of Spark's catalog, with its database, or a temporary view.
        keyCols: key columns: `region`, or `user_id=id` if the column has another name in the table.
        colList: columns of the table.

    Raises:
        ConfigError: the frame already has a column of that name, or no key is given.
    """
    taken = {name.casefold() for name in frame.columns}
    wanted = listed(colList)
    if twice := [name for name in wanted if target(name).casefold() in taken]:
        raise ConfigError(f"colList has {', '.join(twice)}, which the frame has, too; rename or drop it there.")
    keys = [_key(one) for one in listed(keyCols)]
    if not keys:
        raise ConfigError("keyCols is empty; name the columns to look rows up by, `column` or `column=table_column`.")
    table = frame.sparkSession.table(tableName)
    # Rename the table's columns to numbers, so that no name is also in the frame.
    renamed = table.select(
        *(column(table, theirs).alias(f"_gs_key{at}") for at, (_, theirs) in enumerate(keys)),
        *(column(table, name).alias(target(name)) for name in wanted),
    )
    same = [column(frame, ours) == F.col(f"_gs_key{at}") for at, (ours, _) in enumerate(keys)]
    joined = frame.join(renamed, reduce(lambda both, one: both & one, same), "left_outer")
    return joined.drop(*(f"_gs_key{at}" for at in range(len(keys))))


def gs_null_rows(frame: DataFrame, extended: bool = False) -> DataFrame:
    """Drop rows without values; `extended` also ignores blank texts, empty arrays and maps, and structs of these."""
    deep = is_true(extended)
    absent = [_absent(F.col(quoted(field.name)), field.dataType, deep=deep) for field in frame.schema]
    return frame.where(~reduce(lambda both, one: both & one, absent))


def _flat(value: Column, name: str, kind: DataType, separator: str, levels: int | None) -> list[Column]:
    if not isinstance(kind, StructType) or levels == 0:
        return [value.alias(name)]
    below = None if levels is None else levels - 1
    return [
        one
        for field in kind
        for one in _flat(value.getField(field.name), f"{name}{separator}{field.name}", field.dataType, separator, below)
    ]


def _key(text: str) -> tuple[str, str]:
    ours, _, theirs = (part.strip() for part in text.partition("="))
    return ours, theirs or ours


def _absent(value: Column, kind: DataType, *, deep: bool) -> Column:
    null = value.isNull()
    if not deep:
        return null
    match kind:
        case StringType():
            return null | (F.trim(value) == "")
        case ArrayType() | MapType():
            return null | (F.size(value) == 0)
        case StructType() if kind.fields:
            inner = (_absent(value.getField(field.name), field.dataType, deep=True) for field in kind)
            return null | reduce(lambda both, one: both & one, inner)
        case _:
            return null
