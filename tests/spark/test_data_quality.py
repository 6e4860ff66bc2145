"""EvaluateDataQuality where it needs Spark: predicates, SQL, other data sets, rows that other rows decide, lazy checks."""

from __future__ import annotations

import json

import pytest

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsgluedq.transforms import EvaluateDataQuality
from gluepot.bookmarks.run_writer import WRITERS, RunWriter
from gluepot.cli.quality.data import open_frame
from gluepot.core.datasets import folder_dataset
from gluepot.core.errors import ConfigError
from gluepot.engine.writer import Writing
from gluepot.evaluation.examiner import InvalidWhereError
from gluepot.evaluation.history.store import shared_history
from gluepot.quality import measures
from gluepot.quality.dqdl import DqdlError
from gluepot.quality.results import Checked
from gluepot.streaming.query import session

ORDERS = [(1, "ann", 10.0), (2, "bob", -5.0), (3, None, 7.5), (3, "eve", None)]
OBSERVING = {"observations.scope": "ALL"}
QUIET = {"enableDataQualityResultsPublishing": False}


@pytest.fixture
def frame(glue_context: GlueContext, monkeypatch, tmp_path) -> DynamicFrame:
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    return made(glue_context, ORDERS, "id int, customer string, amount double")


def made(glue_context: GlueContext, rows, schema: str) -> DynamicFrame:
    return DynamicFrame.fromDF(glue_context.spark_session.createDataFrame(rows, schema), glue_context, "made")


def processed(frame: DynamicFrame, *rules: str, sources=None, **options: str):
    ruleset = f"Rules = [ {', '.join(rules)} ]"
    return EvaluateDataQuality().process_rows(
        frame=frame, ruleset=ruleset, publishing_options=QUIET, additional_options=options,
        additional_data_sources=sources or {},
    )  # fmt: skip


def outcomes(frame: DynamicFrame, *rules: str, sources=None, **options: str):
    return processed(frame, *rules, sources=sources, **options)["ruleOutcomes"].toDF().collect()


def outcome(frame: DynamicFrame, rule: str, sources=None, **options: str):
    (one,) = outcomes(frame, rule, sources=sources, **options)
    return one.Outcome, one.FailureReason, one.EvaluatedMetrics


@pytest.mark.parametrize(
    ("rule", "metrics"),
    [
        ('CustomSql "select count(*) from primary" = 4', {"Dataset.*.CustomSQL": 4}),
        ('CustomSql "select max(p.amount) from primary p join names n on p.customer = n.name" = 10', {"Dataset.*.CustomSQL": 10}),
        ('CustomSql "select id from primary where amount > 0" with threshold > 0.2', {"Dataset.*.CustomSQL.Compliance": 1.0 * 3 / 4}),
        ('RowCountMatch "names" = 2.0', {"Dataset.names.RowCountMatch": 2}),
        ('ReferentialIntegrity "customer" "names.name" = 0.5', {"Column.names.ReferentialIntegrity": 0.5}),
        ('ReferentialIntegrity "id,customer" "names.{number,name}" = 0.25', {"Column.names.ReferentialIntegrity": 0.25}),
        ('SchemaMatch "same" = 1.0', {"Dataset.same.SchemaMatch": 1}),
        ('DatasetMatch "same" "id" "amount" = 0.5', None),
        ('AggregateMatch "sum(amount)" "avg(same.amount)" > 1', {"Column.amount,same.amount.AggregateMatch": 12.5 / (32.5 / 3)}),
        ('RowCount = 2 where "amount > 0"', {"Dataset.*.RowCount": 2}),
        ('IsComplete "customer" where "amount > 8"', {"Column.customer.Completeness": 1}),
        ('IsUnique "id" where "customer is not null"', {"Column.id.Uniqueness": 1}),
    ],
)  # fmt: skip
def test_rules_that_spark_evaluates(glue_context, frame, rule, metrics):
    names = made(glue_context, [(1, "ann"), (7, "bob")], "number int, name string")
    same = made(
        glue_context, [(1, "ann", 10.0), (2, "bob", 15.0), (3, "eve", 7.5)], "id int, customer string, amount double"
    )
    result, reason, found = outcome(frame, rule, {"names": names, "same": same})
    if metrics is None:
        assert (result, reason) == ("Failed", "Provided key map not suitable for given data frames")
    else:
        assert (result, reason) == ("Passed", None)
        assert found == pytest.approx(metrics)


