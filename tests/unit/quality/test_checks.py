"""What each rule type measures and how it is judged. `test_oracle.py` compares the figures with those of DuckDB."""

from datetime import UTC, datetime
from functools import reduce
from itertools import permutations

import pyarrow as pa
import pytest

from gluepot.frames.schema import choice_field
from gluepot.quality.checks import Facts, Setting
from gluepot.quality.dqdl.parser import parse
from gluepot.quality.evaluation import Examination
from gluepot.quality.measures import OWN, Measured, measure
from gluepot.quality.numbers import Moment
from gluepot.quality.row_tests import RowTests

NAN, INF = float("nan"), float("inf")
NOW = Moment(datetime(2024, 1, 31, 12, tzinfo=UTC).timestamp())
MASK = f"{OWN}where_0"


def times(*days):
    return pa.array([day and datetime(2024, 1, day, 12, tzinfo=UTC) for day in days], pa.timestamp("us", "UTC"))


DATA = pa.record_batch(
    {
        "id": pa.array([1, 2, 3, 4]),
        "n": pa.array([1, 3, 3, None]),
        "m": pa.array([2.0, 6.0, 6.0, 9.0]),
        "s": pa.array(["a", "bbb", "", None]),
        "t": times(28, 29, 30, None),
        "d": pa.array(["12", "x", "7", None]),
        "b": pa.array([True, False, True, None]),
        "Mixed Case": pa.array(["k", "k", "l", "m"]),
        "nothing": pa.nulls(4),
        "list": pa.array([[1], [2], [], None]),
    }
)
CHOICE = pa.RecordBatch.from_arrays(
    [pa.array([{"long": 1, "string": None}])],
    schema=pa.schema([choice_field("c", [pa.field("", pa.int64()), pa.field("", pa.string())])]),
)


def evaluate(text, *batches, earlier=None, by_row=False, flags=None, outside=None):
    """Evaluate a ruleset; the only `where` of it is already calculated in the column MASK."""
    ruleset = parse(text)
    setting = Setting(NOW, {one.where: MASK for one in ruleset.all_rules() if one.where}, earlier or {})
    names = {
        rule: name
        for rule in ruleset.all_rules()
        for begin, name in (flags or {}).items()
        if str(rule).startswith(begin)
    }
    examination = Examination(ruleset, setting, RowTests(setting, names), by_row)
    measures = examination.measures()
    measured = reduce(Measured.merged, [measure(batch, measures) for batch in batches])
    outside = {
        rule: value
        for rule in ruleset.all_rules()
        for begin, value in (outside or {}).items()
        if str(rule).startswith(begin)
    }
    return examination.judged(Facts(measured, outside))


def judge(rule, *batches, **options):
    (outcome,) = evaluate(f"Rules = [ {rule} ]", *(batches or [DATA]), **options).outcomes
    assert outcome.passed == (outcome.reason == "")
    return outcome


def unmet(value):
    return f"Value: {value} does not meet the constraint requirement!"


def approx(metrics):
    return pytest.approx(metrics, nan_ok=True)


