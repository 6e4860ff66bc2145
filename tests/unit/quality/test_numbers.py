import math
from zoneinfo import ZoneInfo

import pytest

from gluepot.quality.dqdl.parser import parse
from gluepot.quality.dqdl.rule_types import Kind
from gluepot.quality.dqdl.ruleset import Operator
from gluepot.quality.numbers import Comparison, Moment, RuleError, comparison_of, is_dynamic

# 2024-03-31 01:30:00 UTC; in Paris the clocks go from 2:00 to 3:00 half an hour before.
NOW = Moment(1_711_848_600.0)
DAY = 86_400


def condition(text, rule="RowCount"):
    return parse(f"Rules = [ {rule} {text} ]").rules[0].condition


def operands(text, rule="RowCount", now=NOW, earlier=()):
    return list(comparison_of(condition(text, rule), now, earlier).operands)


@pytest.mark.parametrize(
    ("text", "passing", "failing"),
    [
        ("= 2", [2, 2.0], [1, 3, math.nan]),
        ("!= 2", [1, 3], [2, 2.0, math.nan]),
        ("> 2", [3, math.inf], [2, 1, math.nan]),
        (">= 2", [2, 3], [1, math.nan]),
        ("< 2", [1, -math.inf], [2, 3, math.nan]),
        ("<= 2", [1, 2], [3, math.nan]),
        ("between 1 and 3", [1.001, 2, 2.999], [1, 3, 0, 4, math.nan]),
        ("not between 1 and 3", [1, 3, 0, 4], [1.001, 2, math.nan]),
        ("in [1,3]", [1, 3], [2, math.nan]),
        ("not in [1,3]", [2], [1, 3, math.nan]),
    ],
)
def test_between_excludes_its_ends_and_not_between_includes_them(text, passing, failing):
    test = comparison_of(condition(text), NOW)
    assert [value for value in (*passing, *failing) if test.holds(value)] == passing


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 - 2 - 1", 4),
        ("1 / 4", 0.25),
        ("-(1 + 2)", -3),
        ("- 2 * 3", -6),
        ("1.50", 1.5),
        ("abs(-2)", 2),
        ("9" * 18, int("9" * 18)),
        ("9" * 19, float("9" * 19)),
        ("9" * 400, math.inf),
    ],
)
def test_arithmetic_has_the_usual_order(text, value):
    assert operands(f"> {text}") == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("last()", 5),
        ("last(1)", 5),
        ("avg(last(2))", 4),
        ("average(last(2))", 4),
        ("mean(last(2))", 4),
        ("median(last(3))", 4),
        ("max(last(3))", 5),
        ("min(last(3))", 3),
        ("sum(last(3))", 12),
        ("std(last(2))", 1),
        ("stddev(last(2))", 1),
        ("index(last(3), 0)", 5),
        ("index(last(3), 2)", 4),
        ("percentile(last(3), 50)", 4),
        ("percentile(last(3), 0.25)", 3.5),
        ("max(abs(last(3)))", 5),
        ("0.9 * avg(last(2)) + 1", 4.6),
        ("avg(last(10))", 4),
        ("index(last(10), 2)", 4),
    ],
)
def test_a_condition_uses_earlier_values_and_fewer_if_there_are_no_more(text, value):
    assert operands(f"> {text}", earlier=[5, 3, 4]) == [pytest.approx(value)]
    assert is_dynamic(condition(f"> {text}").operands)