def test_rows_that_are_equal_in_both_data_sets(glue_context):
    schema = "id int, amount double"
    mine = made(glue_context, [(1, 1.0), (2, 2.0), (3, None), (4, 4.0)], schema)
    theirs = made(glue_context, [(1, 1.0), (2, 9.0), (3, None)], schema)
    passed = processed(mine, 'DatasetMatch "theirs" "id" >= 0.5', sources={"theirs": theirs})
    (one,) = passed["ruleOutcomes"].toDF().collect()
    assert (one.Outcome, one.EvaluatedMetrics) == ("Passed", {"Dataset.theirs.DatasetMatch": 0.5})
    rows = passed["rowLevelOutcomes"].toDF().orderBy("id").collect()
    assert [row.DataQualityEvaluationResult for row in rows] == ["Passed", "Failed", "Passed", "Failed"]


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ('RowCountMatch "gone" > 1', "The data set gone is not given in additional_data_sources; given are: other."),
        ('SchemaMatch "other" > 0.5', "Column counts do not match"),
        ('ReferentialIntegrity "nothing" "other.name" > 0', "Input data does not include column nothing!"),
        ('ReferentialIntegrity "id" "other" > 0', '"other" names no columns; write "alias.column" or "alias.{a,b}".'),
        ('AggregateMatch "max(id)" "sum(id)" = 1', '"max(id)" is no aggregate; write "sum(column)" or "avg(alias.column)".'),
        ('CustomSql "select id from primary" = 1', "The query of a CustomSql rule with a condition must return one number."),
        ('CustomSql "select customer from primary limit 1" = 1', "The query of a CustomSql rule returned 'ann', which is no number."),
        ('CustomSql "select 1 as one"', "The output from CustomSQL must contain at least one column that matches"),
        ('CustomSql "select * from nowhere" = 1', "[TABLE_OR_VIEW_NOT_FOUND]"),
        ("FileSize > 1 B", "Unable to parse file path from DataFrame"),
    ],
)  # fmt: skip
def test_what_cannot_be_evaluated_fails_and_says_why(glue_context, frame, rule, reason):
    other = made(glue_context, [("ann",)], "name string")
    result, found, _ = outcome(frame, rule, {"other": other})
    assert result == "Failed"
    assert found.startswith(reason)


def test_a_wrong_where_is_an_error_that_names_the_rule(frame):
    with pytest.raises(InvalidWhereError) as error:  # although nobody has asked for an outcome yet
        processed(frame, "RowCount > 1", '\nIsComplete "id" where "amount > 1 and nothing > 1"')
    assert str(error.value) == (
        'Line 2: rule IsComplete "id" where "amount > 1 and nothing > 1" has provided an invalid where clause at'
        " character 16: A column, variable, or function parameter with name `nothing` cannot be resolved; did you mean"
        " one of `id`, `amount`, `customer`?"
    )


@pytest.mark.parametrize(("ruleset", "error"), [("Rules = [ IsComplet ]", DqdlError), ("", DqdlError)])
def test_a_wrong_ruleset_is_an_error_of_the_call(frame, ruleset, error):
    with pytest.raises(error):
        EvaluateDataQuality.apply(frame, ruleset)


def test_an_unknown_method_of_composites_is_an_error(frame):
    with pytest.raises(ConfigError, match=r"compositeRuleEvaluation\.method is CELL; use one of COLUMN, ROW"):
        outcome(frame, "RowCount > 1", **{"compositeRuleEvaluation.method": "cell"})


def test_composites_by_column_and_by_row(frame):
    rule = '(ColumnValues "amount" > 0) or (ColumnValues "id" != 2)'
    assert outcome(frame, rule)[0] == "Failed"
    by_row = {"compositeRuleEvaluation.method": "ROW"}
    assert outcome(frame, rule, **by_row)[:2] == ("Failed", "Value: 0.75 does not meet the constraint requirement!")
    assert outcome(frame, '(IsUnique "id") or (ColumnValues "id" = 3)', **by_row)[0] == "Passed"
    refused = outcome(frame, '(Uniqueness "id" > 0.1) and (IsComplete "id")', **by_row)
    assert refused[0] == "Failed"
    assert "use compositeRuleEvaluation.method COLUMN" in refused[1]


