"""Guesses missing values of a column: Spark's random forest learns the column from the others."""

from __future__ import annotations

from typing import Any

from pyspark.ml import Estimator, Pipeline, Transformer
from pyspark.ml.classification import RandomForestClassifier
from pyspark.ml.feature import StringIndexer, VectorAssembler
from pyspark.ml.regression import RandomForestRegressor
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BooleanType, DataType, IntegralType, NumericType, StringType, StructField

from awsglue.visual.columns import quoted
from gluepot.core.errors import ConfigError

TREES = 20
SEED = 7
# A forest treats each distinct text as a category. Columns whose texts nearly all differ, such as names, are not
# categories, and are left out.
MOST_KINDS = 100
# Columns that this module adds to the user's.
_LABEL, _FEATURES, _PREDICTION = "_fill_label", "_fill_features", "_fill_prediction"


def filled(frame: DataFrame, column: str, output: str) -> DataFrame:
    """Return the frame with one more column: the values of a column, and guesses where its value is missing.

    The same rows give the same guesses. If the forest can learn from no other column, the guess is the mean of the
    numbers, or the most frequent text. This reads the rows several times.

    Args:
        frame: the frame with the column.
        column: a column of numbers, booleans or texts.
        output: name of the new column.

    Raises:
        ConfigError: the column does not exist, is of another type, has no value to learn from, or has more than
            `MOST_KINDS` different texts.
    """
    field = next((one for one in frame.schema if one.name == column), None)
    if field is None:
        raise ConfigError(f"missing_values_column is {column!r}; there are {', '.join(frame.columns)}.")
    if not isinstance(field.dataType, NumericType | BooleanType | StringType):
        kind = field.dataType.simpleString()
        raise ConfigError(f"{column!r} is of type {kind}; only numbers, booleans and texts can be guessed.")
    value = F.col(quoted(column))
    kinds = [] if isinstance(field.dataType, NumericType) else _kinds(frame, value, column)
    label = _index(value, kinds) if kinds else value.cast("double")
    made, numbers, texts = _prepared(frame.withColumn(_LABEL, label), [one for one in frame.schema if one != field])
    known = made.where(F.col(_LABEL).isNotNull()).persist()
    try:
        if known.isEmpty():
            raise ConfigError(f"{column!r} has no value in any row; there is nothing to guess from.")
        predicted = _predicted(made, known, numbers, texts, kinds)
    finally:
        known.unpersist()
    guess = F.get(F.array(*map(F.lit, kinds)), F.col(_PREDICTION).cast("int")) if kinds else F.col(_PREDICTION)
    names = [F.col(quoted(name)) for name in frame.columns if name != output]
    return predicted.select(*names, F.coalesce(value, _as(guess, field.dataType)).alias(output))


def _predicted(made: DataFrame, known: DataFrame, numbers: list[str], texts: list[str], kinds: list[str]) -> DataFrame:
    if len(kinds) == 1 or not (numbers or texts):
        # Kinds are numbered by their frequency; 0 is the most frequent.
        best = 0.0 if kinds else known.agg(F.avg(_LABEL)).collect()[0][0]
        return made.withColumn(_PREDICTION, F.lit(best))
    forest = RandomForestClassifier if kinds else RandomForestRegressor
    indexed = [f"{text}_index" for text in texts]
    stages: list[Estimator[Any] | Transformer] = [
        *([StringIndexer(inputCols=texts, outputCols=indexed, handleInvalid="keep")] if texts else []),
        VectorAssembler(inputCols=[*numbers, *indexed], outputCol=_FEATURES),
        forest(
            labelCol=_LABEL,
            featuresCol=_FEATURES,
            predictionCol=_PREDICTION,
            numTrees=TREES,
            seed=SEED,
            maxBins=MOST_KINDS + 2,  # one kind for null, one for unseen texts
        ),
    ]
    return Pipeline(stages=stages).fit(known).transform(made)


def _prepared(frame: DataFrame, fields: list[StructField]) -> tuple[DataFrame, list[str], list[str]]:
    """Return the frame with columns to learn from: their names for numbers, and for texts."""
    texts = [one for one in fields if isinstance(one.dataType, StringType)]
    few = frame.agg(*(F.approx_count_distinct(quoted(one.name)) for one in texts)).collect()[0] if texts else ()
    kept = [one for one, distinct in zip(texts, few, strict=True) if distinct < MOST_KINDS]
    numbers = [one for one in fields if isinstance(one.dataType, NumericType | BooleanType)]
    columns: dict[str, Column] = {}
    for at, one in enumerate(numbers):
        number = F.col(quoted(one.name)).cast("double")
        columns |= {
            f"_fill_number{at}": F.coalesce(number, F.lit(0.0)),
            f"_fill_null{at}": number.isNull().cast("double"),
        }
    names = list(columns)
    columns |= {f"_fill_text{at}": F.col(quoted(one.name)) for at, one in enumerate(kept)}
    return frame.withColumns(columns), names, list(columns)[len(names) :]


def _kinds(frame: DataFrame, value: Column, name: str) -> list[str]:
    """Return the texts of a column, the most frequent first."""
    text = value.cast("string").alias("kind")
    counted = frame.where(value.isNotNull()).groupBy(text).count().orderBy(F.desc("count"), "kind")
    kinds = [row["kind"] for row in counted.limit(MOST_KINDS + 1).collect()]
    if len(kinds) > MOST_KINDS:
        raise ConfigError(f"{name!r} has more than {MOST_KINDS} texts; what differs that much cannot be guessed.")
    if not kinds:
        raise ConfigError(f"{name!r} has no value in any row; there is nothing to guess from.")
    return kinds


def _index(value: Column, kinds: list[str]) -> Column:
    return (F.array_position(F.array(*map(F.lit, kinds)), value.cast("string")) - 1).cast("double")


def _as(guess: Column, kind: DataType) -> Column:
    return (F.round(guess) if isinstance(kind, IntegralType) else guess).cast(kind)
