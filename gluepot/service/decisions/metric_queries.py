"""Queries of CloudWatch: series of metrics, and expressions over them. Pure, but for the data that is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gluepot.service.decisions.metric_math import Series, evaluated, ids_in
from gluepot.service.decisions.metrics import (
    STATISTICS,
    Metric,
    Minute,
    check_period,
    check_statistic,
    in_periods,
    metric_of,
    series,
)
from gluepot.service.errors import ServiceError

_MOST_QUERIES = 500
_ID = re.compile("[a-z][a-zA-Z0-9_]*")


class ReadMinutes(Protocol):
    """Reads the data of a metric by the minute, the earliest first."""

    def __call__(
        self, metric: Metric, begin_ms: int, end_ms: int, unit: str = "", *, with_values: bool = True
    ) -> Sequence[Minute]:
        """Return it.

        Args:
            metric: the metric.
            begin_ms: of the first minute.
            end_ms: before which the last minute begins.
            unit: only data in this unit; empty for all.
            with_values: also read how often each value was reported, which percentiles need.
        """


def checked_queries(queries: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return queries that can be answered; their ids, and what they ask for, are known.

    Raises:
        ServiceError: `ValidationError`.
    """
    if not 1 <= len(queries) <= _MOST_QUERIES:
        raise _refused(f"MetricDataQueries has {len(queries)} members; give 1 to {_MOST_QUERIES}.")
    ids = [one["Id"] for one in queries]
    for query in queries:
        name = query["Id"]
        if not _ID.fullmatch(name) or ids.count(name) > 1:
            raise _refused(
                f"The Id {name!r} is invalid or not unique; start it with a lower-case letter, and use letters, digits"
                " and _."
            )
        if ("MetricStat" in query) == ("Expression" in query):
            raise _refused(f"The query {name} needs either MetricStat or Expression.")
        if (stat := query.get("MetricStat")) is not None:
            check_period(stat["Period"])
            check_statistic(stat["Stat"])
            if not {"Namespace", "MetricName"} <= stat["Metric"].keys():
                raise _refused(f"The Metric of the query {name} needs Namespace and MetricName.")
            metric_of(stat["Metric"]["Namespace"], stat["Metric"])
        elif unknown := [one for one in ids_in(query["Expression"]) if one not in ids]:
            raise _refused(f"The expression of the query {name} uses {unknown[0]}, which is not the Id of a query.")
    if all(one.get("ReturnData") is False for one in queries):
        raise _refused("ReturnData is false for all queries; omit it for at least one.")
    return queries


def series_of(
    queries: Mapping[str, Mapping[str, Any]], read: ReadMinutes, begin_ms: int, end_ms: int
) -> dict[str, Series]:
    """Return the series of all queries by their ids: those of metrics first, then expressions as their ids are known.

    Raises:
        ServiceError: `ValidationError`, because expressions use each other in a circle.
    """
    found: dict[str, Series] = {}
    for name, query in queries.items():
        if (stat := query.get("MetricStat")) is not None:
            metric = metric_of(stat["Metric"]["Namespace"], stat["Metric"])
            minutes = read(metric, begin_ms, end_ms, stat.get("Unit", ""), with_values=stat["Stat"] not in STATISTICS)
            periods = in_periods(((one.at_ms, one.statistics) for one in minutes), begin_ms, stat["Period"])
            found[name] = series(periods, stat["Stat"])
    left = {name: query["Expression"] for name, query in queries.items() if name not in found}
    while left:
        ready = [name for name, expression in left.items() if all(one in found for one in ids_in(expression))]
        if not ready:
            raise _refused(f"The expressions of {', '.join(left)} form a cycle; remove one reference.")
        for name in ready:
            found[name] = evaluated(left.pop(name), found)
    return found


def _refused(message: str) -> ServiceError:
    return ServiceError("ValidationError", message)
