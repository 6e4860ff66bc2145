"""Results and rulesets in the shapes of Glue's API, as botocore's model of that API describes them."""

from collections import Counter
from dataclasses import replace

import botocore.session
import pytest
from botocore.model import ListShape, MapShape, StructureShape
from botocore.validate import ParamValidator

from gluepot.evaluation.history.rulesets import StoredRuleset
from gluepot.evaluation.history.shapes import result_description, result_shape, ruleset_entry, ruleset_shape
from gluepot.quality.outcomes import AnalyzerOutcome, RuleOutcome
from gluepot.quality.results import CatalogTable, Result, RowSummary, Source

ORDERS = CatalogTable("sales", "orders")
COMPLETE = RuleOutcome('IsComplete "id"', True, "", {"Column.id.Completeness": 1.0}, 'IsComplete "id"', (("t", "a"),))
COUNT = RuleOutcome("RowCount > 9", False, "Value: 4 does not ...", {"Dataset.*.RowCount": 4.0}, "RowCount > 9")
OF_JOB = Result(
    Source("orders", "node 1"), "query/1/node 1/1", "jr_1", 1_500, 2_250, [COMPLETE, COUNT],
    [AnalyzerOutcome("RowCount", {"Dataset.*.RowCount": 4.0}), AnalyzerOutcome('Sum "x"', reason="There is no x.")],
    rows=4, summary=RowSummary(4, 1, Counter({COMPLETE.rule: 3}), Counter({COMPLETE.rule: 1})),
)  # fmt: skip
OF_TABLE = replace(OF_JOB, run_id="", ruleset="rules", ruleset_run_id="dqrun-1", table=ORDERS, summary=None)
RULESET = StoredRuleset("rules", "Rules = [ RowCount > 9 ]", "of orders", ORDERS, 1_500, 2_500, 1, "dqrun-2", "secure")


@pytest.fixture(scope="module")
def model():
    return botocore.session.get_session().get_service_model("glue")


def unknown_members(value, shape) -> list[str]:
    """The members that a shape does not have, at any depth."""
    match shape:
        case StructureShape():
            found = [f"{shape.name}.{name}" for name in value if name not in shape.members]
            known = [(value[name], shape.members[name]) for name in value if name in shape.members]
            return found + [one for pair in known for one in unknown_members(*pair)]
        case ListShape():
            return [one for item in value for one in unknown_members(item, shape.member)]
        case MapShape():
            return [one for item in value.values() for one in unknown_members(item, shape.value)]
    return []


def assert_fits(value, shape) -> None:
    assert unknown_members(value, shape) == []
    report = ParamValidator().validate(value, shape)
    assert not report.has_errors(), report.generate_report()


@pytest.mark.parametrize("result", [OF_JOB, OF_TABLE, replace(OF_JOB, outcomes=[], analyzers=[], summary=None)])
def test_results_fit_the_model(model, result):
    assert_fits(result_shape(result), model.operation_model("GetDataQualityResult").output_shape)
    assert_fits(result_shape(result), model.shape_for("DataQualityResult"))
    assert_fits(result_description(result), model.shape_for("DataQualityResultDescription"))


def test_long_texts_are_cut_to_what_the_api_allows(model):
    long = RuleOutcome("r" * 5_000, False, "w" * 5_000, {"m" * 300: 1.0, "short": 2.0}, "e" * 5_000)
    result = replace(OF_JOB, source=Source("j" * 300, "c" * 300), outcomes=[long] * 2_001)
    shape = result_shape(result)
    assert_fits(shape, model.shape_for("DataQualityResult"))
    assert len(shape["RuleResults"]) == 2_000
    assert shape["RuleResults"][0]["EvaluatedMetrics"] == {"short": 2.0}


def test_a_result_of_a_job_names_job_run_and_context():
    shape = result_shape(OF_JOB)
    assert {name: shape[name] for name in ("JobName", "JobRunId", "EvaluationContext", "RulesetName", "Score")} == {
        "JobName": "orders",
        "JobRunId": "jr_1",
        "EvaluationContext": "node 1",
        "RulesetName": "node 1",
        "Score": 0.5,
    }
    assert (shape["StartedOn"], shape["CompletedOn"]) == (1.5, 2.25)
    assert "DataSource" not in shape


def test_a_result_of_a_table_names_table_ruleset_and_run():
    shape = result_shape(OF_TABLE)
    assert shape["DataSource"] == {"GlueTable": {"DatabaseName": "sales", "TableName": "orders"}}
    assert (shape["RulesetName"], shape["RulesetEvaluationRunId"]) == ("rules", "dqrun-1")
    assert shape.keys().isdisjoint({"JobName", "JobRunId", "EvaluationContext"})


def test_rules_and_analyzers_are_numbered_in_order():
    shape = result_shape(OF_JOB)
    first, second = shape["RuleResults"]
    assert first == {
        "Name": "Rule_1",
        "Description": 'IsComplete "id"',
        "Result": "PASS",
        "EvaluatedMetrics": {"Column.id.Completeness": 1.0},
        "EvaluatedRule": 'IsComplete "id"',
        "RuleMetrics": {"PassedCount": 3.0, "FailedCount": 1.0, "SkippedCount": 0.0, "TotalCount": 4.0},
        "Labels": {"t": "a"},
    }
    assert (second["Name"], second["Result"], second["EvaluationMessage"]) == ("Rule_2", "FAIL", COUNT.reason)
    assert [one["Name"] for one in shape["AnalyzerResults"]] == ["Analyzer_1", "Analyzer_2"]
    assert shape["AnalyzerResults"][1]["EvaluationMessage"] == "There is no x."


def test_rows_are_counted_only_if_the_script_asked_for_that():
    rules = {"TotalRulesProcessed": 2.0, "TotalRulesPassed": 1.0, "TotalRulesFailed": 1.0}
    rows = {"TotalRowsProcessed": 4.0, "TotalRowsPassed": 3.0, "TotalRowsFailed": 1.0}
    assert result_shape(OF_JOB)["AggregatedMetrics"] == rules | rows
    assert result_shape(OF_TABLE)["AggregatedMetrics"] == rules


@pytest.mark.parametrize("ruleset", [RULESET, StoredRuleset("rules", "Rules = [ RowCount > 9 ]")])
def test_rulesets_fit_the_model(model, ruleset):
    assert_fits(ruleset_shape(ruleset), model.operation_model("GetDataQualityRuleset").output_shape)
    assert_fits(ruleset_entry(ruleset), model.shape_for("DataQualityRulesetListDetails"))


def test_a_ruleset_has_its_text_and_a_listing_its_number_of_rules():
    assert ruleset_shape(RULESET) == {
        "Name": "rules",
        "Description": "of orders",
        "Ruleset": "Rules = [ RowCount > 9 ]",
        "TargetTable": {"TableName": "orders", "DatabaseName": "sales"},
        "CreatedOn": 1.5,
        "LastModifiedOn": 2.5,
        "RecommendationRunId": "dqrun-2",
        "DataQualitySecurityConfiguration": "secure",
    }
    assert ruleset_entry(RULESET)["RuleCount"] == 1