@pytest.mark.parametrize(
    ("rule", "reason", "metrics"),
    [
        ("RowCount = 4", "", {"Dataset.*.RowCount": 4.0}),
        ("RowCount > 4", unmet(4.0), {"Dataset.*.RowCount": 4.0}),
        ("ColumnCount = 10", "", {"Dataset.*.ColumnCount": 10.0}),
        ("ColumnCount < 9", unmet(10.0), {"Dataset.*.ColumnCount": 10.0}),
        ('Completeness "n" = 0.75', "", {"Column.n.Completeness": 0.75}),
        ('Completeness "s" = 0.75', "", {"Column.s.Completeness": 0.75}),
        ('Completeness "list" > 0.8', unmet(0.75), {"Column.list.Completeness": 0.75}),
        ('Completeness "nothing" = 0', "", {"Column.nothing.Completeness": 0.0}),
        ('IsComplete "id"', "", {"Column.id.Completeness": 1.0}),
        ('IsComplete "n"', unmet(0.75), {"Column.n.Completeness": 0.75}),
        ('IsComplete "mixed case"', "", {"Column.mixed case.Completeness": 1.0}),
        ('Uniqueness "n" > 0.3', "", {"Column.n.Uniqueness": 1 / 3}),
        ('Uniqueness "n" "m" > 0.9', unmet(0.5), {"Multicolumn.n,m.Uniqueness": 0.5}),
        ('IsUnique "id"', "", {"Column.id.Uniqueness": 1.0}),
        ('IsUnique "s"', "", {"Column.s.Uniqueness": 1.0}),
        ('IsUnique "Mixed Case"', unmet(0.5), {"Column.Mixed Case.Uniqueness": 0.5}),
        ('IsUnique "Mixed Case" "id"', "", {"Multicolumn.Mixed Case,id.Uniqueness": 1.0}),
        ('IsPrimaryKey "id"', "", {"Column.id.Uniqueness": 1.0, "Column.id.Completeness": 1.0}),
        ('IsPrimaryKey "s"', unmet(0.75), {"Column.s.Uniqueness": 1.0, "Column.s.Completeness": 0.75}),
        (
            'IsPrimaryKey "id" "s"',
            unmet(0.75),
            {"Multicolumn.id,s.Uniqueness": 1.0, "Column.id.Completeness": 1.0, "Column.s.Completeness": 0.75},
        ),
        ('UniqueValueRatio "n" = 0.5', "", {"Column.n.UniqueValueRatio": 0.5}),
        ('UniqueValueRatio "n" > 0.5', unmet(0.5), {"Column.n.UniqueValueRatio": 0.5}),
        ('DistinctValuesCount "n" = 3', "", {"Column.n.DistinctValuesCount": 3.0}),
        ('DistinctValuesCount "id" in [1,2]', unmet(4.0), {"Column.id.DistinctValuesCount": 4.0}),
        ('DistinctValuesCount "nothing" = 1', "", {"Column.nothing.DistinctValuesCount": 1.0}),
        ('Entropy "n" between 0.63 and 0.64', "", {"Column.n.Entropy": 0.636514}),
        ('Entropy "id" < 1', unmet(1.3862943611198906), {"Column.id.Entropy": 1.386294}),
        ('Mean "id" = 2.5', "", {"Column.id.Mean": 2.5}),
        ('Mean "n" > 3', unmet(7 / 3), {"Column.n.Mean": 7 / 3}),
        ('Sum "n" = 7', "", {"Column.n.Sum": 7.0}),
        ('Sum "n" != 7', unmet(7.0), {"Column.n.Sum": 7.0}),
        ('StandardDeviation "n" between 0.94 and 0.95', "", {"Column.n.StandardDeviation": (8 / 9) ** 0.5}),
        ('StandardDeviation "m" = 1', unmet(2.48746859276655), {"Column.m.StandardDeviation": 2.487469}),
        ('Variance "id" = 1.25', "", {"Column.id.Variance": 1.25}),
        ('Variance "id" > 1.25', unmet(1.25), {"Column.id.Variance": 1.25}),
        ('ColumnCorrelation "n" "m" > 0.999', "", {"Multicolumn.n,m.ColumnCorrelation": 1.0}),
        ('ColumnCorrelation "m" "m" < 0', unmet(1.0), {"Multicolumn.m,m.ColumnCorrelation": 1.0}),
        ('ColumnExists "MIXED CASE"', "", {}),
        ('ColumnExists "x"', "Input data does not include column x!", {}),
        ('ColumnNamesMatchPattern "[a-z]+"', "", {"Dataset.*.ColumnNamesPatternMatchRatio": 1.0}),
        (
            'ColumnNamesMatchPattern "^[a-z]+$"',
            "Columns that do not match the pattern: Mixed Case",
            {"Dataset.*.ColumnNamesPatternMatchRatio": 0.9},
        ),
        ('ColumnDataType "d" = "INTEGER"', unmet(0.5), {"Column.d.ColumnDataType.Compliance": 0.5}),
        ('ColumnDataType "d" = "integer" with threshold >= 0.5', "", {"Column.d.ColumnDataType.Compliance": 0.5}),
        ('ColumnDataType "d" = "Double" with threshold > 0.5', unmet(0.5), {"Column.d.ColumnDataType.Compliance": 0.5}),
        (
            'ColumnDataType "d" = "DATE" with format = "d" with threshold > 0.25',
            "",
            {"Column.d.ColumnDataType.Compliance": 0.5},
        ),
        ('ColumnDataType "t" = "DATE" with format = "yy"', unmet(0.75), {"Column.t.ColumnDataType.Compliance": 0.75}),
        ('ColumnDataType "s" != "Date"', "", {"Column.s.ColumnDataType.Compliance": 1.0}),
        ('ColumnLength "s" < 4', "", {"Column.s.MaximumLength": 3.0}),
        ('ColumnLength "s" <= 2', unmet(3.0), {"Column.s.MaximumLength": 3.0}),
        ('ColumnLength "s" >= 0', "", {"Column.s.MinimumLength": 0.0}),
        ('ColumnLength "s" > 0', unmet(0.0), {"Column.s.MinimumLength": 0.0}),
        ('ColumnLength "s" between -1 and 4', "", {"Column.s.MaximumLength": 3.0, "Column.s.MinimumLength": 0.0}),
        (
            'ColumnLength "s" between 0 and 4',
            unmet(0.0),
            {"Column.s.MaximumLength": 3.0, "Column.s.MinimumLength": 0.0},
        ),
        (
            'ColumnLength "Mixed Case" = 1',
            "",
            {"Column.Mixed Case.MaximumLength": 1.0, "Column.Mixed Case.MinimumLength": 1.0},
        ),
        ('ColumnLength "s" in [0,1,3]', "", {"Column.s.LengthCompliance": 1.0}),
        ('ColumnLength "s" != 3', unmet(0.75), {"Column.s.LengthCompliance": 0.75}),
        ('ColumnValues "id" > 0', "", {"Column.id.Minimum": 1.0}),
        ('ColumnValues "id" > 1', unmet(1.0), {"Column.id.Minimum": 1.0}),
        ('ColumnValues "id" < 5', "", {"Column.id.Maximum": 4.0}),
        ('ColumnValues "id" < 4', unmet(4.0), {"Column.id.Maximum": 4.0}),
        ('ColumnValues "id" between 0 and 5', "", {"Column.id.Maximum": 4.0, "Column.id.Minimum": 1.0}),
        ('ColumnValues "id" between 0 and 4', unmet(4.0), {"Column.id.Maximum": 4.0, "Column.id.Minimum": 1.0}),
        ('ColumnValues "id" not between 1 and 4', unmet(0.5), {"Column.id.ColumnValues.Compliance": 0.5}),
        ('ColumnValues "n" > 0', unmet("NULL"), {"Column.n.Minimum": 1.0}),
        ('ColumnValues "n" != 2', "", {"Column.n.ColumnValues.Compliance": 1.0}),
        ('ColumnValues "n" != NULL', unmet(0.75), {"Column.n.ColumnValues.Compliance": 0.75}),
        ('ColumnValues "n" in [1,3,NULL]', "", {"Column.n.ColumnValues.Compliance": 1.0}),
        ('ColumnValues "n" > 0 with threshold > 0.7', "", {"Column.n.ColumnValues.Compliance": 0.75}),
        ('ColumnValues "n" > 0 with threshold > 1 - 0.25', unmet(0.75), {"Column.n.ColumnValues.Compliance": 0.75}),
        ('ColumnValues "nothing" > 0', unmet("NULL"), {"Column.nothing.ColumnValues.Compliance": 0.0}),
        ('ColumnValues "s" in ["a","bbb",EMPTY,NULL]', "", {"Column.s.ColumnValues.Compliance": 1.0}),
        ('ColumnValues "s" in ["a","bbb",EMPTY]', unmet(0.75), {"Column.s.ColumnValues.Compliance": 0.75}),
        ('ColumnValues "s" = NULL', unmet(0.25), {"Column.s.ColumnValues.Compliance": 0.25}),
        ('ColumnValues "s" matches "b+"', unmet(0.25), {"Column.s.ColumnValues.Compliance": 0.25}),
        ('ColumnValues "b" in ["true","false",NULL]', "", {"Column.b.ColumnValues.Compliance": 1.0}),
        (
            'ColumnValues "t" > "2024-01-01"',
            unmet(0.75),
            {"Column.t.Minimum": datetime(2024, 1, 28, 12, tzinfo=UTC).timestamp()},
        ),
        ('ColumnValues "t" not in ["2024-01-28"]', "", {"Column.t.ColumnValues.Compliance": 1.0}),
        (
            'DataFreshness "t" <= 3 days',
            "75.00 % of rows passed the threshold",
            {"Column.t.DataFreshness.Compliance": 0.75},
        ),
        (
            'DataFreshness "t" != 9 days',
            "75.00 % of rows passed the threshold",
            {"Column.t.DataFreshness.Compliance": 0.75},
        ),
    ],
)
def test_a_rule_has_its_reason_and_its_metrics(rule, reason, metrics):
    outcome = judge(rule)
    assert (outcome.rule, outcome.reason, dict(outcome.metrics)) == (rule, reason, approx(metrics))


