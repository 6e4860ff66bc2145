from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from gluepot.quality.dqdl.parser import parse
from gluepot.quality.numbers import Moment, RuleError, comparison_of
from gluepot.quality.values import castable, check_pattern, fulfilled, has_match, lengths

NAN, INF = float("nan"), float("inf")
NOW = Moment(datetime(2024, 1, 31, 12, tzinfo=UTC).timestamp())


def passing(condition, values, data_type):
    """Return the values that fulfil the condition of a ColumnValues rule."""
    test = comparison_of(parse(f'Rules = [ ColumnValues "a" {condition} ]').rules[0].condition, NOW)
    flags = fulfilled(pa.array(values, data_type), test)
    assert flags.null_count == 0
    return [value for value, flag in zip(values, flags.to_pylist(), strict=True) if flag]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("= 2", [2]),
        ("!= 2", [1, 3, None]),
        ("> 2", [3]),
        (">= 2", [2, 3]),
        ("< 2", [1]),
        ("<= 2", [1, 2]),
        ("between 1 and 3", [2]),
        ("not between 1 and 3", [1, 3]),
        ("in [1,3]", [1, 3]),
        ("not in [1,3]", [2, None]),
        ("in [1,NULL]", [1, None]),
        ("not in [1,NULL]", [2, 3]),
        ("= NULL", [None]),
        ("!= NULL", [1, 2, 3]),
        ("in [NULL]", [None]),
        ("not in [NULL]", [1, 2, 3]),
        ("> 1.5", [2, 3]),
        ("> -1", [1, 2, 3]),
        (f"< {'9' * 400}", [1, 2, 3]),
        (f"!= {'9' * 30}", [1, 2, 3, None]),
    ],
)
@pytest.mark.parametrize(
    "data_type", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(9, 2)]
)
def test_null_fulfils_only_unequal_and_not_in_unless_it_is_named(condition, expected, data_type):
    values = [1, 2, 3, None]
    if pa.types.is_decimal(data_type):
        values = [None if one is None else Decimal(one) for one in values]
    assert passing(condition, values, data_type) == expected


def test_nan_is_larger_than_every_number():
    values = [NAN, INF, -INF, 1.0]
    assert [str(one) for one in passing("> 0", values, pa.float64())] == ["nan", "inf", "1.0"]
    assert passing("< 5", values, pa.float64()) == [-INF, 1.0]
    assert [str(one) for one in passing("!= 1", values, pa.float64())] == ["nan", "inf", "-inf"]


def test_large_integers_are_compared_exactly():
    large = 2**53 + 1
    assert passing(f"= {large}", [large - 1, large, large + 1], pa.int64()) == [large]
    assert passing(f"> {2**63 - 2}", [2**63 - 1, 2**63 - 2], pa.int64()) == [2**63 - 1]


TEXTS = ["", " ", "\t ", "ab", "Ab", "é🙂", "12", None]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('= "ab"', ["ab"]),
        ('!= "ab"', ["", " ", "\t ", "Ab", "é🙂", "12", None]),
        ('in ["ab","é🙂"]', ["ab", "é🙂"]),
        ('not in ["ab","é🙂",NULL,EMPTY]', [" ", "\t ", "Ab", "12"]),
        ("= NULL", [None]),
        ("!= NULL", ["", " ", "\t ", "ab", "Ab", "é🙂", "12"]),
        ("= EMPTY", [""]),
        ("!= EMPTY", [" ", "\t ", "ab", "Ab", "é🙂", "12", None]),
        ("= WHITESPACES_ONLY", [" ", "\t "]),
        ('in ["ab",NULL,EMPTY,WHITESPACES_ONLY]', ["", " ", "\t ", "ab", None]),
        ('matches "b"', ["ab", "Ab"]),
        ('matches "^a"', ["ab"]),
        ('not matches "b"', ["", " ", "\t ", "é🙂", "12"]),
        (r'matches "^\d+$"', ["12"]),
        ('matches "[a-z]*"', ["ab"]),
        ('matches "(?=A)A."', ["Ab"]),
        ('matches "^é.$"', ["é🙂"]),
    ],
)
def test_conditions_on_texts(condition, expected):
    assert passing(condition, TEXTS, pa.string()) == expected


def test_conditions_on_texts_compare_other_types_as_spark_writes_them():
    assert passing("= true", [True, False, None], pa.bool_()) == [True]
    assert passing('in ["1","3"]', [1, 2, None], pa.int32()) == [1]
    assert passing('in ["2024-01-31","x"]', [date(2024, 1, 31), date(2024, 2, 1)], pa.date32()) == [date(2024, 1, 31)]


