"""Studio's transforms of texts and arrays: concatenate, split, extract, parse (docs/glue 13.2)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.errors import IllegalArgumentException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from awsglue.visual.columns import column, listed, target
from gluepot.core.errors import ConfigError
from gluepot.core.option_values import is_true
from gluepot.engine import execute
from gluepot.engine.pipeline import FrameInput, Pipeline
from gluepot.engine.spark_types import spark_schema
from gluepot.frames.chunk import is_choice


def gs_concat(
    frame: DataFrame, colName: str, colList: str | Sequence[str], spacer: str = "", nullValue: str | None = None
) -> DataFrame:
    """Concatenate columns with a spacer; a null counts as `nullValue`, or as an empty text."""
    texts = [F.coalesce(column(frame, one).cast("string"), F.lit(nullValue or "")) for one in listed(colList)]
    return frame.withColumn(target(colName), F.concat_ws(spacer, *texts))


def gs_split(frame: DataFrame, colName: str, pattern: str, newColName: str | None = None) -> DataFrame:
    """Split a text at a regular expression; the array replaces the text, or becomes the column `newColName`."""
    return frame.withColumn(target(newColName or colName), F.split(column(frame, colName), pattern))


def gs_array_to_cols(
    frame: DataFrame, colName: str, colList: str | Sequence[str], indexes: str | Sequence[int] | None = None
) -> DataFrame:
    """Make columns from the elements of an array; they are null if the array is too short.

    Args:
        frame: the frame with the array.
        colName: name of the array column.
        colList: names of the new columns.
        indexes: the elements to take, counted from 1; if empty, the first ones.

    Raises:
        ConfigError: an index is not an integer from 1 on, or the numbers of names and indexes differ.
    """
    names, array = listed(colList), column(frame, colName)
    wanted = listed(indexes) if isinstance(indexes, str) else [str(one) for one in indexes or ()]
    places = wanted or [str(one + 1) for one in range(len(names))]
    if len(places) != len(names) or not all(place.isdecimal() and int(place) for place in places):
        raise ConfigError(
            f"indexes {', '.join(places)} do not go with colList {', '.join(names)}; give one for each, counted from 1."
        )
    return frame.withColumns(
        {target(name): F.get(array, F.lit(int(place) - 1)) for name, place in zip(names, places, strict=True)}
    )


def gs_regex_extract(frame: DataFrame, colName: str, regex: str, newCols: str | Sequence[str]) -> DataFrame:
    """Make a column from each group of a regular expression, or from the whole match if it has no groups.

    Texts that do not match give null.

    Raises:
        ConfigError: Java does not accept the regular expression, or there are more names than groups.
    """
    names, text = listed(newCols), column(frame, colName)
    groups = _groups(frame, regex)
    if len(names) > max(groups, 1):
        raise ConfigError(f"newCols has {len(names)} names, regex {regex!r} has {groups} groups; give a name for each.")
    first = 1 if groups else 0
    found = F.when(text.rlike(regex), True)
    return frame.withColumns(
        {
            target(name): F.when(found, F.regexp_extract(text, regex, group))
            for group, name in enumerate(names, start=first)
        }
    )


def gs_parse_json(frame: DataFrame, colName: str, newColName: str | None = None) -> DataFrame:
    """Parse JSON texts to a struct with the fields of all texts; a text that is not an object gives null.

    This reads all records once to find the fields. A field whose type differs from text to text becomes text. If no
    text is an object, the frame stays as it is.
    """
    text = column(frame, colName).cast("string")
    texts = Pipeline(FrameInput(frame.select(text.alias("text")), json_column="text"))
    found = execute.storable(execute.schema_of(frame.sparkSession, texts))
    if not found.names:
        return frame
    fields = spark_schema(pa.schema([_readable(one) for one in found]))
    return frame.withColumn(target(newColName or colName), F.from_json(text, fields))


def gs_extract_json(
    frame: DataFrame,
    colName: str,
    jsonPaths: str | Sequence[str],
    colList: str | Sequence[str],
    dropCol: bool = False,
) -> DataFrame:
    """Extract values from a JSON text by paths, as text columns; a path that finds nothing gives null.

    Args:
        frame: the frame with the text.
        colName: name of the text column; a struct, array or map is converted to JSON first.
        jsonPaths: paths such as `$.a.b[0]`, with or without `$.`.
        colList: names of the new columns, one for each path.
        dropCol: whether to drop the text column.

    Raises:
        ConfigError: the numbers of names and paths differ.
    """
    paths, names, text = listed(jsonPaths), listed(colList), column(frame, colName)
    if len(paths) != len(names):
        raise ConfigError(f"jsonPaths has {len(paths)} paths and colList {len(names)} names; give a name for each.")
    nested = frame.select(text.alias("text")).schema["text"].dataType.typeName() in {"struct", "array", "map"}
    document = F.to_json(text) if nested else text.cast("string")
    rooted = [path if path.startswith("$") else f"$.{path}" for path in paths]
    extracted = {target(name): F.get_json_object(document, path) for name, path in zip(names, rooted, strict=True)}
    found = frame.withColumns(extracted)
    return found.drop(text) if is_true(dropCol) and target(colName) not in extracted else found


def _groups(frame: DataFrame, regex: str) -> int:
    """Return the number of groups of a regular expression as Java counts them."""
    jvm = frame.sparkSession.sparkContext._jvm  # noqa: SLF001
    assert jvm is not None
    try:
        return int(jvm.java.util.regex.Pattern.compile(regex).matcher("").groupCount())
    except IllegalArgumentException as wrong:
        reason = str(wrong).partition("\n")[0]
        raise ConfigError(f"regex {regex!r} is not a regular expression of Java: {reason}.") from wrong


def _readable(field: pa.Field) -> pa.Field:
    """Return a field with text in place of choices, because from_json has no type for choices."""
    return field.with_type(pa.string()) if is_choice(field) else field.with_type(_readable_type(field.type))


def _readable_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([_readable(field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_readable(kind.value_field))
    return kind