def test_fresh_rows_pass():
    outcome = judge('DataFreshness "t" between 0 hours and 4 days', pa.record_batch({"t": times(28, 29)}))
    assert (outcome.passed, outcome.metrics) == (True, {"Column.t.DataFreshness.Compliance": 1.0})


OF_ONE_COLUMN = [
    *('Completeness "{}" > 0', 'IsComplete "{}"', 'Uniqueness "{}" > 0', 'IsUnique "{}"', 'IsPrimaryKey "{}"'),
    *(
        'UniqueValueRatio "{}" > 0',
        'DistinctValuesCount "{}" > 0',
        'Entropy "{}" >= 0',
        'Mean "{}" > 0',
        'Sum "{}" > 0',
    ),
    *(
        'StandardDeviation "{}" > 0',
        'Variance "{}" > 0',
        'ColumnCorrelation "{}" "id" > 0',
        'ColumnDataType "{}" = "DATE"',
    ),
    *('ColumnLength "{}" > 0', 'ColumnValues "{}" > 0', 'ColumnValues "{}" = "x"', 'DataFreshness "{}" > 1 days'),
]


@pytest.mark.parametrize("rule", OF_ONE_COLUMN)
def test_a_rule_on_a_missing_column_fails_with_glues_words(rule):
    outcome = judge(rule.format("x"))
    assert (outcome.reason, outcome.metrics) == ("Input data does not include column x!", {})