@pytest.mark.parametrize(
    ("condition", "expected_days"),
    [
        ('= "2024-01-31"', [31]),
        ('> "2024-01-30"', [31]),
        ('between "2024-01-29" and "2024-01-31"', [30]),
        ('not in ["2024-01-31"]', [29, 30, None]),
        ('in ["2024-01-29", NULL]', [29, None]),
        ("< (now() - 1 days)", [29, 30]),
        ('= "12:00 AM"', [31]),
        ("!= NULL", [29, 30, 31]),
    ],
)
def test_conditions_on_dates(condition, expected_days):
    for make, data_type in (
        (lambda day: date(2024, 1, day), pa.date32()),
        (lambda day: datetime(2024, 1, day, tzinfo=UTC), pa.timestamp("us", "UTC")),
        (lambda day: f"2024-01-{day}", pa.string()),
    ):
        values = [None if day is None else make(day) for day in (29, 30, 31, None)]
        expected = [None if day is None else make(day) for day in expected_days]
        assert passing(condition, values, data_type) == expected


def test_a_text_that_is_no_date_fulfils_no_condition_on_dates():
    assert passing('!= "2024-01-31"', ["x", "", "2024-02-01"], pa.string()) == ["2024-02-01"]


@pytest.mark.parametrize(
    ("condition", "values", "message"),
    [
        ("> 1", ["5"], "The values are of type string, but the rule needs numbers."),
        ("> 1", [True], "The values are of type boolean, but the rule needs numbers."),
        ('> "2024-01-31"', [5], "The values are of type long, but the rule needs dates."),
        ('= "x"', [{"a": 1}], "The values are nested; rules need plain columns."),
    ],
)
def test_values_of_another_type_are_refused(condition, values, message):
    with pytest.raises(RuleError) as error:
        passing(condition, values, None)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("condition", "data_type"),
    [
        *(("> 1", one) for one in (pa.null(), pa.int64(), pa.float64())),
        *(('> "2024-01-31"', one) for one in (pa.null(), pa.string(), pa.date32(), pa.timestamp("us", "UTC"))),
        *((text, one) for text in ('= "x"', "!= NULL", 'matches "a"') for one in (pa.null(), pa.string(), pa.int64())),
    ],
)
def test_columns_without_any_value_fulfil_nothing(condition, data_type):
    assert passing(condition, [], data_type) == []
    assert passing(condition, [None, None], data_type) == []


def test_the_first_match_of_a_pattern_must_not_be_empty():
    texts = pa.array(["abc", "1abc", "", None])
    assert has_match(texts, "[a-z]*").to_pylist() == [True, False, False, False]
    assert has_match(texts, r"\p{L}+").to_pylist() == [True, True, False, None]


@pytest.mark.parametrize("pattern", ["a+", r"\d{3}", "(?=a)b", r"(a)\1", r"\p{Greek}"])
def test_patterns_that_one_of_the_engines_knows_are_valid(pattern):
    assert check_pattern(pattern) == ""


def test_a_pattern_that_no_engine_knows_is_an_error():
    assert (
        check_pattern("a(")
        == "The regular expression a( is not valid: missing ), unterminated subpattern at position 1."
    )


@pytest.mark.parametrize(
    ("data_type", "expected"),
    [
        ("BOOLEAN", ["1", "true"]),
        ("Date", ["2024-01-31"]),
        ("timestamp", ["2024-01-31"]),
        ("INTEGER", ["1", " 7 ", "1.5", "-3"]),
        ("LONG", ["1", " 7 ", "1.5", "-3", "3000000000"]),
        ("FLOAT", ["1", " 7 ", "1.5", "-3", "3000000000", "1e3", "NaN"]),
        ("double", ["1", " 7 ", "1.5", "-3", "3000000000", "1e3", "NaN"]),
        ("DECIMAL(3,1)", ["1", " 7 ", "1.5", "-3"]),
    ],
)
def test_values_are_castable_as_spark_casts(data_type, expected):
    texts = ["1", " 7 ", "1.5", "-3", "3000000000", "1e3", "NaN", "true", "2024-01-31", "", " ", "x", None]
    found = castable(pa.array(texts), data_type).to_pylist()
    assert [text for text, flag in zip(texts, found, strict=True) if flag] == expected


def test_lengths_count_characters_and_null_has_none():
    assert lengths(pa.array(["", "ab", "é🙂", None])).to_pylist() == [0, 2, 2, 0]
    with pytest.raises(RuleError, match="of type long, but the rule needs texts"):
        lengths(pa.array([12]))
