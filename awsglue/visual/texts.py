"""Studio's transforms of texts and arrays: concatenate, split, take apart, parse (docs/glue 13.2)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.errors import IllegalArgumentException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from awsglue.visual.columns import column, listed, target
from gluepot.core.errors import ConfigError
from gluepot.core.option_values import is_true
from gluepot.engine import execute
from gluepot.engine.pipeline import FrameInput, Pipeline
from gluepot.frames.chunk import is_choice


def gs_concat(
    frame: DataFrame, colName: str, colList: str | Sequence[str], spacer: str = "", nullValue: str | None = None
) -> DataFrame:
    """Put columns together as one text, with a spacer between them; a null counts as `nullValue`, or as no text."""
    texts = [F.coalesce(column(frame, one).cast("string"), F.lit(nullValue or "")) for one in listed(colList)]
    return frame.withColumn(target(colName), F.concat_ws(spacer, *texts))


def gs_split(frame: DataFrame, colName: str, pattern: str, newColName: str | None = None) -> DataFrame:
    """Cut a text at a regular expression; the array replaces it, unless it gets a name of its own."""
    return frame.withColumn(target(newColName or colName), F.split(column(frame, colName), pattern))


def gs_array_to_cols(
    frame: DataFrame, colName: str, colList: str | Sequence[str], indexes: str | Sequence[int] | None = None
) -> DataFrame:
    """Make columns of the elements of an array; null where it is too short.

    Args:
        frame: has the array.
        colName: the array.
        colList: names of the new columns.
        indexes: which elements, from 1; the first ones if it is empty.

    Raises:
        ConfigError: as many names as indexes are needed, whole numbers from 1 on.
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
    """Make a column of each group of a regular expression, or of the whole match where it has no group.

    Texts that do not match give null.

    Raises:
        ConfigError: it is no regular expression of Java's, or there are more names than groups.
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
    """Make a struct of a JSON text, with the fields that any of the texts has; a text that is no object gives null.

    Reads all records once for the fields. One whose type differs from text to text is text. Without a single object
    the frame stays as it is.
    """
    text = column(frame, colName).cast("string")
    texts = Pipeline(FrameInput(frame.select(text.alias("text")), json_column="text"))
    found = execute.storable(execute.schema_of(frame.sparkSession, texts))
    if not found.names:
        return frame
    fields = from_arrow_schema(pa.schema([_readable(one) for one in found]), prefer_timestamp_ntz=True)
    return frame.withColumn(target(newColName or colName), F.from_json(text, fields))


def gs_extract_json(
    frame: DataFrame,
    colName: str,
    jsonPaths: str | Sequence[str],
    colList: str | Sequence[str],
    dropCol: bool = False,
) -> DataFrame:
    """Make columns of what paths find in a JSON text, as texts; null where they find nothing.

    Args:
        frame: has the text.
        colName: the text; a struct, array or map counts as its JSON.
        jsonPaths: `$.a.b[0]`, or the same without `$.`.
        colList: names of the new columns, one a path.
        dropCol: whether the text goes.

    Raises:
        ConfigError: there are not as many names as paths.
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
    """Return the number of groups, as Java counts them, whose expressions they are."""
    jvm = frame.sparkSession.sparkContext._jvm  # noqa: SLF001
    assert jvm is not None
    try:
        return int(jvm.java.util.regex.Pattern.compile(regex).matcher("").groupCount())
    except IllegalArgumentException as wrong:
        reason = str(wrong).partition("\n")[0]
        raise ConfigError(f"regex {regex!r} is no regular expression of Java's: {reason}.") from wrong


def _readable(field: pa.Field) -> pa.Field:
    """Return a field with text in place of choices, which from_json has no type for."""
    return field.with_type(pa.string()) if is_choice(field) else field.with_type(_readable_type(field.type))


def _readable_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([_readable(field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_readable(kind.value_field))
    return kind
