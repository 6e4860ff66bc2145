"""Runs of data quality, which evaluate rulesets on a table or recommend one: what is refused, and answers. Pure.

They are runs whose command is data quality, so they are started, found again, stopped and followed as runs of jobs are
(docs/glue 12.6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.service.decisions.definitions import QUALITY
from gluepot.service.decisions.metrics import Metric, Minute, Statistics, first_minute
from gluepot.service.decisions.states import EVALUATION, RECOMMENDATION, Run, State
from gluepot.service.errors import invalid

WORKERS, TIMEOUT_MINUTES = 5, 2880
NAMESPACE = "Glue Data Quality"
_PASSED, _FAILED = "glue.data.quality.rules.passed", "glue.data.quality.rules.failed"
_STATES = {
    State.WAITING: "STARTING",
    State.ERROR: "FAILED",
    State.EXPIRED: "FAILED",
}
_NOT_HERE = ("RowLevelResults", "ProfilingResults", "DataQualityRuleResults", "ObservationResults")


@dataclass(frozen=True, slots=True)
class Place:
    """A table of the Data Catalog that a run is about.

    Args:
        database: its database.
        table: its name.
    """

    database: str
    table: str


def place_of(source: Mapping[str, Any]) -> Place:
    """Return the table that a `DataSource` of the API names.

    Raises:
        ServiceError: `InvalidInputException`, because it names none, several, or asks for what cannot be done here.
    """
    if len(source) != 1:
        raise invalid("DataSource names no table, or two; give GlueTable with DatabaseName and TableName.")
    [given] = source.values()
    if given.get("PreProcessingQuery"):
        raise invalid("PreProcessingQuery cannot be used here; check a table that holds the result of the query.")
    return Place(given["DatabaseName"], given["TableName"])


def new_run(kind: str, run_id: str, request: Mapping[str, Any], rulesets: Mapping[str, str], now_ms: int) -> Run:
    """Return a run that starts.

    Args:
        kind: `EVALUATION` or `RECOMMENDATION`.
        run_id: its id.
        request: of the API, as the client gave it.
        rulesets: the texts of the rulesets of an evaluation, by name.
        now_ms: milliseconds since 1970.
    """
    given = _with_defaults(request)
    told: dict[str, Any] = {"id": run_id, "request": given}
    if kind == EVALUATION:
        told["rulesets"] = dict(rulesets)
    definition = {"Command": {"Name": QUALITY}, "Timeout": given["Timeout"], "Request": told}
    return Run(0, run_id, kind, State.STARTING, definition, started_ms=now_ms, modified_ms=now_ms)


def check_options(request: Mapping[str, Any]) -> None:
    """Refuse options of a run that would be without effect.

    Raises:
        ServiceError: `InvalidInputException`.
    """
    for name in _NOT_HERE:
        if request.get("AdditionalRunOptions", {}).get(name):
            raise invalid(f"AdditionalRunOptions.{name} cannot be used here; omit it.")


def request_of(run: Run) -> Mapping[str, Any]:
    """Return what a client asked for, with the defaults."""
    found: Mapping[str, Any] = run.definition["Request"]["request"]
    return found


def is_same(run: Run, request: Mapping[str, Any]) -> bool:
    """Return whether a run was started by the same request."""
    return _with_defaults(request) == request_of(run)


def _with_defaults(request: Mapping[str, Any]) -> dict[str, Any]:
    return {"NumberOfWorkers": WORKERS, "Timeout": TIMEOUT_MINUTES, **request}


def status_of(run: Run) -> str:
    """Return the status of a run as the API tells it."""
    return _STATES.get(run.state, run.state.value)


def answer_of(run: Run) -> dict[str, Any]:
    """Return a run as GetDataQualityRulesetEvaluationRun or GetDataQualityRuleRecommendationRun answers."""
    request = request_of(run)
    answer: dict[str, Any] = {
        "RunId": run.id,
        "Status": status_of(run),
        "StartedOn": run.started_ms / 1000,
        "LastModifiedOn": run.modified_ms / 1000,
        **{name: value for name, value in request.items() if name not in {"ClientToken", "CreatedRulesetName"}},
    }
    if run.completed_ms:
        answer["CompletedOn"] = run.completed_ms / 1000
        answer["ExecutionTime"] = (run.completed_ms - (run.running_ms or run.completed_ms)) // 1000
    if run.error:
        answer["ErrorString"] = run.error
    if run.state is State.SUCCEEDED and run.job == EVALUATION:
        answer["ResultIds"] = [one["id"] for one in run.result["results"]]
    if run.job == RECOMMENDATION and "CreatedRulesetName" in request:
        answer["CreatedRulesetName"] = request["CreatedRulesetName"]
    if run.state is State.SUCCEEDED and run.job == RECOMMENDATION:
        answer["RecommendedRuleset"] = run.result["ruleset"]
    return answer


def entry_of(run: Run) -> dict[str, Any]:
    """Return a run as lists tell it."""
    answer = answer_of(run)
    members = ("RunId", "Status", "StartedOn", "DataSource", "CreatedRulesetName", "RecommendationMode")
    return {name: answer[name] for name in members if name in answer}


def fulfils(run: Run, wanted: Mapping[str, Any]) -> bool:
    """Return whether a run fulfils the `Filter` of a list."""
    request = request_of(run)
    tests = (
        "DataSource" not in wanted or place_of(wanted["DataSource"]) == place_of(request["DataSource"]),
        "RulesetName" not in wanted or wanted["RulesetName"] in request.get("RulesetNames", ()),
        run.started_ms > wanted.get("StartedAfter", 0) * 1000,
        "StartedBefore" not in wanted or run.started_ms < wanted["StartedBefore"] * 1000,
    )
    return all(tests)


def reports_metrics(run: Run) -> bool:
    """Return whether metrics and events tell what a run has found."""
    return bool(request_of(run).get("AdditionalRunOptions", {}).get("CloudWatchMetricsEnabled"))


def quality_data(run: Run, account: str, at_ms: int) -> Iterator[Minute]:
    """Yield the metrics that tell what an evaluation has found, if it reports them.

    Args:
        run: at its end.
        account: that owns the catalog.
        at_ms: of the end, in milliseconds since 1970.
    """
    if run.state is not State.SUCCEEDED or run.job != EVALUATION or not reports_metrics(run):
        return
    place = place_of(request_of(run)["DataSource"])
    for one in run.result["results"]:
        dimensions = {
            "CatalogId": account,
            "Database": place.database,
            "Ruleset": one["ruleset"],
            "Table": place.table,
        }
        for name, value in ((_PASSED, one["passed"]), (_FAILED, one["failed"])):
            metric = Metric(NAMESPACE, name, tuple(sorted(dimensions.items())))
            yield Minute(metric, first_minute(at_ms), "Count", Statistics.of({float(value): 1.0}))
