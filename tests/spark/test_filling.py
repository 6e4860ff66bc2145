"""FillMissingValues: what is there stays, what is missing is guessed from the other columns."""

from __future__ import annotations

import pytest

from awsglue.dynamicframe import DynamicFrame
from awsglueml.transforms import FillMissingValues
from gluepot.core.errors import ConfigError


@pytest.fixture
def table(glue_context):
    def make(rows, schema):
        return DynamicFrame.fromDF(glue_context.spark_session.createDataFrame(rows, schema), glue_context, "table")

    return make


def by_id(frame, column):
    return {row.id: row[column] for row in frame.toDF().collect()}


def test_a_text_is_guessed_from_the_other_columns(table):
    countries = [("DE", "eur", 1.2), ("US", "usd", 9.9), ("JP", None, 5.5)]
    rows = [(n, *countries[n % 3]) for n in range(60)] + [(60, None, "usd", 9.8), (61, None, None, 5.4)]

    done = FillMissingValues.apply(table(rows, "id int, country string, currency string, rate double"), "country")

    found = by_id(done, "country_filled")
    assert (found[60], found[61]) == ("US", "JP")
    assert all(found[n] == countries[n % 3][0] for n in range(60))
    assert done.toDF().columns == ["id", "country", "currency", "rate", "country_filled"]


def test_a_number_keeps_its_type_and_is_guessed_near_those_of_like_rows(table):
    rows = [(n, "a" if n % 2 else "b", 10 if n % 2 else 1000) for n in range(40)] + [(40, "a", None)]

    done = FillMissingValues.apply(table(rows, "id int, kind string, size int"), "size", "size")

    assert dict(done.toDF().dtypes)["size"] == "int"
    assert by_id(done, "size")[40] < 300


@pytest.mark.parametrize(
    ("rows", "kind", "guess"),
    [
        ([(1.0,), (2.0,), (None,)], "double", 1.5),
        ([("x",), ("y",), ("y",), (None,)], "string", "y"),
        ([(True,), (None,)], "boolean", True),
    ],
)
def test_without_anything_to_learn_from_the_guess_is_the_mean_or_the_most_frequent(table, rows, kind, guess):
    done = FillMissingValues.apply(frame=table(rows, f"v {kind}"), missing_values_column="v", output_column="f")

    assert [row.f for row in done.toDF().collect() if row.v is None] == [guess]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("no", "missing_values_column is 'no'; there are d, e, t"),
        ("d", "'d' is of type date; only numbers, booleans and texts"),
        ("e", "'e' has no value in any row"),
        ("t", "'t' has more than 100 texts"),
    ],
)
def test_what_cannot_be_guessed_is_refused(table, column, said):
    given = table([(None, None, str(n)) for n in range(101)], "d date, e int, t string")

    with pytest.raises(ConfigError, match=said):
        FillMissingValues.apply(given, column)