@pytest.mark.parametrize("rule", OF_ONE_COLUMN[2:])
def test_a_rule_on_a_nested_column_fails(rule):
    assert judge(rule.format("list")).reason == "Column list is nested (array); rules need plain columns."


@pytest.mark.parametrize("rule", OF_ONE_COLUMN)
def test_a_rule_on_no_rows_fails_except_one_that_counts_them(rule):
    empty = DATA.slice(0, 0)
    reasons = {
        'Completeness "n" > 0': None,
        'DistinctValuesCount "n" > 0': unmet(0.0),
        'ColumnCorrelation "n" "id" > 0': "Columns n and id do not vary together in any row.",
    }
    column = "s" if "Length" in rule else "t" if "Fresh" in rule else "n"
    expected = (
        reasons.get(rule.format(column)) or f"Column {column} has no value in any row, so the rule cannot be judged."
    )
    assert judge(rule.format(column), empty).reason == expected
    assert judge("RowCount = 0", empty).passed


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ('Mean "s" > 0', "Column s is of type string, but Mean needs numbers."),
        ('Sum "b" > 0', "Column b is of type boolean, but Sum needs numbers."),
        ('ColumnCorrelation "n" "t" > 0', "Column t is of type timestamp, but ColumnCorrelation needs numbers."),
        ('ColumnCorrelation "n" "nothing" > 0', "Columns n and nothing do not vary together in any row."),
        ('ColumnLength "n" > 0', "Column n is of type long, but ColumnLength needs texts."),
        ('ColumnValues "s" > 0', "Column s is of type string, but ColumnValues needs numbers."),
        ('ColumnValues "n" > "2024-01-31"', "Column n is of type long, but the condition compares dates."),
        ('ColumnValues "t" > "2024-02-31"', '"2024-02-31" is not a day of the calendar.'),
        (
            'ColumnValues "t" > "9:30" with timeZone = "Mars"',
            "There is no time zone Mars; use a name such as Europe/Paris.",
        ),
        (
            'ColumnValues "s" matches "a("',
            "The regular expression a( is not valid: missing ), unterminated subpattern at position 1.",
        ),
        ('DataFreshness "n" > 3 days', "Column n is of type long, but DataFreshness needs dates."),
        ('ColumnDataType "d" in ["DATE"]', "ColumnDataType compares by = or !=, not by in."),
        (
            'ColumnDataType "d" = "text"',
            (
                "The type text is not known; use one of BOOLEAN, DATE, TIMESTAMP, INTEGER, LONG, FLOAT, DOUBLE"
                " or DECIMAL(precision, scale)."
            ),
        ),
        (
            'ColumnDataType "d" = "LONG" with format = "dd"',
            "`with format` is for DATE and TIMESTAMP, not for LONG; omit it.",
        ),
        (
            'ColumnDataType "d" = "DATE" with format = "YYYY"',
            (
                "The format YYYY cannot be used: YYYY is not known; the letters are those of Spark's datetime patterns"
                " for parsing, without names of eras and zones."
            ),
        ),
        (
            'ColumnNamesMatchPattern "a("',
            "The regular expression a( is not valid: missing ), unterminated subpattern at position 1.",
        ),
        ('Mean "nothing" > 0', "Column nothing has no value in any row, so the rule cannot be judged."),
        ('Uniqueness "nothing" > 0', "Column nothing has no value in any row, so the rule cannot be judged."),
        (
            "RowCount > last(2)",
            "last(2) is a list of values, but a number is needed; use a function such as avg(last(2)).",
        ),
        ("RowCount > 1 / 0", "1 / 0 divides by zero."),
        ('CustomSql "SELECT 1" = 1', "CustomSql cannot be evaluated here."),
    ],
)
def test_a_rule_that_cannot_be_evaluated_fails_with_its_reason(rule, reason):
    assert judge(rule).reason == reason


