"""Results of evaluations of data quality, by runs of the API and by jobs (docs/glue 12.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.evaluation.history.shapes import result_description, result_shape
from gluepot.evaluation.history.store import WantedResults
from gluepot.quality.results import CatalogTable
from gluepot.service.context import Service
from gluepot.service.decisions.quality_runs import place_of
from gluepot.service.errors import not_found
from gluepot.service.paging import number_of, page_token, size_of
from gluepot.service.quality_store import results_of

_PAGE = 100


def get_data_quality_result(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one result."""
    found = results_of(service).with_ids([request["ResultId"]])
    if not found:
        raise not_found(f"Data quality result {request['ResultId']} not found.")
    return result_shape(found[0])


def batch_get_data_quality_result(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return several results in the order of their ids, and which ids there are not."""
    ids = request["ResultIds"]
    found = {one.id: one for one in results_of(service).with_ids(ids)}
    answer: dict[str, Any] = {"Results": [result_shape(found[one]) for one in ids if one in found]}
    if missing := [one for one in ids if one not in found]:
        answer["ResultsNotFound"] = missing
    return answer


def list_data_quality_results(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of results, the newest first."""
    wanted = request.get("Filter") or {}
    if wanted.get("EvaluationRunMode") == "EVALUATION_CONFIG" or wanted.get("DataQualityEvaluationConfig"):
        return {"Results": []}  # no other part of the API makes such results
    most, skip = size_of(request, _PAGE), number_of(request.get("NextToken")) or 0
    found = results_of(service).latest(_wanted(wanted), most + 1, skip)
    answer: dict[str, Any] = {"Results": [result_description(one) for one in found[:most]]}
    if len(found) > most:
        answer["NextToken"] = page_token(str(skip + most))
    return answer


def _wanted(given: Mapping[str, Any]) -> WantedResults:
    table = None
    if given.get("DataSource"):
        place = place_of(given["DataSource"])
        table = CatalogTable(place.database, place.table)
    after, before = given.get("StartedAfter"), given.get("StartedBefore")
    return WantedResults(
        job=given.get("JobName"),
        run_id=given.get("JobRunId"),
        table=table,
        started_after_ms=None if after is None else round(after * 1000),
        started_before_ms=None if before is None else round(before * 1000),
    )
