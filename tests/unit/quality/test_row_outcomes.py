from datetime import UTC, datetime

import pyarrow as pa
import pytest

from gluepot.evaluation.row_outcomes import RowOutcomes
from gluepot.frames.chunk import Chunk, ErrorRecord
from gluepot.quality.checks import Setting
from gluepot.quality.dqdl.parser import parse
from gluepot.quality.measures import OWN
from gluepot.quality.numbers import Moment
from gluepot.quality.row_tests import RowTests

NOW = Moment(datetime(2024, 1, 31, 12, tzinfo=UTC).timestamp())
MASK, FLAG = f"{OWN}where_0", f"{OWN}flag_0"
ADDED = ["DataQualityRulesPass", "DataQualityRulesFail", "DataQualityRulesSkip", "DataQualityEvaluationResult"]

DATA = pa.record_batch(
    {
        "id": pa.array([1, 2, 3]),
        "n": pa.array([1.0, float("nan"), None]),
        "s": pa.array(["ab", "", None]),
        "t": pa.array(
            [datetime(2024, 1, 31, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "UTC")
        ),
        MASK: pa.array([True, False, None]),
        FLAG: pa.array([True, False, None]),
    }
)


def outcomes(rules, batch=DATA, flagged=(), **options):
    """Return the batch with the columns; the only `where` is in the column MASK, results of `flagged` rules in FLAG."""
    ruleset = parse(f"Rules = [ {rules} ]")
    setting = Setting(NOW, {one.where: MASK for one in ruleset.all_rules() if one.where})
    flags = {one: FLAG for one in ruleset.all_rules() if one.type_name in flagged}
    return RowOutcomes(ruleset.rules, RowTests(setting, flags), **options)(Chunk(batch)).batch


def letters(rule, **options):
    """Return for each row whether the rule is in its list of passed, failed or skipped rules, as P, F or S."""
    batch = outcomes(rule, **options)
    rows = zip(*(batch.column(name).to_pylist() for name in ADDED), strict=True)
    found = []
    for *lists, result in rows:
        ((where, text),) = [(at, text) for at, texts in enumerate(lists) for text in texts]
        assert text == str(parse(f"Rules = [ {rule} ]").rules[0])
        assert result == ("Failed" if where == 1 else "Passed")
        found.append("PFS"[where])
    return "".join(found)


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ('IsComplete "n"', "PPF"),
        ('Completeness "s" > 0.1', "PPF"),
        ('ColumnValues "id" between 1 and 3', "FPF"),
        ('ColumnValues "n" > 0', "PPF"),
        ('ColumnValues "n" != 1', "FPP"),
        ('ColumnValues "n" != NULL', "PPF"),
        ('ColumnValues "n" > 0 with threshold > 0.5', "PPF"),
        ('ColumnValues "s" in ["ab",NULL]', "PFP"),
        ('ColumnValues "s" matches "^a"', "PFF"),
        ('ColumnValues "t" > "2024-01-01"', "PFF"),
        ('ColumnLength "s" = 0', "FPP"),
        ('DataFreshness "t" <= 1 days', "PFF"),
        ('(IsComplete "n") and (IsComplete "s")', "PPF"),
        ('(ColumnValues "id" > 1) or (ColumnLength "s" > 0)', "PPP"),
        ('(ColumnValues "id" < 2) or ((ColumnValues "n" > 5) and (IsComplete "s"))', "PPF"),
    ],
)
def test_a_rule_that_judges_rows_is_passed_or_failed_by_each(rule, rows):
    assert letters(rule) == rows


@pytest.mark.parametrize(
    "rule",
    [
        *("RowCount > 0", "ColumnCount > 0", 'Mean "n" > 0', 'ColumnExists "id"', 'ColumnDataType "s" = "DATE"'),
        *('DistinctValuesCount "id" > 1', 'IsUnique "missing"', '(IsComplete "n") and (RowCount > 1)'),
        *(
            'ColumnValues "s" > 5',
            'ColumnLength "id" > 5',
            'DataFreshness "id" > 5 days',
            'ColumnValues "s" matches "a("',
        ),
    ],
)
def test_a_rule_without_a_result_for_rows_or_that_cannot_be_judged_is_skipped(rule):
    assert letters(rule) == "SSS"


