"""What our own grammar answers of a predicate, and what it leaves to an evaluator of Spark SQL."""

from __future__ import annotations

import pytest

from gluepot.connectors.files.source.sql_predicate import read_predicate
from gluepot.core.errors import ConfigError


class Noted:
    """An evaluator that answers yes, and notes what it was asked."""

    def __init__(self, types=None):
        self.types = types
        self.asked = []

    def columns(self, _):
        return frozenset(self.types or {"year", "month"})

    def matches(self, _, rows):
        self.asked += rows
        return [True for _ in rows]


TYPES = {"year": "string", "month": "varchar(2)", "n": "int", "day": "date"}
KNOWN = {"year": "2024", "month": "01", "n": "7", "day": "2024-01-05"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("year = '2024'", True),
        ("year > 2023 and month <> '1'", True),
        ("month = 1", True),
        ("year in ('2023', '2024') and not month like '1%'", True),
        ("n between 8 and 9", False),
        ("n = 07", True),
        ("day is null or true", None),
        ("day > '2024-01-01'", None),
        ("n = '7'", None),
        ("n in (7)", None),
        ("year = 2024.0", None),
        ("year = 99999999999", None),
        (r"month like '0\\_'", None),
        ('year = "2024"', None),
        ("n is null", None),
        ("length(year) = 4", None),
        ("year = year and n = n", True),
    ],
)
def test_our_own_grammar_answers_where_spark_gives_the_same(text, wanted):
    evaluator = Noted(TYPES)
    predicate = read_predicate(text, evaluator)
    evaluator.asked.clear()

    assert predicate.matches(KNOWN) is (wanted is not False)
    assert bool(evaluator.asked) == (wanted is None)


@pytest.mark.parametrize("value", [" 7", "+7", "7.0", "x", "9007199254740993"])
def test_a_value_that_is_no_plain_integer_is_left_to_spark(value):
    evaluator = Noted()
    assert read_predicate("year = 7", evaluator).matches({"year": value})
    assert evaluator.asked == [{"year": value}]


def test_folders_are_evaluated_together_and_once():
    evaluator = Noted()
    predicate = read_predicate("substr(year, 1, 2) = month", evaluator)
    evaluator.asked.clear()
    rows = [{"year": year, "month": "01"} for year in ("2023", "2024", "2023")]
    predicate.learn([*rows, {"year": "2025"}])

    assert [predicate.matches(row) for row in rows] == [True, True, True]
    assert [row["year"] for row in evaluator.asked] == ["2023", "2024"]


def test_a_folder_is_opened_until_all_columns_are_known():
    evaluator = Noted()
    predicate = read_predicate("concat(year, month) = '202401'", evaluator)
    evaluator.asked.clear()

    assert predicate.may_match({"year": "2024"})
    assert not evaluator.asked


def test_without_an_evaluator_only_our_own_grammar_is_understood():
    assert read_predicate("year > 2023", None).matches(KNOWN)
    with pytest.raises(ConfigError, match="is not understood"):
        read_predicate("length(year) = 4", None)
