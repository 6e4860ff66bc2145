"""The operations of CloudWatch that clients of Glue call: they read the metrics of runs, and put their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gluepot.service.context import Service, secs
from gluepot.service.decisions.metric_queries import ReadMinutes, checked_queries, series_of
from gluepot.service.decisions.metrics import (
    Metric,
    Minute,
    check_period,
    check_statistic,
    first_minute,
    in_periods,
    metric_of,
    minutes_of,
)
from gluepot.service.errors import ServiceError
from gluepot.service.paging import number_of, page_token

_PAGE = 500
_PIECE, _MOST_PIECES = 1000, 20
_RECENT_MS = 3 * 3600 * 1000
_MOST_DATAPOINTS, _MOST_STATISTICS = 100_800, 1440


def put_metric_data(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add data."""
    minutes = minutes_of(request, service.now_ms())
    with service.store.changes() as changes:
        changes.alone()
        changes.metrics.add(minutes)
    return {}


def list_metrics(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the metrics that have data, in the order in which they were first reported.

    A page may have fewer metrics than there is room for, or none, before the last one: a call reads only so many.
    """
    wanted = [(one["Name"], one.get("Value")) for one in request.get("Dimensions") or ()]
    since_ms = service.now_ms() - _RECENT_MS if request.get("RecentlyActive") else 0
    after = number_of(_token(request, "InvalidParameterValue")) or 0
    found: list[Metric] = []
    for _ in range(_MOST_PIECES):
        with service.store.changes() as changes:
            piece = changes.metrics.after(after, _PIECE, request.get("Namespace", ""), request.get("MetricName", ""))
        for number, newest_ms, metric in piece:
            if newest_ms >= since_ms and _has(metric, wanted):
                if len(found) == _PAGE:
                    return _metrics(found, after)
                found.append(metric)
            after = number
        if len(piece) < _PIECE:
            return _metrics(found, None)
    return _metrics(found, after)


def get_metric_statistics(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return statistics of a metric, the earliest first. Data in different units is not mixed."""
    simple, extended = request.get("Statistics") or (), request.get("ExtendedStatistics") or ()
    if not simple and not extended:
        raise ServiceError(
            "MissingParameter", "At least one of the parameters Statistics and ExtendedStatistics is required."
        )
    for name in extended:
        check_statistic(name)
    begin_ms, end_ms, period_secs = _span(request, "InvalidParameterValue"), _ms(request["EndTime"]), request["Period"]
    check_period(period_secs)
    if (count := (end_ms - begin_ms) // (period_secs * 1000)) > _MOST_STATISTICS:
        raise ServiceError(
            "InvalidParameterCombination",
            f"You have requested up to {count:,} datapoints, which exceeds the limit of {_MOST_STATISTICS:,}. You may"
            " reduce the datapoints requested by increasing Period, or decreasing the time range.",
        )
    metric = metric_of(request["Namespace"], request)
    with service.store.changes() as changes:
        minutes = changes.metrics.minutes(metric, begin_ms, end_ms, request.get("Unit", ""), with_values=bool(extended))
    points = []
    for unit in dict.fromkeys(one.unit for one in minutes):
        of_unit = ((one.at_ms, one.statistics) for one in minutes if one.unit == unit)
        for at_ms, found in in_periods(of_unit, begin_ms, period_secs).items():
            percentiles = {name: value for name in extended if (value := found.value(name)) is not None}
            point = {name: value for name in simple if (value := found.value(name)) is not None}
            more = {"ExtendedStatistics": percentiles} if percentiles else {}
            if point or more:
                points.append({"Timestamp": secs(at_ms), "Unit": unit, **point, **more})
    return {"Label": metric.name, "Datapoints": sorted(points, key=lambda one: one["Timestamp"])}


def get_metric_data(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of series, of metrics and of expressions over them, the latest values first by default."""
    begin_ms, end_ms = _span(request, "ValidationError"), _ms(request["EndTime"])
    queries = {one["Id"]: one for one in checked_queries(request["MetricDataQueries"])}
    most = min(request.get("MaxDatapoints") or _MOST_DATAPOINTS, _MOST_DATAPOINTS)
    if most < 1:
        raise _refused(f"MaxDatapoints is {most}; it must be at least 1.")
    first = number_of(_token(request, "InvalidNextToken")) or 0
    found = series_of(queries, _reader(service), begin_ms, end_ms)
    backwards = request.get("ScanBy", "TimestampDescending") == "TimestampDescending"
    results, passed = [], 0
    for name, query in queries.items():
        if query.get("ReturnData") is False:
            continue
        points = sorted(found[name].items(), reverse=backwards)
        chosen = points[max(first - passed, 0) : max(first + most - passed, 0)]
        passed += len(points)
        if chosen or (not points and not first):
            status = "Complete" if passed <= first + most else "PartialData"
            results.append(_result(query, chosen, status))
    token = {"NextToken": page_token(str(first + most))} if passed > first + most else {}
    return {"MetricDataResults": results, "Messages": [], **token}


def _metrics(found: Sequence[Metric], last: int | None) -> dict[str, Any]:
    token = {} if last is None else {"NextToken": page_token(str(last))}
    return {"Metrics": [_plain(one) for one in found], **token}


def _reader(service: Service) -> ReadMinutes:
    """Return what reads data, each metric in a transaction of its own, so that others can write in between."""

    def read(
        metric: Metric, begin_ms: int, end_ms: int, unit: str = "", *, with_values: bool = True
    ) -> Sequence[Minute]:
        with service.store.changes() as changes:
            return changes.metrics.minutes(metric, begin_ms, end_ms, unit, with_values=with_values)

    return read


def _result(query: Mapping[str, Any], points: Sequence[tuple[int, float]], status: str) -> dict[str, Any]:
    default = query["MetricStat"]["Metric"]["MetricName"] if "MetricStat" in query else query["Id"]
    return {
        "Id": query["Id"],
        "Label": query.get("Label") or default,
        "Timestamps": [secs(at_ms) for at_ms, _ in points],
        "Values": [value for _, value in points],
        "StatusCode": status,
    }


def _span(request: Mapping[str, Any], code: str) -> int:
    """Return where the series of a request begins.

    Raises:
        ServiceError: it ends before.
    """
    if request["StartTime"] >= request["EndTime"]:
        raise ServiceError(code, "The parameter StartTime must be less than the parameter EndTime.")
    return first_minute(_ms(request["StartTime"]))


def _token(request: Mapping[str, Any], code: str) -> str | None:
    """Return the token of a request.

    Raises:
        ServiceError: no answer had it.
    """
    token = request.get("NextToken")
    try:
        number_of(token)
    except ServiceError as refused:
        raise ServiceError(code, refused.message) from None
    return token


def _has(metric: Metric, wanted: Sequence[tuple[str, str | None]]) -> bool:
    known = dict(metric.dimensions)
    return all(name in known and value in {None, known[name]} for name, value in wanted)


def _plain(metric: Metric) -> dict[str, Any]:
    dimensions = [{"Name": name, "Value": value} for name, value in metric.dimensions]
    return {"Namespace": metric.namespace, "MetricName": metric.name, "Dimensions": dimensions}


def _ms(at_secs: float) -> int:
    return round(at_secs * 1000)


def _refused(message: str) -> ServiceError:
    return ServiceError("ValidationError", message)