def test_rows_pass_fail_and_skip_rules(frame):
    rules = ('IsUnique "id"', 'ColumnValues "amount" > 0 where "customer <> \'bob\'"', "RowCount > 1")
    labelled = f'{rules[0]} labels=["team"="a"]'
    found = processed(
        frame, labelled, *rules[1:],
        **{"rowLevelConfiguration.filteredRowLabel": "SKIPPED", "rowLevelConfiguration.ruleWithLabels": "ENABLED"},
    )["rowLevelOutcomes"].toDF().collect()  # fmt: skip
    by_row = {(row.id, row.customer): row for row in found}
    assert by_row[1, "ann"].DataQualityRulesPass == [labelled, rules[1]]
    assert by_row[2, "bob"].DataQualityRulesSkip == [rules[1], rules[2]]  # the predicate leaves the row out
    assert by_row[3, None].DataQualityRulesSkip == [rules[1], rules[2]]  # NULL <> 'bob' is not true
    assert by_row[3, "eve"].DataQualityRulesFail == [labelled, rules[1]]
    assert [by_row[key].DataQualityEvaluationResult for key in by_row] == ["Passed", "Passed", "Failed", "Failed"]
    assert not [name for name in found[0].asDict() if name.startswith("__")]


def test_rows_and_rules_are_counted_where_that_is_asked_for(frame):
    found = processed(
        frame, 'IsComplete "customer"', 'ColumnValues "amount" > 0', "RowCount = 4",
        **{"publishAggregatedMetrics.status": "ENABLED"},
    )  # fmt: skip
    (metrics,) = found["aggregatedMetrics"].toDF().collect()
    assert metrics.asDict() == {
        "TotalRowsProcessed": 4, "PassedRows": 1, "FailedRows": 3,
        "TotalRulesProcessed": 3, "RulesPassed": 1, "RulesFailed": 2,
    }  # fmt: skip
    rows = {row.Rule: row for row in found["ruleOutcomes"].toDF().collect()}
    counted = rows['IsComplete "customer"']
    assert (counted.PassedCount, counted.FailedCount, counted.SkippedCount, counted.TotalCount) == (3, 1, 0, 4)
    assert rows["RowCount = 4"].SkippedCount == 4
    result = WRITERS.checks()[-1].result
    assert (result.rows, result.failed, result.summary.failed_rows) == (4, 2, 3)
    assert result.summary.passed['IsComplete "customer"'] == 3


def test_a_check_whose_outcomes_nobody_asks_for_is_published_once_at_the_end(frame, monkeypatch):
    monkeypatch.setattr(WRITERS, "_plain", writer := RunWriter(Writing("alone", 0)))
    told: list[Checked] = []
    monkeypatch.setattr(session.current(), "check_watchers", [told.append])
    processed(frame, 'IsComplete "customer"', **{"publishAggregatedMetrics.status": "ENABLED"})
    processed(frame, 'IsComplete "id"')
    assert not writer.totals.checks
    writer.finish()
    with_rows, without = (one.result for one in writer.totals.checks.values())
    assert (with_rows.summary.failed_rows, without.summary) == (1, None)
    assert [one.result for one in told] == [with_rows, without]


def test_more_values_than_a_process_can_hold_are_counted_by_spark(glue_context, monkeypatch):
    monkeypatch.setattr(measures, "MOST_GROUPS", 10)
    monkeypatch.setattr(measures, "_COMPACT_AT", 5)
    rows = [(n % 60, None if n % 7 == 0 else f"v{n % 40}", f"id{n - n // 150}") for n in range(200)]
    frame = made(glue_context, rows, "a int, b string, c string")
    rules = ('Uniqueness "c" < 1', 'Entropy "c" > 0', 'DistinctValuesCount "c" = 199', 'IsPrimaryKey "a" "c"',
             'Uniqueness "a" >= 0', 'DistinctValuesCount "b" > 0', 'Entropy "b" > 0', 'UniqueValueRatio "a" < 1')  # fmt: skip
    by_spark = [one.EvaluatedMetrics for one in outcomes(frame, *rules)]
    monkeypatch.undo()
    assert by_spark == [pytest.approx(one.EvaluatedMetrics) for one in outcomes(frame, *rules)]


def test_views_of_the_script_keep_their_names(glue_context, frame):
    glue_context.spark_session.range(3).createOrReplaceTempView("primary")
    outcome(frame, 'CustomSql "select count(*) from primary" = 4')
    assert glue_context.spark_session.table("primary").count() == 3
    glue_context.spark_session.catalog.dropTempView("primary")


