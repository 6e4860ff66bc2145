"""Results and rulesets in the shapes of AWS Glue's API (docs/glue 12.6). Pure.

Times are seconds since 1970, as the API's JSON has them. Members without a value are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.evaluation.history.rulesets import StoredRuleset
from gluepot.quality.outcomes import AnalyzerOutcome, RuleOutcome
from gluepot.quality.results import CatalogTable, Result, RowSummary

# The API's bounds of texts and lists.
LONGEST_TEXT = 2048
LONGEST_NAME = 255
MOST_RESULTS = 2000


def result_shape(result: Result) -> dict[str, Any]:
    """Return a `DataQualityResult`, which is also what GetDataQualityResult answers."""
    rules = enumerate(result.outcomes[:MOST_RESULTS], 1)
    analyzers = enumerate(result.analyzers[:MOST_RESULTS], 1)
    return _filled(
        {
            "ResultId": result.id,
            "Score": result.score,
            "DataSource": _data_source(result.table),
            "RulesetName": _name(result.ruleset or result.source.context),
            "EvaluationContext": None if result.table else result.source.context,
            "StartedOn": result.started_ms / 1000,
            "CompletedOn": result.completed_ms / 1000,
            "JobName": None if result.table else _name(result.source.job),
            "JobRunId": result.run_id,
            "RulesetEvaluationRunId": result.ruleset_run_id,
            "RuleResults": [_rule_result(number, one, result.summary) for number, one in rules],
            "AnalyzerResults": [_analyzer_result(number, one) for number, one in analyzers] or None,
            "Observations": [one.plain() for one in result.observations] or None,
            "AggregatedMetrics": _aggregated(result),
        }
    )


def result_description(result: Result) -> dict[str, Any]:
    """Return a `DataQualityResultDescription`, an entry of ListDataQualityResults."""
    whole = result_shape(result)
    names = ("ResultId", "DataSource", "JobName", "JobRunId", "StartedOn")
    return {name: whole[name] for name in names if name in whole}


def ruleset_shape(ruleset: StoredRuleset) -> dict[str, Any]:
    """Return what GetDataQualityRuleset answers."""
    listed = ruleset_entry(ruleset)
    del listed["RuleCount"]
    return listed | _filled(
        {"Ruleset": ruleset.text, "DataQualitySecurityConfiguration": ruleset.security_configuration}
    )


def ruleset_entry(ruleset: StoredRuleset) -> dict[str, Any]:
    """Return a `DataQualityRulesetListDetails`, an entry of ListDataQualityRulesets."""
    return _filled(
        {
            "Name": ruleset.name,
            "Description": ruleset.description,
            "CreatedOn": ruleset.created_ms / 1000,
            "LastModifiedOn": ruleset.modified_ms / 1000,
            "TargetTable": _table(ruleset.table),
            "RecommendationRunId": ruleset.recommendation_run_id,
            "RuleCount": ruleset.rules,
        }
    )


def _rule_result(number: int, one: RuleOutcome, summary: RowSummary | None) -> dict[str, Any]:
    return _filled(
        {
            "Name": f"Rule_{number}",
            "Description": _text(one.rule),
            "EvaluationMessage": _text(one.reason),
            "Result": "PASS" if one.passed else "FAIL",
            "EvaluatedMetrics": _metrics(one.metrics),
            "EvaluatedRule": _text(one.evaluated),
            "RuleMetrics": None if summary is None else rows_of_rule(one.rule, summary),
            "Labels": dict(one.labels) or None,
        }
    )


def rows_of_rule(rule: str, summary: RowSummary) -> dict[str, float]:
    """Return how many rows pass, fail and skip a rule, under the names that frames of outcomes have as well."""
    passed, failed = summary.passed[rule], summary.failed[rule]
    return {
        "PassedCount": float(passed),
        "FailedCount": float(failed),
        "SkippedCount": float(summary.rows - passed - failed),
        "TotalCount": float(summary.rows),
    }


def _analyzer_result(number: int, one: AnalyzerOutcome) -> dict[str, Any]:
    return _filled(
        {
            "Name": f"Analyzer_{number}",
            "Description": _text(one.analyzer),
            "EvaluationMessage": _text(one.reason),
            "EvaluatedMetrics": _metrics(one.metrics),
        }
    )


def _aggregated(result: Result) -> dict[str, float]:
    rules = {
        "TotalRulesProcessed": float(len(result.outcomes)),
        "TotalRulesPassed": float(result.passed),
        "TotalRulesFailed": float(result.failed),
    }
    if result.summary is None:
        return rules
    rows, failed = result.summary.rows, result.summary.failed_rows
    return rules | {
        "TotalRowsProcessed": float(rows),
        "TotalRowsPassed": float(rows - failed),
        "TotalRowsFailed": float(failed),
    }


def _data_source(table: CatalogTable | None) -> dict[str, Any] | None:
    return None if table is None else {"GlueTable": _table(table)}


def _table(table: CatalogTable | None) -> dict[str, Any] | None:
    if table is None:
        return None
    return _filled({"TableName": table.name, "DatabaseName": table.database, "CatalogId": table.catalog_id})


def _metrics(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if len(name) <= LONGEST_NAME}


def _text(whole: str) -> str:
    return whole[:LONGEST_TEXT]


def _name(whole: str) -> str:
    return whole[:LONGEST_NAME]


def _filled(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None and value != ""}