def test_a_column_of_several_types_is_an_error():
    several = "Column c has values of several types; choose one of them with resolveChoice."
    assert judge('ColumnValues "c" > 0', CHOICE).reason == several
    number, text = pa.record_batch({"c": pa.array([1])}), pa.record_batch({"c": pa.array(["x"])})
    for rule in ('Mean "c" > 0', 'ColumnValues "c" = "x"', 'IsUnique "c"'):
        assert judge(rule, number, text).reason == several
    assert judge('Completeness "c" = 1', number, text).passed


@pytest.mark.parametrize(
    ("rule", "metrics"),
    [
        ('ColumnValues "a" >= 1', {"Column.a.Minimum": 1.0}),
        ('ColumnValues "a" <= 3.5', {"Column.a.Maximum": 3.5}),
        ('Sum "a" = 7.5', {"Column.a.Sum": 7.5}),
        ('Mean "a" = 1.875', {"Column.a.Mean": 1.875}),
        ('Uniqueness "a" = 0.5', {"Column.a.Uniqueness": 0.5}),
        ('DistinctValuesCount "a" = 3', {"Column.a.DistinctValuesCount": 3.0}),
        ("RowCount = 5", {"Dataset.*.RowCount": 5.0}),
        ("ColumnCount = 2", {"Dataset.*.ColumnCount": 2.0}),
        ('Completeness "a" = 0.8', {"Column.a.Completeness": 0.8}),
    ],
)
def test_chunks_may_lack_a_column_or_have_it_in_another_type_of_number(rule, metrics):
    chunks = [
        pa.record_batch({"a": pa.array([1, 2], pa.int32())}),
        pa.record_batch({"b": pa.array(["x"])}),
        pa.record_batch({"b": pa.array(["y", "z"]), "a": pa.array([1.0, 3.5])}),
    ]
    if "DistinctValuesCount" in rule:  # NULL of the second chunk counts
        metrics, rule = {"Column.a.DistinctValuesCount": 4.0}, 'DistinctValuesCount "a" = 4'
    if "ColumnValues" in rule:  # NULL of the second chunk fails
        assert judge(rule, *chunks).reason == unmet("NULL")
    else:
        assert judge(rule, *chunks).reason == ""
    assert judge(rule, *chunks).metrics == metrics


