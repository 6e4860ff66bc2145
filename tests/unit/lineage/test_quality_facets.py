"""Results of checks as OpenLineage's own classes check them and its serializer writes them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from openlineage.client.event_v2 import RunState
from openlineage.client.serde import Serde

from gluepot.core.datasets import Dataset
from gluepot.job.lineage.events import Names, Versions, event
from gluepot.job.lineage.quality_facets import COMPOSITE, kind_and_column
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Checked, Result, Source

TOPIC, OTHER = Dataset("kafka://broker:9092", "clicks"), Dataset("kafka://broker:9092", "orders")
FOLDER = Dataset("s3://lake", "orders")
COMPLETE = RuleOutcome('Completeness "id" > 0.9', True, "", {"Column.id.Completeness": 0.95}, 'Completeness "id" > 0.9')
COUNT = RuleOutcome("RowCount > last()", False, "Value: 20 is low", {"Dataset.*.RowCount": 20.0}, "RowCount > 99.0")
METRICS = {"Column.id.Completeness": 0.95, "Column.a.b.Sum": 7.5, "Column.a.b.Minimum": -1.0, "Column.a.b.Maximum": 4.0,
           "Column.id.DistinctValuesCount": 19.0, "Column.id.Sum where a > 1": 2.0, "Dataset.*.RowCount": 20.0,
           "Column.names.ReferentialIntegrity": 0.5}  # fmt: skip
RESULT = Result(Source("clicks", "node 1"), "q/0/node 1/1", "jr_1", 0, 5, [COMPLETE, COUNT], metrics=METRICS, rows=20)


def facets(checks: list[Checked], *inputs: Dataset) -> dict[str, dict]:
    """The facets of inputs, by name of the input."""
    made = event(
        RunState.RUNNING,
        Names("gluepot", "clicks", "jr_1", "q"),
        Versions("0.1.0", "4.1.0"),
        1_000.0,
        inputs,
        checks=checks,
    )
    return {one["name"]: one.get("inputFacets", {}) for one in json.loads(Serde.to_json(made))["inputs"]}


def test_each_rule_is_an_assertion_about_the_input():
    (found,) = facets([Checked(RESULT)], TOPIC).values()
    first, second = found["dataQualityAssertions"]["assertions"]
    assert first == {
        "assertion": "Completeness",
        "success": True,
        "column": "id",
        "name": 'Completeness "id" > 0.9',
        "actual": "0.95",
        "content": 'Completeness "id" > 0.9',
        "contentType": "dqdl",
        "params": {"evaluationContext": "node 1"},
    }
    assert (second["assertion"], second["success"], second["content"]) == ("RowCount", False, "RowCount > 99.0")
    assert second["params"]["failureReason"] == "Value: 20 is low"
    assert "column" not in second
    assert found["dataQualityAssertions"]["_schemaURL"].endswith("/DataQualityAssertionsDatasetFacet")


def test_figures_of_columns_are_metrics_of_the_input():
    (found,) = facets([Checked(RESULT)], TOPIC).values()
    metrics = found["dataQualityMetrics"]
    assert metrics["rowCount"] == 20
    columns = {
        name: {key: value for key, value in one.items() if key != "quantiles"}
        for name, one in metrics["columnMetrics"].items()
    }
    assert columns == {
        "id": {"nullCount": 1, "count": 19, "distinctCount": 19},
        "a.b": {"sum": 7.5, "min": -1.0, "max": 4.0},
    }
    assert metrics["_schemaURL"].endswith("/DataQualityMetricsInputDatasetFacet")


def test_an_event_without_a_check_has_no_facets():
    assert facets([], TOPIC) == {"clicks": {}}


def test_a_check_without_a_known_number_of_rows_has_assertions_only():
    assert facets([Checked(replace(RESULT, rows=None))], TOPIC)["clicks"].keys() == {"dataQualityAssertions"}


@pytest.mark.parametrize(
    ("origins", "inputs", "judged"),
    [
        ((Dataset("", "orders"),), [TOPIC, OTHER], ["orders"]),
        ((Dataset("", "clicks"), Dataset("", "orders")), [TOPIC, OTHER], ["clicks", "orders"]),
        ((), [TOPIC, OTHER], []),
        ((), [TOPIC], ["clicks"]),
        ((Dataset("s3://lake", "orders/year=2026"),), [FOLDER, TOPIC], ["orders"]),
        ((Dataset("s3://lake", "orders_old"),), [FOLDER], []),
        ((Dataset("s3://other", "orders"),), [FOLDER], []),
        ((Dataset("file", "/data/orders"),), [Dataset("file", "/data/orders/"), TOPIC], ["/data/orders/"]),
    ],
)
def test_facets_go_to_the_inputs_that_the_checked_rows_come_from(origins, inputs, judged):
    assert [name for name, found in facets([Checked(RESULT, origins)], *inputs).items() if found] == judged


def test_of_several_checks_all_rules_are_told_and_the_figures_of_those_with_most_rows():
    filtered = replace(RESULT, rows=5, metrics={"Column.x.Sum": 1.0})
    again = replace(RESULT, metrics={"Column.y.Sum": 2.0})
    (found,) = facets([Checked(one) for one in (filtered, RESULT, again)], TOPIC).values()
    assert len(found["dataQualityAssertions"]["assertions"]) == 6
    assert found["dataQualityMetrics"]["rowCount"] == 20
    assert found["dataQualityMetrics"]["columnMetrics"].keys() == {"id", "a.b", "y"}


@pytest.mark.parametrize(
    ("rule", "kind", "column"),
    [
        ('IsComplete "id"', "IsComplete", "id"),
        (r'ColumnValues "a \"b\" \\ c" > 0', "ColumnValues", r'a "b" \ c'),
        ('IsUnique "a" "b"', "IsUnique", None),
        ('ColumnCorrelation "a" "b" > 0.5', "ColumnCorrelation", None),
        ('IsComplete "id" where "a > 1"', "IsComplete", "id"),
        ("RowCount > 5", "RowCount", None),
        ('RowCount > 5 where "a > 1"', "RowCount", None),
        ('CustomSql "select 1" = 1', "CustomSql", None),
        ('ReferentialIntegrity "id" "others.id" = 1', "ReferentialIntegrity", None),
        ('SchemaMatch "other" = 1.0', "SchemaMatch", None),
        ('(IsComplete "a") and (IsComplete "b")', COMPOSITE, None),
    ],
)
def test_a_rule_names_its_type_and_its_column(rule, kind, column):
    assert kind_and_column(rule) == (kind, column)
