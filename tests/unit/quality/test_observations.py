"""Observations: which metrics are not as expected, how that is explained, and which rules would notice it."""

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gluepot.quality.checks import Facts, Setting
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.dqdl.parser import parse
from gluepot.quality.dqdl.ruleset import Rule, numeral
from gluepot.quality.evaluation import Examination
from gluepot.quality.measures import measure
from gluepot.quality.numbers import Moment
from gluepot.quality.observations import MOST_OBSERVATIONS, observed, suggested
from gluepot.quality.outcomes import Evaluation
from gluepot.quality.row_tests import RowTests

ROWS = pa.record_batch({"n": pa.array([1.0, 2.0, 3.0, None]), "s": pa.array(["a", "bb", "a", ""])})
CALM = [10.0, 10.0, 10.0]


def observations(ruleset, earlier, rows=ROWS):
    setting = Setting(Moment(0.0))
    examination = Examination(parse(ruleset), setting, RowTests(setting))
    return observed(examination.judged(Facts(measure(rows, examination.measures()))), earlier)


def test_a_value_outside_of_the_forecast_is_observed_and_explained():
    (found,) = observations("Rules = [ RowCount > 1 ]", {"Dataset.*.RowCount": [100.0, 102.0, 98.0]})
    assert found.plain() == {
        "Description": (
            "Dataset.*.RowCount is 4, below the lower limit of 94. The mean of 3 earlier values lets us expect 100."
        ),
        "MetricBasedObservation": {
            "MetricName": "Dataset.*.RowCount",
            "MetricValues": {"ActualValue": 4.0, "ExpectedValue": 100.0, "LowerLimit": 94.0, "UpperLimit": 106.0},
            "NewRules": ["RowCount between 93 and 107"],
        },
    }


def test_a_trend_is_named():
    rising = [100.0 + 10 * at for at in range(10)][::-1]
    (found,) = observations("Analyzers = [ RowCount ]", {"Dataset.*.RowCount": rising})
    assert found.description.endswith("The trend of 10 earlier values lets us expect 200.")


@pytest.mark.parametrize("earlier", [{}, {"Dataset.*.RowCount": [100.0, 100.0]}, {"Dataset.*.RowCount": [4.0] * 5}])
def test_nothing_is_observed_without_history_or_as_long_as_all_is_as_expected(earlier):
    assert observations("Rules = [ RowCount > 1 ]", earlier) == []


def test_rules_that_fail_analyzers_and_parts_of_composites_are_observed():
    earlier = {"Column.n.Mean": CALM, "Column.n.Completeness": CALM, "Column.s.MaximumLength": CALM}
    ruleset = 'Rules = [ (Mean "n" > 50) or (RowCount > 0) ] Analyzers = [ ColumnLength "s", AllStatistics "n" ]'
    assert [one.metric for one in observations(ruleset, earlier)] == [
        "Column.n.Mean", "Column.s.MaximumLength", "Column.n.Completeness",
    ]  # fmt: skip


def test_there_are_no_more_observations_than_glue_has():
    rows = pa.record_batch({f"c{at}": pa.array([1.0]) for at in range(60)})
    earlier = {f"Column.c{at}.Mean": CALM for at in range(60)}
    assert len(observations("Analyzers = [ AllStatistics AllColumns ]", earlier, rows)) == MOST_OBSERVATIONS