@pytest.mark.parametrize(
    ("values", "rule", "reason"),
    [
        ([1.0, NAN], 'ColumnValues "a" > 0', ""),
        ([1.0, NAN], 'ColumnValues "a" > 1', unmet(1.0)),
        ([1.0, NAN], 'ColumnValues "a" < 5', unmet(NAN)),
        ([2.0, NAN, None], 'ColumnValues "a" > 1', unmet("NULL")),
        ([NAN, NAN], 'ColumnValues "a" < 1', unmet(NAN)),
        ([NAN, 1.0], 'Mean "a" != 0', unmet(NAN)),
        ([NAN, NAN, 0.0, -0.0], 'DistinctValuesCount "a" = 2', ""),
        ([INF, 1.0], 'Sum "a" > 1', ""),
        ([INF, -INF], 'Sum "a" > 1', unmet(NAN)),
        ([1e308, 1e308], 'Mean "a" > 1', ""),
        ([1e200, -1e200], 'StandardDeviation "a" > 1', ""),
        ([1.0] * 49, 'Sum "a" = 49', ""),
        ([1] + [0] * 48, 'Sum "a" = 1', ""),
        ([2**53 + 1], f'ColumnValues "a" = {2**53 + 1}', ""),
    ],
)
def test_nan_infinity_and_large_numbers(values, rule, reason):
    assert judge(rule, pa.record_batch({"a": pa.array(values)})).reason == reason


def test_where_chooses_the_rows_and_its_column_does_not_count():
    batch = DATA.append_column(MASK, pa.array([True, True, False, None]))
    for rule, metrics in {
        'RowCount = 2 where "x"': {"Dataset.*.RowCount": 2.0},
        'Sum "n" = 4 where "x"': {"Column.n.Sum": 4.0},
        'IsUnique "n" where "x"': {"Column.n.Uniqueness": 1.0},
        'Completeness "s" = 1 where "x"': {"Column.s.Completeness": 1.0},
        'ColumnValues "n" > 0 where "x"': {"Column.n.Minimum": 1.0},
        'ColumnLength "s" > 0 where "x"': {"Column.s.MinimumLength": 1.0},
        "ColumnCount = 10": {"Dataset.*.ColumnCount": 10.0},
    }.items():
        outcome = judge(rule, batch, DATA.slice(0, 0))
        assert (outcome.rule, outcome.passed, outcome.metrics) == (rule, True, metrics)


def test_where_that_chooses_no_row_leaves_nothing_to_judge():
    batch = DATA.append_column(MASK, pa.array([False] * 4))
    assert (
        judge('Mean "n" > 0 where "x"', batch).reason
        == "Column n has no value in any row, so the rule cannot be judged."
    )


def test_a_time_of_day_is_that_of_its_zone():
    batch = pa.record_batch({"t": times(31)})  # noon in UTC, 13:00 in Paris
    assert judge('ColumnValues "t" > "12:30" with timeZone = "Europe/Paris"', batch).passed
    assert not judge('ColumnValues "t" > "12:30"', batch).passed


def test_a_dynamic_rule_shows_the_numbers_that_it_used():
    earlier = {"Dataset.*.RowCount": [5.0, 3.0], "Dataset.*.RowCount where x": [9.0]}
    outcome = judge("RowCount between avg(last(2)) - 1 and last() + 1", earlier=earlier)
    assert (outcome.passed, outcome.evaluated) == (True, "RowCount between 3.0 and 6.0")
    assert outcome.rule == "RowCount between avg(last(2)) - 1 and last() + 1"
    filtered = judge('RowCount = last() where "x"', DATA.append_column(MASK, pa.array([True] * 4)), earlier=earlier)
    assert (filtered.reason, filtered.evaluated) == (unmet(4.0), 'RowCount = 9.0 where "x"')
    assert judge("RowCount > last()").evaluated == "RowCount > 0.0"
    assert judge("RowCount > 1").evaluated == "RowCount > 1"


def test_thresholds_compare_with_earlier_shares():
    earlier = {"Column.d.ColumnDataType.Compliance": [0.5, 0.25], "Dataset.*.CustomSQL.Compliance": [0.75]}
    found = judge('ColumnDataType "d" = "LONG" with threshold > avg(last(2))', earlier=earlier)
    assert (found.passed, found.evaluated) == (True, 'ColumnDataType "d" = "LONG" with threshold > 0.375')
    rule = 'CustomSql "SELECT id FROM primary" with threshold >= last()'
    outside = {"CustomSql": {"Dataset.*.CustomSQL.Compliance": 0.5}}
    found = judge(rule, earlier=earlier, outside=outside)
    assert (found.reason, found.evaluated) == (unmet(0.5), rule.replace("last()", "0.75"))


