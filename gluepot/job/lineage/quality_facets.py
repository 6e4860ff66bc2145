"""Results of data quality checks as OpenLineage's facets of input datasets. Pure.

OpenLineage defines both facets for inputs: the rows that a check judges are those that the job has read. The
assertions are in `DataQualityAssertionsDatasetFacet`, the figures in `DataQualityMetricsInputDatasetFacet`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from openlineage.client.facet_v2 import (
    InputDatasetFacet,
    data_quality_assertions_dataset,
    data_quality_metrics_input_dataset,
)

from gluepot.core.datasets import Dataset
from gluepot.quality.dqdl.rule_types import TYPES
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Checked, Result

Assertion: TypeAlias = data_quality_assertions_dataset.Assertion
ColumnMetrics: TypeAlias = data_quality_metrics_input_dataset.ColumnMetrics

COMPOSITE = "Composite"
_ALONE = re.compile(r'(?P<type>\w+)(?: "(?P<column>(?:[^"\\]|\\.)*)")?(?P<more> ")?')
# Rule types whose only parameter is no column.
_OTHER_PARAMETERS = frozenset(
    {"CustomSql", "ColumnNamesMatchPattern", "RowCountMatch", "SchemaMatch", "DetectAnomalies"}
)
_COLUMN = "Column."
_FILTERED = " where "


def quality_facets(
    dataset: Dataset, inputs: Sequence[Dataset], checks: Sequence[Checked]
) -> dict[str, InputDatasetFacet]:
    """Return the facets of one input of an event; empty if no check judged its rows.

    Args:
        dataset: the input.
        inputs: all inputs of the event. Rows whose origin is not known belong to the only one.
        checks: what was found since the last event.
    """
    results = [one.result for one in checks if _is_of(one, dataset, inputs)]
    if not results:
        return {}
    assertions = [assertion(one, result) for result in results for one in result.outcomes]
    facets: dict[str, InputDatasetFacet] = {}
    if assertions:
        facets["dataQualityAssertions"] = data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(assertions)
    if (metrics := _metrics(results)) is not None:
        facets["dataQualityMetrics"] = metrics
    return facets


def assertion(one: RuleOutcome, result: Result) -> Assertion:
    """Return the outcome of a rule as an assertion.

    Args:
        one: the outcome.
        result: the result that it belongs to.
    """
    kind, column = kind_and_column(one.rule)
    params = {"evaluationContext": result.source.context}
    if one.reason:
        params["failureReason"] = one.reason
    return Assertion(
        assertion=kind,
        success=one.passed,
        column=column,
        name=one.rule,
        actual=str(next(iter(one.metrics.values()))) if len(one.metrics) == 1 else None,
        content=one.evaluated or one.rule,
        contentType="dqdl",
        params=params,
    )


def kind_and_column(rule: str) -> tuple[str, str | None]:
    """Return the type of a rule and the one column that it is about; None for several columns or the whole dataset.

    Args:
        rule: its text as results show it.
    """
    found = _ALONE.match(rule)
    if found is None or found["type"] not in TYPES:
        return COMPOSITE, None
    kind = found["type"]
    is_column = TYPES[kind].least == 1 and kind not in _OTHER_PARAMETERS and not found["more"]
    column = found["column"] if is_column else None
    return kind, None if column is None else re.sub(r"\\(.)", r"\1", column)


def _is_of(checked: Checked, dataset: Dataset, inputs: Sequence[Dataset]) -> bool:
    if not checked.origins:
        return len(set(inputs)) == 1
    return any(_lies_in(origin, dataset) for origin in checked.origins)


def _lies_in(origin: Dataset, dataset: Dataset) -> bool:
    if not origin.namespace:  # a stream, whose address only its connector knows
        return origin.name == dataset.name
    folder = dataset.name.rstrip("/")
    same = origin.name.rstrip("/") == folder or origin.name.startswith(f"{folder}/")
    return same and origin.namespace == dataset.namespace


def _metrics(
    results: Sequence[Result],
) -> data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet | None:
    """Return the figures of the check that saw most rows; checks of as many rows add their columns."""
    most = max((one.rows for one in results if one.rows is not None), default=None)
    if most is None:
        return None
    columns: dict[str, ColumnMetrics] = {}
    for result in results:
        if result.rows == most:
            for name, value in result.metrics.items():
                _add_metric(columns, name, value, most)
    facet = data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet
    return facet(columnMetrics=columns, rowCount=most)


def _add_metric(columns: dict[str, ColumnMetrics], name: str, value: float, rows: int) -> None:
    """Add a metric by its name in the history, if it is one that the facet has and is about all rows."""
    if not name.startswith(_COLUMN) or _FILTERED in name:
        return
    column, _, metric = name.removeprefix(_COLUMN).rpartition(".")
    match metric:
        case "Completeness":
            filled = round(value * rows)
            found = columns.setdefault(column, ColumnMetrics())
            found.nullCount, found.count = rows - filled, filled
        case "DistinctValuesCount":
            columns.setdefault(column, ColumnMetrics()).distinctCount = round(value)
        case "Sum":
            columns.setdefault(column, ColumnMetrics()).sum = value
        case "Minimum":
            columns.setdefault(column, ColumnMetrics()).min = value
        case "Maximum":
            columns.setdefault(column, ColumnMetrics()).max = value