@pytest.mark.parametrize("text", ["last()", "avg(last(3))", "max(last(10))", "std(last(2))", "index(last(3), 0)"])
def test_without_earlier_values_the_value_is_zero(text):
    assert operands(f"> {text}") == [0.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "1 / 0 divides by zero."),
        ("1 / (2 - 2)", "1 / (2 - 2) divides by zero."),
        ("last(2)", "last(2) is a list of values, but a number is needed; use a function such as avg(last(2))."),
        ("last(2) + 1", "last(2) is a list of values, but a number is needed; use a function such as avg(last(2))."),
        (
            "abs(last(2))",
            "abs(last(2)) is a list of values, but a number is needed; use a function such as avg(abs(last(2))).",
        ),
        ("last(0)", "last(0) asks for no value; the number of values begins at 1."),
        ("index(last(3), 3)", "index(last(3),3) asks for value 3, but there are 3, counted from 0."),
        ("index(last(3), -1)", "index(last(3),-1) asks for value -1, but there are 3, counted from 0."),
        ("index(last(3))", "index(last(3)) needs two arguments, as in index(last(3), 1)."),
        ("avg()", "avg() needs values, as in avg(last(3))."),
        (
            f"avg(1{'0' * 308}, 1{'0' * 308})",
            f"avg(1{'0' * 308},1{'0' * 308}) cannot be calculated: intermediate overflow in fsum.",
        ),
    ],
)
def test_a_number_that_cannot_be_found_is_an_error_with_its_reason(text, message):
    with pytest.raises(RuleError) as error:
        operands(f"> {text}", earlier=[5, 3, 4])
    assert str(error.value) == message


def test_text_that_looks_like_an_earlier_value_is_none():
    assert not is_dynamic(condition('= "last(3)"', 'ColumnValues "a"').operands)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('> "2024-03-31"', 1_711_843_200),
        ('> "1969-12-31"', -DAY),
        ("> now()", NOW.epoch_secs),
        ("> (now() - 3 days)", NOW.epoch_secs - 3 * DAY),
        ("> (now() + 4 hours)", NOW.epoch_secs + 4 * 3600),
        ("> now() - 5 minutes", NOW.epoch_secs - 5 * 60),
        ('> "9:30 AM"', 1_711_843_200 + 9.5 * 3600),
        ('> "12:05 AM"', 1_711_843_200 + 5 * 60),
        ('> "12:05 PM"', 1_711_843_200 + 12 * 3600 + 5 * 60),
        ('> "1:00 PM"', 1_711_843_200 + 13 * 3600),
        ('> "21:45"', 1_711_843_200 + 21.75 * 3600),
    ],
)
def test_dates_are_midnight_in_utc_and_times_are_those_of_today(text, value):
    assert operands(text, 'ColumnValues "a"') == [value]


def test_times_are_those_of_the_zone():
    paris = Moment(NOW.epoch_secs, ZoneInfo("Europe/Paris"))
    assert operands('> "21:45"', 'ColumnValues "a"', paris) == [1_711_843_200 + 19.75 * 3600]
    assert operands('> "0:30"', 'ColumnValues "a"', paris) == [1_711_843_200 - 0.5 * 3600]


def test_a_day_that_does_not_exist_is_an_error():
    with pytest.raises(RuleError) as error:
        operands('> "2023-02-29"', 'ColumnValues "a"')
    assert str(error.value) == '"2023-02-29" is not a day of the calendar.'


@pytest.mark.parametrize(
    ("rule", "text", "value"),
    [
        ('DataFreshness "a"', "<= 3 days", 3 * DAY),
        ('DataFreshness "a"', "<= 4 hours", 4 * 3600),
        ('DataFreshness "a"', "<= 5 minutes", 300),
        ('DataFreshness "a"', "> -5 minutes", -300),
        ("FileSize", "> 3 B", 3),
        ("FileSize", "> 3 KB", 3 * 1024),
        ("FileSize", "> 3 MB", 3 * 1024**2),
        ("FileSize", "> 3 GB", 3 * 1024**3),
        ("FileSize", "> 3 TB", 3 * 1024**4),
    ],
)
def test_durations_are_seconds_and_sizes_are_bytes(rule, text, value):
    assert operands(text, rule) == [value]


def test_the_text_of_a_condition_shows_its_values():
    assert str(comparison_of(condition("between avg(last(2)) and 9"), NOW, [5, 4])) == "between 4.5 and 9"
    assert str(comparison_of(condition('in ["x",NULL]', 'ColumnValues "a"'), NOW)) == 'in ["x",NULL]'
    assert str(Comparison(Kind.NUMBER, Operator.NOT_IN, (1, 2.5))) == "not in [1,2.5]"