def test_the_history_keeps_metrics_of_filtered_rows_under_names_of_their_own():
    batch = DATA.append_column(MASK, pa.array([True, False, False, False]))
    evaluation = evaluate('Rules = [ RowCount > 0, RowCount > 0 where "x" ] Analyzers = [ Sum "n" ]', batch)
    assert evaluation.history == {"Dataset.*.RowCount": 4.0, "Dataset.*.RowCount where x": 1.0, "Column.n.Sum": 7.0}


def test_analyzers_have_metrics_and_no_outcome():
    evaluation = evaluate(
        'Analyzers = [ RowCount, Completeness "n", ColumnValues "id", ColumnLength "s", Mean "x", Entropy "id" ]', DATA
    )
    assert list(evaluation.outcomes) == []
    assert (evaluation.rows, evaluation.score) == (4, 1.0)
    assert evaluation.analyzed == approx(
        {
            "Dataset.*.RowCount": 4.0,
            "Column.n.Completeness": 0.75,
            "Column.id.Minimum": 1.0,
            "Column.id.Maximum": 4.0,
            "Column.s.MinimumLength": 0.0,
            "Column.s.MaximumLength": 3.0,
            "Column.id.Entropy": 1.386294,
        }
    )


def test_the_score_is_the_share_of_rules_that_hold():
    assert evaluate('Rules = [ RowCount > 0, RowCount > 9, IsComplete "id", IsUnique "id" ]', DATA).score == 0.75


@pytest.mark.parametrize(
    ("rule", "passed"),
    [
        ('(IsComplete "id") and (RowCount > 1)', True),
        ('(IsComplete "n") and (RowCount > 1)', False),
        ('(IsComplete "n") or (RowCount > 1)', True),
        ('(IsComplete "n") or (RowCount > 9)', False),
        ('((IsComplete "n") or (RowCount > 1)) and (IsUnique "id")', True),
        ('(ColumnValues "n" > 0) or (ColumnValues "n" = NULL)', False),
        ('(IsComplete "x") or (RowCount > 1)', True),
    ],
)
def test_a_composite_joins_outcomes_of_all_rows(rule, passed):
    assert judge(rule).passed is passed


def test_a_composite_has_the_metrics_and_the_reasons_of_its_parts():
    outcome = judge(
        '(IsComplete "n") and (RowCount > last()) and (IsComplete "x")', earlier={"Dataset.*.RowCount": [9.0]}
    )
    assert outcome.metrics == {"Column.n.Completeness": 0.75, "Dataset.*.RowCount": 4.0}
    assert outcome.reason == f"{unmet(0.75)}, {unmet(4.0)}, Input data does not include column x!"
    assert outcome.evaluated == '(IsComplete "n") and (RowCount > 9.0) and (IsComplete "x")'


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ('(ColumnValues "n" > 0) or (ColumnValues "n" = NULL)', ""),
        ('(ColumnValues "n" > 1) or (ColumnValues "n" = NULL)', unmet(0.75)),
        ('(IsComplete "s") and (ColumnLength "s" > 0)', unmet(0.5)),
        ('(DataFreshness "t" < 2 days) or (IsComplete "d")', unmet(0.75)),
        ('((IsComplete "n") and (IsComplete "s")) or (ColumnValues "id" = 4)', ""),
        ('(IsComplete "n") or (IsComplete "x")', "Input data does not include column x!"),
        ('(IsComplete "id") or (ColumnValues "s" > 5)', "The values are of type string, but the rule needs numbers."),
        (
            '(IsComplete "n") or (Completeness "n" > 0.5)',
            (
                'Completeness "n" > 0.5 judges a share of all rows, so it cannot be a part of a rule that is judged row by'
                " row; use compositeRuleEvaluation.method COLUMN."
            ),
        ),
        (
            '(IsComplete "n") or (ColumnValues "n" > 0 with threshold > 0.5)',
            (
                'ColumnValues "n" > 0 with threshold > 0.5 judges a share of all rows, so it cannot be a part of a rule'
                " that is judged row by row; use compositeRuleEvaluation.method COLUMN."
            ),
        ),
        (
            '(IsComplete "n") or (RowCount > 1)',
            "RowCount > 1 has no result for each row; use compositeRuleEvaluation.method COLUMN.",
        ),
    ],
)
def test_a_composite_can_join_the_results_of_each_row(rule, reason):
    assert judge(rule, DATA.slice(0, 3), DATA.slice(3), by_row=True).reason == reason