@pytest.mark.parametrize(
    ("metric", "rule", "limits", "expected"),
    [
        ("Dataset.*.RowCount", "RowCount > 1", (-2.5, 7.5), "RowCount <= 7"),
        ("Dataset.*.ColumnCount", "ColumnCount > 1", (9.9, 10.1), "ColumnCount between 9 and 11"),
        ("Dataset.*.RowCount", 'RowCount > 1 where "a > 1"', (5, 8), 'RowCount between 4 and 9 where "a > 1"'),
        ("Column.c.Completeness", 'Completeness "c" > 0', (0.93217, 1.02), 'Completeness "c" >= 0.9321'),
        ("Column.c.Completeness", 'Completeness "c" > 0', (0.4, 0.6), 'Completeness "c" between 0.3999 and 0.6001'),
        ("Multicolumn.a,b.Uniqueness", 'Uniqueness "a" "b" > 0', (-0.1, 0.25), 'Uniqueness "a" "b" <= 0.25'),
        ("Column.c.Mean", 'Mean "c" > 0', (-1234567.0, 1e-7), 'Mean "c" between -1235000 and 0.0000001001'),
        ("Column.c.Minimum", 'ColumnValues "c" > 0', (1.5, 3), 'ColumnValues "c" >= 1.5 where "`c` is not null"'),
        ("Column.c.Maximum", 'ColumnValues "c" > 0 where "x"', (1.5, 3.0),
         'ColumnValues "c" <= 3 where "(x) and `c` is not null"'),
        ("Column.c.Maximum", 'ColumnValues "c" > "2024-01-01"', (0.0, 1706700000.0),
         'ColumnValues "c" <= "2024-02-01" where "`c` is not null"'),
        ("Column.c.MinimumLength", 'ColumnLength "c" > 0', (1.2, 9), 'ColumnLength "c" >= 2'),
        ("Column.c.MaximumLength", 'ColumnLength "c" > 0', (1.2, 9), 'ColumnLength "c" <= 9'),
        ("Dataset.*.CustomSQL", 'CustomSql "select 1" = 1', (0, 2), 'CustomSql "select 1" between -0.0001 and 2.001'),
        ("Column.c.ColumnValues.Compliance", 'ColumnValues "c" in ["a"] with threshold > 0.5', (0.91, 1.1),
         'ColumnValues "c" in ["a"] with threshold >= 0.91'),
    ],
)  # fmt: skip
def test_a_rule_is_suggested_that_would_notice_it(metric, rule, limits, expected):
    (given,) = parse(f"Rules = [ {rule} ]").rules
    (found,) = suggested(metric, given, *limits)
    assert found == expected
    assert str(parse(f"Rules = [ {found} ]").rules[0]) == found


def test_a_suggestion_from_all_statistics_names_the_column():
    (found,) = suggested("Column.a.b.Entropy", Rule("AllStatistics", ("AllColumns",)), 1.0, 2.0)
    assert found == 'Entropy "a.b" between 0.999 and 2.001'


@given(
    st.sampled_from(["RowCount", "Completeness", "Mean", "Entropy", "ColumnCorrelation"]),
    st.floats(-1e9, 1e9),
    st.floats(0, 1e9),
)
@example("Mean", 0.0, 5e-324)
def test_a_suggested_rule_passes_at_both_limits(kind, lower, width):
    upper = lower + width
    inside = [one for one in (lower, upper) if kind in {"Mean", "ColumnCorrelation"} or one >= 0]
    if kind == "RowCount":
        inside = [one for one in inside if one == int(one)]
    if kind == "Completeness":
        inside = [one for one in inside if one <= 1]
    columns = {"RowCount": (), "ColumnCorrelation": ("a", "b")}.get(kind, ("c",))
    (text,) = suggested("Dataset.*.RowCount" if not columns else f"Column.c.{kind}", Rule(kind, columns), lower, upper)
    (rule,) = parse(f"Rules = [ {text} ]").rules
    test = Setting(Moment(0.0)).test(rule)
    assert all(test.holds(one) for one in inside)


@pytest.mark.parametrize(
    ("value", "expected"), [(0.0, "0"), (-0.0, "0"), (1e-9, "0.000000001"), (1e21, "1" + 21 * "0"), (-2.50, "-2.5")]
)
def test_numerals_have_no_exponent(value, expected):
    assert numeral(value) == expected


BINS = ValueCounts("double", (60, 36), (0.0, 5.0, 10.0), below=1, above=3)


def of_bins(one):
    return observed(Evaluation([], distributions={"Column.n.Distribution": one}), {})


def test_few_numbers_outside_of_the_bins_are_mentioned():
    (found,) = of_bins(BINS)
    assert found.description == (
        "4.0% of the values of column n lie outside of its 2 bins from 0 to 10, which an earlier evaluation has set:"
        " 1 below and 3 above."
    )
    assert (found.metric, found.actual, found.upper) == ("Column.n.Distribution", 0.04, 0.02)
    (rule,) = found.new_rules
    assert rule == 'ColumnValues "n" between -0.05 and 10.05 where "`n` is not null" with threshold >= 0.95'
    assert str(parse(f"Rules = [ {rule} ]").rules[0]) == rule


def test_many_numbers_outside_of_the_bins_are_a_stronger_sign():
    (found,) = of_bins(ValueCounts("double", (9,), (0.0, 5.0), above=1, overflows=2))
    assert "These are so many that the bins no longer describe the column, 2 times in a row now" in found.description


def test_new_bins_are_announced():
    (found,) = of_bins(ValueCounts("double", (9, 1), (0.0, 5.0, 10.0), replaced_share=0.25))
    assert found.description == (
        "The values of column n are counted in 2 bins from 0 to 10 from now on: more than 5% of them lay outside of the"
        " earlier bins 3 times in a row, this time 25.0%."
    )


def test_two_per_cent_outside_of_the_bins_are_no_observation():
    assert of_bins(ValueCounts("double", (98,), (0.0, 5.0), above=2)) == []
