"""Metrics as CloudWatch has them: their data, its statistics, and series over time. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.service.errors import ServiceError

MINUTE_MS = 60_000
KEPT_MS = 15 * 24 * 3600 * 1000
"""For how long data is kept, which is how long CloudWatch keeps data of one minute."""
NO_UNIT = "None"
STATISTICS = ("SampleCount", "Average", "Sum", "Minimum", "Maximum")

_BEFORE_MS, _AHEAD_MS = 14 * 24 * 3600 * 1000, 2 * 3600 * 1000
_MOST_DATA, _MOST_VALUES = 1000, 150
_LARGEST = 2.0**360
# With more different values in a minute, only their statistics are kept.
_MOST_KEPT_VALUES = 1000
_PERCENTILE = re.compile(r"p(100|\d{1,2}(\.\d{1,10})?)")
_SHORT_PERIODS_SECS = frozenset({1, 5, 10, 20, 30})
_RESERVED = "AWS/"


@dataclass(frozen=True, slots=True)
class Metric:
    """What is measured.

    Args:
        namespace: such as `Glue`.
        name: its name.
        dimensions: pairs of name and value, in the order of the names.
    """

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """What was reported of a metric in some time.

    Args:
        samples: how many values.
        total: their sum.
        least: the smallest one.
        most: the largest one.
        distribution: how often each value was reported; empty if that is not known.
    """

    samples: float
    total: float
    least: float
    most: float
    distribution: Mapping[float, float]

    @classmethod
    def of(cls, distribution: Mapping[float, float]) -> Statistics:
        """Return the statistics of values, given how often each was reported."""
        total = sum(value * count for value, count in distribution.items())
        return cls(sum(distribution.values()), total, min(distribution), max(distribution), distribution)

    def with_more(self, other: Statistics) -> Statistics:
        """Return the statistics of both."""
        joined = dict(self.distribution)
        for value, count in other.distribution.items():
            joined[value] = joined.get(value, 0) + count
        known = self.distribution and other.distribution and len(joined) <= _MOST_KEPT_VALUES
        return Statistics(
            self.samples + other.samples,
            self.total + other.total,
            min(self.least, other.least),
            max(self.most, other.most),
            joined if known else {},
        )

    def value(self, statistic: str) -> float | None:
        """Return one statistic; None for a percentile of values that are not known.

        Args:
            statistic: one that `is_statistic` knows.
        """
        match statistic:
            case "SampleCount":
                return self.samples
            case "Sum":
                return self.total
            case "Average":
                return self.total / self.samples if self.samples else None
            case "Minimum":
                return self.least
            case "Maximum":
                return self.most
        return self._percentile(float(statistic[1:]))

    def _percentile(self, percent: float) -> float | None:
        """Return the smallest value that at least so many percent of the values do not exceed."""
        wanted, counted = percent / 100 * sum(self.distribution.values()), 0.0
        for value in sorted(self.distribution):
            counted += self.distribution[value]
            if counted >= wanted:
                return value
        return None


@dataclass(frozen=True, slots=True)
class Minute:
    """What was reported of a metric in one minute, in one unit.

    Args:
        metric: the metric.
        at_ms: the begin of the minute, in milliseconds since 1970.
        unit: as CloudWatch names it.
        statistics: of the values.
    """

    metric: Metric
    at_ms: int
    unit: str
    statistics: Statistics


def is_statistic(name: str) -> bool:
    """Return whether a statistic is known here: the five of CloudWatch, and percentiles such as `p99.9`."""
    return name in STATISTICS or _PERCENTILE.fullmatch(name) is not None


def metric_of(namespace: str, about: Mapping[str, Any]) -> Metric:
    """Return the metric that a request names.

    Raises:
        ServiceError: `InvalidParameterValue`, because a dimension is given twice.
    """
    pairs = tuple(sorted((one["Name"], one["Value"]) for one in about.get("Dimensions") or ()))
    if len({name for name, _ in pairs}) < len(pairs):
        raise _wrong(f"The dimensions of {about['MetricName']} repeat a name; give each name once.")
    return Metric(namespace, about["MetricName"], pairs)


def minutes_of(request: Mapping[str, Any], now_ms: int) -> list[Minute]:
    """Return the data of PutMetricData, that of each minute together.

    Raises:
        ServiceError: `InvalidParameterValue`, `InvalidParameterCombination` and `MissingParameter`.
    """
    namespace, data = request["Namespace"], request.get("MetricData") or []
    if namespace.startswith(_RESERVED):
        raise _wrong(f"The value {namespace} for parameter Namespace is invalid; names with {_RESERVED} are reserved.")
    if request.get("EntityMetricData"):
        raise _wrong("EntityMetricData is not known here; use MetricData.")
    if not data:
        raise ServiceError("MissingParameter", "The parameter MetricData is required.")
    if len(data) > _MOST_DATA:
        raise _wrong(f"The collection MetricData must not have a size greater than {_MOST_DATA}.")
    return merged(_minute(namespace, one, now_ms) for one in data)


def merged(minutes: Iterable[Minute]) -> list[Minute]:
    """Return data with that of the same metric, minute and unit together."""
    found: dict[tuple[Metric, int, str], Minute] = {}
    for one in minutes:
        key = one.metric, one.at_ms, one.unit
        before = found.get(key)
        known = one.statistics if before is None else before.statistics.with_more(one.statistics)
        found[key] = Minute(one.metric, one.at_ms, one.unit, known)
    return list(found.values())


def check_period(period_secs: int) -> None:
    """Refuse a period that CloudWatch does not have.

    Raises:
        ServiceError: `InvalidParameterValue`.
    """
    if period_secs not in _SHORT_PERIODS_SECS and period_secs % 60:
        raise _wrong(
            f"The parameter Period is {period_secs}; it must be 1, 5, 10, 20, 30, or a multiple of 60 seconds."
        )


def check_statistic(name: str) -> None:
    """Refuse a statistic that is not known here.

    Raises:
        ServiceError: `InvalidParameterValue`.
    """
    if not is_statistic(name):
        raise _wrong(f"The statistic {name} is not known here; use {', '.join(STATISTICS)}, or one such as p99.")


def first_minute(start_ms: int) -> int:
    """Return where the series of a request begins: at the minute in which its start is."""
    return start_ms - start_ms % MINUTE_MS


def in_periods(minutes: Iterable[tuple[int, Statistics]], begin_ms: int, period_secs: int) -> dict[int, Statistics]:
    """Return the statistics of each period that has data, by its begin, the earliest first.

    Args:
        minutes: begin and statistics of minutes.
        begin_ms: where the first period begins.
        period_secs: how long each is.
    """
    found: dict[int, Statistics] = {}
    for at_ms, one in minutes:
        begin = at_ms - (at_ms - begin_ms) % (period_secs * 1000)
        found[begin] = found[begin].with_more(one) if begin in found else one
    return dict(sorted(found.items()))


def series(periods: Mapping[int, Statistics], statistic: str) -> dict[int, float]:
    """Return one statistic of each period that has it."""
    found = ((at_ms, one.value(statistic)) for at_ms, one in periods.items())
    return {at_ms: value for at_ms, value in found if value is not None}


def _minute(namespace: str, datum: Mapping[str, Any], now_ms: int) -> Minute:
    at_ms = now_ms if datum.get("Timestamp") is None else round(datum["Timestamp"] * 1000)
    if not now_ms - _BEFORE_MS <= at_ms <= now_ms + _AHEAD_MS:
        raise _wrong(
            f"The Timestamp of {datum['MetricName']} must be at most two weeks ago, and at most two hours ahead."
        )
    unit = datum.get("Unit") or NO_UNIT
    return Minute(metric_of(namespace, datum), first_minute(at_ms), unit, _statistics(datum))


def _statistics(datum: Mapping[str, Any]) -> Statistics:
    found = _given(datum)
    if max(abs(found.least), abs(found.most), abs(found.total), found.samples) > _LARGEST:
        raise _wrong(f"{datum['MetricName']} has a value beyond -2^360 to 2^360.")
    return found


def _given(datum: Mapping[str, Any]) -> Statistics:
    given = [name for name in ("Value", "Values", "StatisticValues") if datum.get(name) is not None]
    if not given:
        raise ServiceError(
            "MissingParameter", f"{datum['MetricName']} has no data; give Value, Values or StatisticValues."
        )
    if len(given) > 1:
        raise ServiceError("InvalidParameterCombination", f"{given[0]} and {given[1]} cannot be combined; omit one.")
    match given[0]:
        case "Value":
            return Statistics.of({float(datum["Value"]): 1.0})
        case "Values":
            return _of_values(datum)
    one = datum["StatisticValues"]
    if one["SampleCount"] <= 0 or one["Minimum"] > one["Maximum"]:
        raise _wrong("StatisticValues needs a SampleCount above 0, and a Minimum that is not above the Maximum.")
    same = {one["Minimum"]: one["SampleCount"]} if one["Minimum"] == one["Maximum"] else {}
    return Statistics(one["SampleCount"], one["Sum"], one["Minimum"], one["Maximum"], same)


def _of_values(datum: Mapping[str, Any]) -> Statistics:
    values: Sequence[float] = datum["Values"]
    counts: Sequence[float] = datum.get("Counts") or [1.0] * len(values)
    if not values or len(values) > _MOST_VALUES or len(counts) != len(values) or min(counts) <= 0:
        raise _wrong(f"Values needs 1 to {_MOST_VALUES} values, and Counts a number above 0 for each of them.")
    distribution: dict[float, float] = {}
    for value, count in zip(values, counts, strict=True):
        distribution[float(value)] = distribution.get(float(value), 0.0) + count
    return Statistics.of(distribution)


def _wrong(message: str) -> ServiceError:
    return ServiceError("InvalidParameterValue", message)