def test_files_of_the_frame_are_judged(glue_context, tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.json").write_text(json.dumps({"n": number}) + "\n" * (1 + number // 2))
    read = glue_context.create_dynamic_frame.from_options("s3", {"paths": [str(tmp_path)]}, "json")
    result, _, metrics = outcome(read, "FileUniqueness > 0.9")
    assert (result, metrics) == ("Passed", {"Dataset.*.FileUniquenessRatio": 1, "Dataset.*.FileCount": 3})
    assert outcome(read, 'FileSize < 1 KB with uriRegex = "2.json$"')[2]["Dataset.*.FileCount"] == 1
    assert outcome(read, f'FileFreshness "{tmp_path}" > (now() - 1 days)')[0] == "Passed"


def test_the_command_line_opens_a_single_file(glue_context, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("id,name\n1,ann\n2,bob\n")
    assert open_frame(glue_context, str(path), None).count() == 2


def test_a_check_before_a_write_takes_no_pass_of_its_own(glue_context, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"n": 1}\n{"n": 2}\n')
    read = glue_context.create_dynamic_frame.from_options("s3", {"paths": [str(tmp_path / "in")]}, "json")
    checked = processed(read, 'IsComplete "n"', "RowCount = 2")
    glue_context.write_dynamic_frame.from_options(read, "s3", {"path": str(tmp_path / "out")}, "json")
    (tmp_path / "in" / "a.json").unlink()  # whoever reads the input again fails
    assert [one.Outcome for one in checked["ruleOutcomes"].toDF().collect()] == ["Passed", "Passed"]
    assert WRITERS.checks()[-1].origins == (folder_dataset(str(tmp_path / "in")),)


def kept(tmp_path):
    return shared_history(f"sqlite:///{tmp_path}/state/ledger.db").latest()


def check_of(frame: DynamicFrame, ruleset: str, context: str, **options: str) -> None:
    EvaluateDataQuality.apply(frame, ruleset, {"dataQualityEvaluationContext": context}, options).toDF().collect()


def test_bins_stay_and_what_is_not_as_before_is_observed(glue_context, frame, tmp_path):
    ruleset = 'Rules = [ RowCount > 0 ] Analyzers = [ Distribution "amount" with bins = 2, Distribution "customer" ]'
    for rows in (ORDERS, ORDERS, ORDERS, [*ORDERS, (9, "zoe", 1e6)] * 5):
        check_of(made(glue_context, rows, "id int, customer string, amount double"), ruleset, "calm", **OBSERVING)
    newest, *earlier = kept(tmp_path)
    assert [len(one.observations) for one in earlier] == [0, 0, 0]
    bins = newest.distributions["Column.amount.Distribution"]
    assert (bins.edges, bins.counts, bins.above) == ((-5.0, 2.5, 10.0), (5, 10), 5)
    assert newest.distributions["Column.customer.Distribution"].values == ("ann", "bob", "eve", "zoe")
    assert [one.metric for one in newest.observations] == ["Dataset.*.RowCount", "Column.amount.Distribution"]


def test_nothing_is_observed_unless_the_script_asks_for_it(glue_context, frame, tmp_path):
    for count in (1, 1, 1, 50):
        check_of(made(glue_context, [(1,)] * count, "id int"), "Rules = [ RowCount > 0 ]", "unobserved")
    assert not any(one.observations for one in kept(tmp_path))


def test_an_unknown_scope_of_observations_is_an_error(frame):
    with pytest.raises(ConfigError, match=r"observations\.scope is SOME; use one of ALL, NONE"):
        outcome(frame, "RowCount > 1", **{"observations.scope": "some"})


def test_the_most_frequent_of_very_many_values_are_counted_by_spark(glue_context, frame, monkeypatch, tmp_path):
    rows = [(f"v{n % 60}", "x" if n % 2 else "y") for n in range(200)] + [("v7", "x")] * 9
    many = made(glue_context, rows, "b string, c string")
    ruleset = 'Rules = [ Uniqueness "b" >= 0 ] Analyzers = [ Distribution "AllColumns" ]'
    check_of(many, ruleset, "few")
    monkeypatch.setattr(measures, "MOST_GROUPS", 10)
    monkeypatch.setattr(measures, "_COMPACT_AT", 5)
    check_of(many, ruleset, "many")
    by_spark, by_process = kept(tmp_path)
    assert by_spark.distributions == by_process.distributions
    assert by_spark.distributions["Column.b.Distribution"].values[0] == "v7"