@pytest.mark.parametrize(
    "rule", ['IsUnique "id"', 'Uniqueness "id" > 0.5', 'IsPrimaryKey "id"', 'CustomSql "SELECT id FROM primary"']
)
def test_a_rule_that_other_rows_decide_has_its_result_in_a_column(rule):
    assert letters(rule, flagged={rule.split()[0]}) == "PFF"


def test_rows_that_a_where_leaves_out_pass_or_are_skipped():
    for rule in ('ColumnValues "id" > 1 where "x"', 'IsUnique "id" where "x"'):
        failing = "F" if "Values" in rule else "P"
        assert letters(rule, flagged={"IsUnique"}) == f"{failing}PP"
        assert letters(rule, flagged={"IsUnique"}, skip_filtered=True) == f"{failing}SS"


def test_a_row_of_a_composite_is_filtered_only_if_the_other_parts_do_not_decide():
    rule = '(ColumnValues "id" > 9 where "x") or (ColumnValues "id" = 3)'
    assert letters(rule) == "FPP"
    assert letters(rule, skip_filtered=True) == "FSP"


def test_the_lists_have_all_rules_in_their_order():
    batch = outcomes('RowCount > 0, IsComplete "n", ColumnCount > 0, ColumnValues "id" < 2, IsComplete "id"')
    assert batch.select(ADDED).to_pylist() == [
        dict(zip(ADDED, row, strict=True))
        for row in (
            (
                ['IsComplete "n"', 'ColumnValues "id" < 2', 'IsComplete "id"'],
                [],
                ["RowCount > 0", "ColumnCount > 0"],
                "Passed",
            ),
            (
                ['IsComplete "n"', 'IsComplete "id"'],
                ['ColumnValues "id" < 2'],
                ["RowCount > 0", "ColumnCount > 0"],
                "Failed",
            ),
            (
                ['IsComplete "id"'],
                ['IsComplete "n"', 'ColumnValues "id" < 2'],
                ["RowCount > 0", "ColumnCount > 0"],
                "Failed",
            ),
        )
    ]


def test_labels_are_shown_on_request():
    rules = 'IsComplete "id" labels=["team"="a","tier"="1"], IsComplete "id"'
    plain, labelled = (outcomes(rules, with_labels=flag).column(ADDED[0])[0].as_py() for flag in (False, True))
    assert plain == ['IsComplete "id"'] * 2
    assert labelled == ['IsComplete "id" labels=["team"="a","tier"="1"]', 'IsComplete "id"']


def test_columns_of_the_evaluation_go_and_those_of_an_earlier_check_are_replaced():
    once = outcomes('IsComplete "n"')
    assert once.schema.names == ["id", "n", "s", "t", *ADDED]
    again = outcomes('IsComplete "s"', once)
    assert again.schema.names == once.schema.names
    assert again.column(ADDED[0]).to_pylist() == [['IsComplete "s"'], ['IsComplete "s"'], []]


@pytest.mark.parametrize("batch", [DATA.slice(0, 0), pa.record_batch({"other": pa.array([], pa.string())})])
def test_no_rows_give_columns_of_the_same_types(batch):
    found = outcomes('IsComplete "n", RowCount > 1', batch)
    assert found.num_rows == 0
    assert found.schema.types[-4:] == outcomes('IsComplete "n", RowCount > 1').schema.types[-4:]
    assert found.schema.types[-4:] == [*[pa.list_(pa.string())] * 3, pa.string()]


def test_a_column_that_a_chunk_lacks_is_null_in_its_rows():
    assert letters('IsComplete "n"', batch=pa.record_batch({"id": pa.array([1, 2])})) == "FF"


def test_a_ruleset_of_analyzers_fails_no_row():
    ruleset = parse("Analyzers = [ RowCount ]")
    batch = RowOutcomes(ruleset.rules, RowTests(Setting(NOW)))(Chunk(DATA)).batch
    assert batch.select(ADDED).to_pylist() == [dict(zip(ADDED, ([], [], [], "Passed"), strict=True))] * 3


def test_errors_of_the_chunk_stay():
    error = ErrorRecord(b"{", "malformed_json", "The record is no JSON.")
    rules = parse('Rules = [ IsComplete "n" ]').rules
    assert RowOutcomes(rules, RowTests(Setting(NOW)))(Chunk(DATA, [error])).errors == [error]