def test_rows_that_other_rows_or_spark_decide_come_in_columns():
    batch = DATA.append_column(f"{OWN}flag_0", pa.array([True, True, False, None]))
    flags = {"IsUnique": f"{OWN}flag_0", "CustomSql": f"{OWN}flag_0"}
    for rule in (
        '(IsUnique "id") or (ColumnValues "id" > 2)',
        '(CustomSql "SELECT id FROM primary") or (ColumnValues "id" > 2)',
    ):
        assert judge(rule, batch, by_row=True, flags=flags).reason == ""


def test_rows_that_a_where_leaves_out_pass_a_composite():
    batch = DATA.append_column(MASK, pa.array([True, True, True, False]))
    assert judge('(IsComplete "n" where "x") and (IsComplete "id")', batch, by_row=True).passed
    assert judge('(IsComplete "n" where "x") and (IsComplete "s" where "x")', batch, by_row=True).passed


@pytest.mark.parametrize(
    ("rule", "values", "reason"),
    [
        ('CustomSql "SELECT 1" = 1', {"Dataset.*.CustomSQL": 1.0}, ""),
        ('CustomSql "SELECT 1" = 2', {"Dataset.*.CustomSQL": 1.0}, unmet(1.0)),
        ('CustomSql "SELECT id FROM primary"', {"Dataset.*.CustomSQL.Compliance": 0.5}, unmet(0.5)),
        ('CustomSql "SELECT id FROM primary" with threshold > 0.4', {"Dataset.*.CustomSQL.Compliance": 0.5}, ""),
        ('RowCountMatch "a" >= 0.8', {"Dataset.a.RowCountMatch": 0.9}, ""),
        ('SchemaMatch "a" = 1.0', "Column counts do not match", "Column counts do not match"),
    ],
)
def test_values_that_are_found_elsewhere_are_judged_here(rule, values, reason):
    outcome = judge(rule, outside={rule: values})
    assert outcome.reason == reason
    assert outcome.metrics == ({} if isinstance(values, str) else values)


def test_merging_in_any_order_gives_the_same():
    chunks = [
        pa.record_batch({"a": pa.array([1, 2, None], pa.int32()), "s": pa.array(["x", None, "é"])}),
        pa.record_batch({"a": pa.array([NAN, 2.0, -0.0])}),
        pa.record_batch({"s": pa.array(["x", "yyy"])}),
        pa.record_batch({"a": pa.array([], pa.float64())}),
    ]
    text = """Analyzers = [ RowCount, ColumnCount, Completeness "a", Uniqueness "a" "s", DistinctValuesCount "a",
        UniqueValueRatio "s", Entropy "a", Mean "a", ColumnValues "a", ColumnLength "s", ColumnCorrelation "a" "a" ]"""
    first, *others = (evaluate(text, *order).analyzed for order in permutations(chunks))
    assert len(first) == 13
    assert all(one == approx(first) for one in others)


def test_statistics_of_a_column_with_too_many_values_leave_out_what_needs_them(monkeypatch):
    monkeypatch.setattr("gluepot.quality.measures.MOST_GROUPS", 3)
    monkeypatch.setattr("gluepot.quality.measures._COMPACT_AT", 1)
    setting = Setting(NOW)
    examination = Examination(parse('Analyzers = [ AllStatistics "n" ]'), setting, RowTests(setting))
    whole = Measured()
    for begin in range(0, 30, 10):
        batch = pa.RecordBatch.from_pydict({"n": list(range(begin, begin + 10))})
        whole = whole.merged(measure(batch, examination.measures()))
    found = examination.judged(Facts(whole)).analyzed
    assert (found["Column.n.Completeness"], found["Column.n.Maximum"], found["Column.n.Sum"]) == (1.0, 29.0, 435.0)
    assert "Column.n.Uniqueness" not in found
